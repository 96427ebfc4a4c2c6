// Saved models of TensorFlow's from Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "tidemark/io/object_graph.h"
#include "tidemark/io/tensorflow/model.h"
#include "tidemark/io/tensorflow/writing/op_table.h"

#include "convert.h"
#include "frontend.h"
#include "graph_module.h"
#include "op_call.h"
#include "tensor_type.h"
#include "variable_type.h"

namespace nb = nanobind;

namespace tidemark::python {

namespace {

using namespace io::tensorflow;
using Kind = ObjectGraph::Kind;

nb::object sizes_of(const Shape& shape) {
  if (!shape.has_rank()) return nb::none();
  nb::list out;
  for (int64_t size : shape) out.append(size < 0 ? nb::none() : nb::object(nb::int_(size)));
  return out;
}

/// (kind, what it holds).
nb::tuple structured(const Structured& value) {
  using Is = Structured::Kind;
  const auto items = [&] {
    nb::list out;
    for (const Structured& item : value.items) out.append(structured(item));
    return out;
  };
  const auto pairs = [&] {
    nb::list out;
    for (size_t i = 0; i < value.items.size(); ++i) {
      out.append(nb::make_tuple(value.names[i], structured(value.items[i])));
    }
    return out;
  };
  switch (value.kind) {
    case Is::none:
      return nb::make_tuple("value", nb::none());
    case Is::real:
      return nb::make_tuple("value", value.real);
    case Is::number:
      return nb::make_tuple("value", value.number);
    case Is::text:
      return nb::make_tuple("value", value.text);
    case Is::boolean:
      return nb::make_tuple("value", value.number != 0);
    case Is::shape:
      return nb::make_tuple("shape", sizes_of(value.shape));
    case Is::dtype:
      return nb::make_tuple("dtype", value.number);
    case Is::spec:
      return nb::make_tuple("spec", sizes_of(value.shape), value.number, value.text);
    case Is::list:
      return nb::make_tuple("list", items());
    case Is::tuple:
      return nb::make_tuple("tuple", items());
    case Is::dict:
      return nb::make_tuple("dict", pairs());
    case Is::named_tuple:
      return nb::make_tuple("named_tuple", pairs(), value.text);
    case Is::other:
      break;
  }
  return nb::make_tuple("other", value.text);
}

/// A model being read: its objects get their values, then functions are made over them.
class ForeignModel {
 public:
  ForeignModel(const std::string& folder, const std::vector<std::string>& tags)
      : model_(folder, tags) {}

  Model& model() { return model_; }

  nb::list objects() const {
    static constexpr const char* kNames[] = {"object",   "asset",    "function", "variable",
                                             "concrete", "constant", "resource", "captured"};
    nb::list out;
    for (const ObjectGraph::Object& object : model_.objects().objects) {
      nb::dict one;
      one["kind"] = kNames[static_cast<size_t>(object.kind)];
      one["children"] = children_of(object);
      one["text"] = nb::bytes(object.text.data(), object.text.size());
      one["trainable"] = object.trainable;
      one["functions"] = object.functions;
      one["keywords"] = object.keywords;
      one["parameters"] = structured(object.parameters);
      one["is_method"] = object.is_method;
      one["shape"] = sizes_of(object.shape);
      out.append(one);
    }
    return out;
  }

  /// number → value of each variable that the checkpoint has.
  nb::dict variable_values() {
    nb::dict out;
    const auto& bundle = model_.importer().bundle;
    if (!bundle || !bundle->entries().contains(io::kObjectGraphKey)) return out;
    const Tensor stored = bundle->read(io::kObjectGraphKey);
    if (stored.dtype() != DType::string || stored.num_elements() != 1) {
      fail_malformed("the checkpoint's objects");
    }
    for (const auto& [number, key] : keys_of_variables(model_.objects(), stored.string_at(0))) {
      out[nb::int_(number)] = object_of(bundle->read(key));
    }
    return out;
  }

  void bind(int number, nb::handle variable) {
    bound_[number] = Value::of(variable_of(variable.ptr()));
  }

  /// Constants, files and tables: what needs no Python. Tables are made first, then filled.
  void start() {
    const auto& objects = model_.objects().objects;
    for (size_t i = 0; i < objects.size(); ++i) {
      const ObjectGraph::Object& object = objects[i];
      const auto number = static_cast<int>(i);
      if (object.kind == Kind::constant) bound_[number] = Value(model_.read_constant(object.text));
      if (object.kind == Kind::asset) bound_[number] = Value(model_.asset_path(object.number));
    }
    for (const char* step : {"_create_resource", "_initialize"}) {
      for (size_t i = 0; i < objects.size(); ++i) {
        if (objects[i].kind != Kind::resource) continue;
        const std::string* name = function_of(objects[i], step);
        if (!name) continue;
        Values made = model_.run_function(*name, bound_);
        const bool creates = step[1] == 'c';
        if (creates && made.size() == 1) bound_[static_cast<int>(i)] = made[0];
      }
    }
  }

