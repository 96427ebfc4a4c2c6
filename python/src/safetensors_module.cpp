// Files of safetensors from Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "tidemark/io/safetensors/file.h"

#include "convert.h"
#include "frontend.h"
#include "graph_module.h"
#include "op_call.h"
#include "tensor_type.h"

namespace nb = nanobind;

namespace tidemark::python {

namespace {

using namespace io::safetensors;

nb::dict metadata_of(const File& self) {
  nb::dict out;
  for (const auto& [key, value] : self.metadata()) out[nb::str(key.data(), key.size())] = value;
  return out;
}

/// name → (the format's name of the dtype, shape, bytes)
nb::dict entries_of(const File& self) {
  nb::dict out;
  for (const auto& [name, entry] : self.entries()) {
    const nb::object shape = nb::steal(Ref::checked(shape_tuple(entry.shape)).release());
    out[nb::str(name.data(), name.size())] =
        nb::make_tuple(std::string(entry.type->name), shape, entry.end - entry.begin);
  }
  return out;
}

nb::dict read_all(const File& file) {
  file.check_all_readable();
  nb::dict out;
  for (const auto& [name, entry] : file.entries()) {
    out[nb::str(name.data(), name.size())] = object_of(file.read(name));
  }
  return out;
}

Tensors tensors_from(const nb::dict& given) {
  Tensors out;
  for (const auto& [name, value] : given) {
    out.emplace(nb::cast<std::string>(name), to_tensor(value.ptr(), {}));
  }
  return out;
}

Metadata metadata_from(const nb::dict& given) {
  Metadata out;
  for (const auto& [key, value] : given) {
    out.emplace(nb::cast<std::string>(key), nb::cast<std::string>(value));
  }
  return out;
}

}  // namespace

void add_safetensors_functions(nb::module_& m) {
  nb::class_<File>(m, "SafeTensorsFile")
      .def(nb::init<const std::string&>())
      .def("read",
           [](const File& self, const std::string& name) {
             const GilHeld held;
             return object_of(self.read(name));
           })
      .def("read_all",
           [](const File& self) {
             const GilHeld held;
             return read_all(self);
           })
      .def_prop_ro("entries", entries_of)
      .def_prop_ro("metadata", metadata_of);
  m.def("safetensors_from_bytes", [](const nb::bytes& bytes) {
    const GilHeld held;
    return read_all(File(std::string_view(bytes.c_str(), bytes.size())));
  });
  m.def("safetensors_bytes", [](const nb::dict& tensors, const nb::dict& metadata) {
    const GilHeld held;
    std::string out;
    write(tensors_from(tensors), metadata_from(metadata),
          [&](std::string_view piece) { out += piece; });
    return nb::bytes(out.data(), out.size());
  });
  m.def("write_safetensors",
        [](const std::string& path, const nb::dict& tensors, const nb::dict& metadata) {
          const GilHeld held;
          const Tensors values = tensors_from(tensors);
          const Metadata said = metadata_from(metadata);
          const Unlocked released;
          write_file(path, values, said);
        });
}

}  // namespace tidemark::python
