// Checkpoints in TensorFlow's format from Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "tidemark/io/bundle_reader.h"
#include "tidemark/io/bundle_writer.h"
#include "tidemark/io/object_graph.h"

#include "convert.h"
#include "frontend.h"
#include "graph_module.h"
#include "op_call.h"
#include "tensor_type.h"

namespace nb = nanobind;

namespace tidemark::python {

namespace {

void add_tensor(io::BundleWriter& self, const std::string& key, nb::handle value) {
  const GilHeld held;
  const Tensor tensor = to_tensor(value.ptr(), {});
  const Unlocked released;
  self.add(key, tensor);
}

Tensor read_unlocked(const io::BundleReader& self, const std::string& key) {
  const Unlocked released;
  return self.read(key);
}

nb::dict entries_of(const io::BundleReader& self) {
  nb::dict out;
  for (const auto& [name, entry] : self.entries()) {
    const nb::object shape = nb::steal(Ref::checked(shape_tuple(entry.shape)).release());
    out[name.c_str()] = nb::make_tuple(entry.dtype, shape);
  }
  return out;
}

/// [(children: [(name, number)], attributes: [(name, full name, key)], slots: [(number of the
/// variable, name, number of the slot)]), …]
nb::bytes object_graph_bytes(const nb::list& objects) {
  std::vector<io::ObjectNode> nodes;
  for (nb::handle object : objects) {
    io::ObjectNode& node = nodes.emplace_back();
    for (nb::handle child : object[0]) {
      node.children.push_back({nb::cast<std::string>(child[0]), nb::cast<uint64_t>(child[1])});
    }
    for (nb::handle a : object[1]) {
      node.attributes.push_back(
          {nb::cast<std::string>(a[0]), nb::cast<std::string>(a[1]), nb::cast<std::string>(a[2])});
    }
    for (nb::handle s : object[2]) {
      node.slots.push_back(
          {nb::cast<uint64_t>(s[0]), nb::cast<uint64_t>(s[2]), nb::cast<std::string>(s[1])});
    }
  }
  const std::string bytes = io::write_object_graph(nodes);
  return nb::bytes(bytes.data(), bytes.size());
}

/// The same.
nb::list objects_of(const nb::bytes& bytes) {
  nb::list out;
  for (const io::ObjectNode& node : io::read_object_graph({bytes.c_str(), bytes.size()})) {
    nb::list children, attributes, slots;
    for (const auto& child : node.children) children.append(nb::make_tuple(child.name, child.node));
    for (const auto& a : node.attributes) {
      attributes.append(nb::make_tuple(a.name, a.full_name, a.key));
    }
    for (const auto& slot : node.slots) {
      slots.append(nb::make_tuple(slot.variable, slot.name, slot.slot));
    }
    out.append(nb::make_tuple(children, attributes, slots));
  }
  return out;
}

}  // namespace

void add_checkpoint_functions(nb::module_& m) {
  nb::class_<io::BundleWriter>(m, "BundleWriter")
      .def(nb::init<std::string>())
      .def("add", add_tensor)
      .def("finish", [](io::BundleWriter& self) {
        const GilHeld held;
        const Unlocked released;
        self.finish();
      });
  nb::class_<io::BundleReader>(m, "BundleReader")
      .def(nb::init<std::string>())
      .def("read",
           [](const io::BundleReader& self, const std::string& key) {
             const GilHeld held;
             return object_of(read_unlocked(self, key));
           })
      .def("verify",
           [](const io::BundleReader& self, const std::string& key) {
             const GilHeld held;
             const Unlocked released;
             self.verify(key);
           })
      .def_prop_ro("entries", entries_of);
  m.def("remove_bundle", io::remove_bundle, nb::arg("prefix"));
  m.def("write_object_graph", object_graph_bytes, nb::arg("objects"));
  m.def("read_object_graph", objects_of, nb::arg("bytes"));
}

}  // namespace tidemark::python