  /// (keys' dtype, values' dtype, values' shape, table), or None.
  nb::object table(int number) const {
    const auto found = bound_.find(number);
    if (found == bound_.end() || found->second.kind != Value::Kind::table) return nb::none();
    const HashTable& table = *found->second.table;
    return nb::make_tuple(std::string(name_of(table.key_dtype())),
                          std::string(name_of(table.value_dtype())), sizes_of(table.value_shape()),
                          found->second.table);
  }
  nb::object constant(int number) const {
    const auto found = bound_.find(number);
    if (found == bound_.end() || found->second.kind != Value::Kind::tensor) return nb::none();
    return object_of(Tensor(found->second.tensor));
  }

  std::shared_ptr<FinishedGraph> function(const std::string& name) {
    return finished(model_.read_function(name, bound_));
  }
  std::shared_ptr<FinishedGraph> signature(const std::string& name) {
    for (const SignatureMessage& one : model_.signatures()) {
      if (one.name == name) return finished(model_.read_signature(one));
    }
    fail<NotFoundError>("the saved model has no signature '", name, "'");
  }

 private:
  static nb::list children_of(const ObjectGraph::Object& object) {
    nb::list out;
    for (const auto& [name, number] : object.children) out.append(nb::make_tuple(name, number));
    return out;
  }
  const std::string* function_of(const ObjectGraph::Object& object, std::string_view child) const {
    for (const auto& [name, number] : object.children) {
      if (name != child) continue;
      const auto& functions = model_.objects().objects[static_cast<size_t>(number)].functions;
      return functions.empty() ? nullptr : &functions[0];
    }
    return nullptr;
  }
  static std::shared_ptr<FinishedGraph> finished(Model::Function&& read) {
    auto out = std::make_shared<FinishedGraph>();
    out->graph = std::move(read.graph);
    out->program = exec::Program::build(*out->graph);
    out->variables = std::move(read.variables);
    return out;
  }

  Model model_;
  std::map<int, Value> bound_;  // values of objects by number
};

nb::list signatures_of(ForeignModel& self) {
  nb::list out;
  for (const SignatureMessage& signature : self.model().signatures()) {
    std::vector<std::string> inputs, outputs;
    for (const auto& info : signature.inputs) inputs.emplace_back(info.name);
    for (const auto& info : signature.outputs) outputs.emplace_back(info.name);
    out.append(nb::make_tuple(std::string(signature.name), inputs, outputs));
  }
  return out;
}

nb::dict functions_of(ForeignModel& self) {
  nb::dict out;
  for (const auto& [name, function] : self.model().objects().functions) {
    out[name.c_str()] =
        nb::make_tuple(structured(function.arguments), structured(function.results));
  }
  return out;
}

}  // namespace

void add_foreign_model_functions(nb::module_& m) {
  m.def(
      "tensorflow_ops",
      [] {
        const std::string_view text = op_forms_text();
        return nb::str(text.data(), text.size());
      },
      "What TensorFlow's operations look like: a line each, its parts apart by tabs.");
  nb::class_<ForeignModel>(m, "ForeignModel")
      .def(nb::init<std::string, std::vector<std::string>>())
      .def("variable_values", &ForeignModel::variable_values)
      .def("bind", &ForeignModel::bind)
      .def("start", &ForeignModel::start)
      .def("restore", [](ForeignModel& self) { self.model().restore(); })
      .def("check_signatures", [](ForeignModel& self) { self.model().check_signatures(); })
      .def("table", &ForeignModel::table)
      .def("constant", &ForeignModel::constant)
      .def("function", &ForeignModel::function)
      .def("signature", &ForeignModel::signature)
      .def_prop_ro("tables", [](ForeignModel& self) { return self.model().tables(); })
      .def_prop_ro("objects", &ForeignModel::objects)
      .def_prop_ro("functions", functions_of)
      .def_prop_ro("signatures", signatures_of)
      .def_prop_ro("aliases",
                   [](ForeignModel& self) {
                     nb::dict out;
                     for (const auto& [name, alias] : self.model().meta_graph().function_aliases) {
                       out[nb::str(name.data(), name.size())] = nb::str(alias.data(), alias.size());
                     }
                     return out;
                   })
      .def_prop_ro("version", [](ForeignModel& self) {
        return std::string(self.model().meta_graph().version);
      });
}

}  // namespace tidemark::python
