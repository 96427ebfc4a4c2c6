// Files of weights and of models from Python: what stands in them, and tensors by name.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "tidemark/io/inspect.h"
#include "tidemark/io/json_examples.h"
#include "tidemark/io/weights/weights_file.h"

#include "convert.h"
#include "frontend.h"
#include "graph_module.h"
#include "op_call.h"
#include "tensor_type.h"

namespace nb = nanobind;

namespace tidemark::python {

namespace {

using io::weights::WeightsFile;

nb::object sizes_of(const Shape& shape) {
  if (!shape.has_rank()) return nb::none();
  nb::list out;
  for (const int64_t size : shape) out.append(size < 0 ? nb::none() : nb::object(nb::int_(size)));
  return out;
}

nb::dict entries_of(const WeightsFile& file) {
  nb::dict out;
  for (const auto& [name, entry] : file.entries()) {
    out[nb::str(name.data(), name.size())] =
        nb::make_tuple(entry.type, sizes_of(entry.shape), entry.bytes);
  }
  return out;
}

nb::dict ports_of(const std::vector<TensorSpec>& specs) {
  nb::dict out;
  for (const TensorSpec& spec : specs) {
    out[nb::str(spec.name.data(), spec.name.size())] =
        nb::make_tuple(std::string(name_of(spec.dtype)), sizes_of(spec.shape));
  }
  return out;
}

template <class Strings>
nb::list texts_of(const Strings& texts) {
  nb::list out;
  for (const std::string& text : texts) out.append(nb::str(text.data(), text.size()));
  return out;
}

nb::dict as_dict(const io::Inspection& seen) {
  nb::dict out, signatures, ops;
  for (const SignatureSpec& spec : seen.signatures) {
    nb::dict one;
    one["inputs"] = ports_of(spec.inputs);
    one["outputs"] = ports_of(spec.outputs);
    signatures[nb::str(spec.name.data(), spec.name.size())] = one;
  }
  for (const auto& [op, count] : seen.ops) ops[nb::str(op.data(), op.size())] = count;
  nb::list parameters, steps;
  for (const auto& one : seen.parameters) {
    parameters.append(nb::make_tuple(one.name, one.type, sizes_of(one.shape), one.bytes));
  }
  for (const auto& step : seen.steps) {
    steps.append(nb::make_tuple(step.op, step.name, texts_of(step.inputs), texts_of(step.outputs)));
  }
  out["format"] = seen.format;
  out["signatures"] = signatures;
  out["ops"] = ops;
  out["parameters"] = parameters;
  out["not_read"] = texts_of(seen.not_read);
  out["steps"] = steps;
  return out;
}

/// Bytes of weights, and what a call of these sizes takes beside them, its inputs and outputs.
nb::tuple planned(const std::string& path, const std::string& signature, const nb::dict& sizes) {
  const SavedModel model = [&] {
    const GilHeld held;
    return load_model(path);
  }();
  const SignatureSpec* spec = model.find(signature);
  if (!spec) fail<NotFoundError>("the model has no signature '", signature, "'");
  std::vector<Tensor> inputs;
  for (const TensorSpec& wanted : spec->inputs) {
    Shape shape = wanted.shape;
    const nb::str name(wanted.name.data(), wanted.name.size());
    if (sizes.contains(name)) {
      shape = Shape();
      for (nb::handle size : nb::cast<nb::list>(sizes[name])) {
        shape.push_back(nb::cast<int64_t>(size));
      }
    }
    if (!shape.has_rank() || !shape.is_fully_known()) {
      fail("the input '", wanted.name, "' has the shape ", shape,
           ": say which sizes it is to have");
    }
    inputs.push_back(Tensor::uninitialized(wanted.dtype, shape));
  }
  const GilHeld held;
  const size_t bytes = model.plan(*spec, inputs);
  return nb::make_tuple(model.weight_bytes(), bytes);
}

}  // namespace

void add_model_file_functions(nb::module_& m) {
  nb::class_<WeightsFile>(m, "WeightsFile")
      .def("read",
           [](const WeightsFile& self, const std::string& name) {
             const GilHeld held;
             return object_of(self.read(name));
           })
      .def_prop_ro("format", [](const WeightsFile& self) { return std::string(self.format()); })
      .def_prop_ro("entries", entries_of);
  m.def("open_weights", [](const std::string& path) {
    const GilHeld held;
    return io::weights::open_weights(path).release();
  });
  m.def("inspect_file", [](const std::string& path) { return as_dict(io::inspect(path)); });
  m.def("planned_bytes", planned);
  m.def(
      "example_of_json",
      [](nb::bytes json) {
        const std::string made = io::example_of_json({json.c_str(), json.size()});
        return nb::bytes(made.data(), made.size());
      },
      "The bytes of an Example that was written as JSON.");
}

}  // namespace tidemark::python
