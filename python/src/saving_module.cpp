// Saved models and files of tensors from Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "tidemark/io/file_writer.h"
#include "tidemark/io/folder_writer.h"
#include "tidemark/io/model_folder.h"
#include "tidemark/io/model_reader.h"
#include "tidemark/io/model_writer.h"

#include "convert.h"
#include "frontend.h"
#include "graph_module.h"
#include "op_call.h"
#include "tensor_type.h"
#include "variable_type.h"

namespace nb = nanobind;

namespace tidemark::python {

namespace {

nb::object shape_object(const Shape& shape) {
  if (!shape.has_rank()) return nb::none();
  return nb::steal(Ref::checked(shape_tuple(shape)).release());
}

/// A model being read: first its variables and tables, which Python makes objects of, then the
/// functions over them.
class Loading {
 public:
  explicit Loading(const std::string& folder) : reader_(folder) {
    parts_.constants = reader_.read_constants();
  }
  const io::ModelReader& reader() const { return reader_; }
  const io::GraphParts& parts() const { return parts_; }

  void bind(const nb::list& variables, const std::vector<std::shared_ptr<HashTable>>& tables) {
    if (variables.size() != reader_.variables().size() ||
        tables.size() != reader_.tables().size()) {
      fail("the model has ", reader_.variables().size(), " variables and ", reader_.tables().size(),
           " tables");
    }
    parts_.variables.clear();
    for (nb::handle variable : variables) parts_.variables.push_back(variable_of(variable.ptr()));
    parts_.tables = tables;
  }

  std::shared_ptr<FinishedGraph> function(size_t index) const {
    if (index >= reader_.functions().size()) fail("there is no function of number ", index);
    io::ReadGraph read = reader_.read_function(index, parts_);
    auto out = std::make_shared<FinishedGraph>();
    out->graph = std::move(read.graph);
    out->program = exec::Program::build(*out->graph);
    out->variables = std::move(read.variables);
    return out;
  }

 private:
  io::ModelReader reader_;
  io::GraphParts parts_;
};

nb::list variables_of(const Loading& self) {
  nb::list out;
  for (size_t i = 0; i < self.reader().variables().size(); ++i) {
    const auto& info = self.reader().variables()[i];
    Tensor value = self.reader().read_variable(i).operand();
    out.append(nb::make_tuple(info.name, shape_object(info.shape), info.trainable,
                              object_of(std::move(value))));
  }
  return out;
}

nb::list tables_of(const Loading& self) {
  nb::list out;
  for (size_t i = 0; i < self.reader().tables().size(); ++i) {
    const auto& info = self.reader().tables()[i];
    out.append(nb::make_tuple(std::string(name_of(info.key)), std::string(name_of(info.value)),
                              shape_object(info.value_shape), self.reader().read_table(i)));
  }
  return out;
}

nb::list signatures_of(const Loading& self) {
  nb::list out;
  for (const auto& info : self.reader().signatures()) {
    out.append(nb::make_tuple(info.name, info.function, info.inputs, info.outputs));
  }
  return out;
}

void write_tensors(const std::string& path, const nb::dict& all, const std::string& metadata) {
  const GilHeld held;
  std::vector<io::NamedTensor> tensors;
  for (const auto& [name, value] : all) {
    tensors.push_back({nb::cast<std::string>(name), to_tensor(value.ptr(), {})});
  }
  io::remove_abandoned(path);
  const Unlocked released;
  io::write_tensor_file(path, "checkpoint", metadata, tensors);
}

nb::dict entries_of(const io::TensorFile& file) {
  nb::dict out;
  for (const auto& [name, entry] : file.entries()) {
    out[name.c_str()] =
        nb::make_tuple(std::string(name_of(entry.dtype)), shape_object(entry.shape));
  }
  return out;
}

}  // namespace

void add_saving_functions(nb::module_& m) {
  nb::class_<io::ModelWriter>(m, "ModelWriter")
      .def(nb::init<>())
      .def("add_variable", [](io::ModelWriter& self,
                              nb::handle v) { return self.add_variable(variable_of(v.ptr())); })
      .def("add_constant", [](io::ModelWriter& self,
                              nb::handle t) { return self.add_constant(tensor_of(t.ptr())); })
      .def("add_table", &io::ModelWriter::add_table)
      .def("add_function",
           [](io::ModelWriter& self, const std::string& name, const FinishedGraph& graph) {
             return self.add_function(name, *graph.graph);
           })
      .def("add_signature", &io::ModelWriter::add_signature)
      .def("set_objects",
           [](io::ModelWriter& self, const nb::bytes& text) {
             self.set_objects(std::string(text.c_str(), text.size()));
           })
      .def("write", [](const io::ModelWriter& self, const std::string& folder) {
        const GilHeld held;
        self.write(folder);
      });
  nb::class_<Loading>(m, "ModelReader")
      .def(nb::init<std::string>())
      .def("bind", &Loading::bind)
      .def("function", &Loading::function)
      .def("function_name",
           [](const Loading& self, size_t i) { return self.reader().functions().at(i).name; })
      .def("constant", [](const Loading& self,
                          size_t i) { return object_of(Tensor(self.parts().constants.at(i))); })
      .def_prop_ro("variables", variables_of)
      .def_prop_ro("tables", tables_of)
      .def_prop_ro("signatures", signatures_of)
      .def_prop_ro("objects", [](const Loading& self) {
        const std::string& text = self.reader().objects();
        return nb::bytes(text.data(), text.size());
      });
  nb::class_<io::TensorFile>(m, "TensorFile")
      .def(nb::init<std::string>())
      .def("read",
           [](const io::TensorFile& self, const std::string& name) {
             const GilHeld held;
             return object_of(self.read(name));
           })
      .def_prop_ro("entries", entries_of)
      .def_prop_ro("metadata", [](const io::TensorFile& self) {
        return nb::bytes(self.metadata().data(), self.metadata().size());
      });
  nb::class_<io::FolderWriter>(m, "ModelFolderWriter")
      .def("__init__",
           [](io::FolderWriter* self, const std::string& folder) {
             new (self) io::FolderWriter(folder, io::files_of_models());
           })
      .def_prop_ro("path", &io::FolderWriter::path)
      .def("commit", &io::FolderWriter::commit);
  m.def("write_file", [](const std::string& path, const nb::bytes& bytes) {
    io::remove_abandoned(path);
    io::FileWriter file(path);
    file.write({bytes.c_str(), bytes.size()});
    file.commit();
  });
  m.def("write_tensors", write_tensors, nb::arg("path"), nb::arg("tensors"), nb::arg("metadata"));
}

}  // namespace tidemark::python
