// TFLite files from Python: what stands in them. They are run as ONNX models are.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "tidemark/io/mapped_file.h"
#include "tidemark/io/onnx/value.h"
#include "tidemark/io/tflite/contents.h"
#include "tidemark/io/tflite/kinds.h"

#include "frontend.h"

namespace nb = nanobind;

namespace tidemark::python {

namespace {

using namespace io::tflite;

/// A file and what it says, whose texts are views of it.
struct TfliteFile {
  explicit TfliteFile(const std::string& path)
      : file(io::MappedFile::open(path)), contents(read_contents(file->bytes(), path)) {}

  const GraphInfo& graph(int64_t at) const {
    if (at < 0 || static_cast<size_t>(at) >= contents.graphs.size()) fail("there is no graph ", at);
    return contents.graphs[static_cast<size_t>(at)];
  }

  std::shared_ptr<const io::MappedFile> file;
  Contents contents;
};

template <class T>
nb::list list_of(const std::vector<T>& values) {
  nb::list out;
  for (const T& value : values) out.append(value);
  return out;
}
nb::list list_of(const Ints& values) {
  nb::list out;
  for (const int64_t value : values) out.append(value);
  return out;
}

nb::list tensors_of(const TfliteFile& self, int64_t graph) {
  nb::list out;
  for (const TensorInfo& info : self.graph(graph).tensors) {
    nb::dict one;
    one["index"] = nb::len(out);
    one["name"] = std::string(info.name);
    one["shape"] = list_of(info.shape);
    one["signature"] = list_of(info.signature);
    one["dtype"] = std::string(tidemark::name_of(io::onnx::storage_of(info.element)));
    const Quantisation& q = info.quantisation;
    one["quantization"] = nb::make_tuple(list_of(q.scales), list_of(q.zeros), q.axis);
    out.append(one);
  }
  return out;
}

nb::dict signatures_of(const TfliteFile& self) {
  nb::dict out;
  const auto names = [](const auto& pairs) {
    nb::dict by_name;
    for (const auto& [name, tensor] : pairs) by_name[std::string(name).c_str()] = tensor;
    return by_name;
  };
  for (const SignatureInfo& info : self.contents.signatures) {
    nb::dict one;
    one["inputs"] = names(info.inputs);
    one["outputs"] = names(info.outputs);
    one["graph"] = info.graph;
    out[std::string(info.key).c_str()] = one;
  }
  return out;
}

}  // namespace

void add_tflite_functions(nb::module_& m) {
  nb::class_<TfliteFile>(m, "TfliteFile")
      .def(nb::init<const std::string&>())
      .def("tensors", tensors_of)
      .def("ports",
           [](const TfliteFile& self, int64_t at) {
             const GraphInfo& graph = self.graph(at);
             return nb::make_tuple(list_of(graph.inputs), list_of(graph.outputs));
           })
      .def_prop_ro("signatures", signatures_of);
  m.def("tflite_ops", [] {
    nb::list out;
    for (const OperatorKind& kind : all_kinds()) out.append(std::string(kind.name));
    return out;
  });
}

}  // namespace tidemark::python
