// ONNX models from Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "tidemark/graph/graph.h"
#include "tidemark/io/onnx/model.h"
#include "tidemark/io/onnx/writer.h"

#include "convert.h"
#include "frontend.h"
#include "graph_module.h"
#include "op_call.h"
#include "tensor_type.h"
#include "variable_type.h"

namespace nb = nanobind;

namespace tidemark::python {

namespace {

using namespace io::onnx;

/// Python's value for an input of this type: an array, a list of such, or None.
Value value_from(nb::handle given, const Type& type) {
  if (given.is_none()) {
    return type.kind == Type::Kind::optional ? Value::optional({}) : Value();
  }
  if (type.kind == Type::Kind::optional) return Value::optional({value_from(given, *type.inner)});
  if (type.kind == Type::Kind::sequence) {
    std::vector<Value> items;
    for (nb::handle item : given) items.push_back(value_from(item, *type.inner));
    return Value::sequence(std::move(items));
  }
  const DType dtype = storage_of(type.element);
  Tensor tensor = to_tensor(given.ptr(), {.dtype = dtype, .copy = false});
  return dtype == DType::invalid ? Value(std::move(tensor))
                                 : Value(std::move(tensor), type.element);
}

std::vector<Value> values_from(const LoadedModel& model, const nb::list& given) {
  std::vector<Value> out;
  if (given.size() != model.inputs().size()) {
    fail("the model takes ", model.inputs().size(), " inputs; ", given.size(), " were given");
  }
  for (size_t i = 0; i < given.size(); ++i) {
    out.push_back(value_from(given[i], model.inputs()[i].type));
  }
  return out;
}

nb::object object_from(Value&& value) {
  if (value.is_tensor()) return object_of(std::move(value.tensor));
  if (value.kind == Value::Kind::sequence) {
    nb::list out;
    for (Value& item : value.items) out.append(object_from(std::move(item)));
    return out;
  }
  if (value.kind == Value::Kind::optional && !value.items.empty()) {
    return object_from(std::move(value.items[0]));
  }
  return nb::none();
}

nb::list run(LoadedModel& model, const nb::list& given) {
  std::vector<Value> inputs = values_from(model, given);
  const GilHeld held;
  nb::list out;
  for (Value& value : model.call(inputs)) out.append(object_from(std::move(value)));
  return out;
}

/// (kind, element type, sizes or None, names of unknown sizes)
nb::tuple type_tuple(const Type& type) {
  const char* const kinds[] = {"none", "tensor", "sequence", "optional", "other"};
  nb::object sizes = nb::none();
  if (type.has_shape) {
    nb::list dims;
    for (size_t i = 0; i < type.dims.size(); ++i) {
      if (type.dims[i] >= 0) {
        dims.append(type.dims[i]);
      } else if (type.names[i].empty()) {
        dims.append(nb::none());
      } else {
        dims.append(std::string(type.names[i]));
      }
    }
    sizes = dims;
  }
  return nb::make_tuple(std::string(kinds[static_cast<size_t>(type.kind)]),
                        std::string(name_of(type.element)),
                        std::string(tidemark::name_of(storage_of(type.element))), sizes);
}

nb::list ports_of(const std::vector<Port>& ports) {
  nb::list out;
  for (const Port& port : ports) {
    out.append(nb::make_tuple(port.name, type_tuple(port.type), port.has_default));
  }
  return out;
}

nb::list traces_of(const LoadedModel& model) {
  nb::list out;
  for (const TraceInfo& info : model.traces()) {
    out.append(nb::make_tuple(info.signature, info.reason, info.bytes, info.calls));
  }
  return out;
}

std::string road_of(const LoadedModel& model) {
  const char* const roads[] = {"traced", "traced by value", "node by node"};
  return roads[static_cast<size_t>(model.road())];
}

}  // namespace

void add_onnx_functions(nb::module_& m) {
  nb::class_<LoadedModel>(m, "OnnxModel")
      .def("__init__",
           [](LoadedModel* self, const std::string& path, bool trainable,
              const std::string& signature, bool keeps_states) {
             const GilHeld held;
             new (self) LoadedModel(
                 path,
                 {.trainable = trainable, .signature = signature, .keeps_states = keeps_states});
           })
      .def_prop_ro("format", [](const LoadedModel& self) { return std::string(self.format()); })
      .def("run", run)
      .def_prop_ro("variables",
                   [](const LoadedModel& self) {
                     nb::list out;
                     for (const Variable& v : self.variables()) {
                       out.append(nb::make_tuple(v.name(), object_of(v.value())));
                     }
                     return out;
                   })
      .def("bind",
           [](LoadedModel& self, const nb::list& variables) {
             std::vector<Variable> all;
             for (nb::handle v : variables) all.push_back(variable_of(v.ptr()));
             self.bind(std::move(all));
           })
      .def("plan_text",
           [](LoadedModel& self, const nb::list& given) {
             return self.plan(values_from(self, given)).to_string();
           })
      .def("graph_text",
           [](LoadedModel& self, const nb::list& given) {
             return self.graph(values_from(self, given)).to_string();
           })
      .def_prop_ro("inputs", [](const LoadedModel& self) { return ports_of(self.inputs()); })
      .def_prop_ro("outputs", [](const LoadedModel& self) { return ports_of(self.outputs()); })
      .def_prop_ro("weight_bytes", &LoadedModel::weight_bytes)
      .def_prop_ro("road", road_of)
      .def_prop_ro("traces", traces_of);
  m.def("write_onnx", [](const FinishedGraph& graph, const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs, int64_t opset,
                         const std::string& path, bool weights_beside) {
    ModelMessage(*graph.graph, inputs, outputs, opset).save(path, weights_beside);
  });
  m.def("onnx_ops", [] {
    nb::list out;
    for (const auto& [domain, op] : readable_ops()) {
      out.append(nb::make_tuple(std::string(domain), std::string(op)));
    }
    return out;
  });
}

}  // namespace tidemark::python
