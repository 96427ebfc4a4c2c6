// tf.data from Python: pipelines in C++, functions of the user as graphs.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "tidemark/data/dataset.h"
#include "tidemark/trace/builder.h"

#include "convert.h"
#include "errors.h"
#include "frontend.h"
#include "graph_module.h"
#include "op_call.h"
#include "recorder.h"
#include "sites.h"
#include "tensor_type.h"

namespace nb = nanobind;

namespace tidemark::python {

namespace {

using data::DatasetRef;
using data::Element;

/// A dataset, for Python; const in C++.
struct Handle {
  DatasetRef dataset;
};

/// A dataset knows the line that made it.
template <class Make>
Handle made(Make make) {
  const SourceLine line;
  return {make()};
}

/// Calls a graph with an element and what the graph captured.
struct GraphFunction {
  std::shared_ptr<const exec::Program> program;
  std::vector<Tensor> captured;

  Element operator()(Element&& element) const {
    // Pipelines compute now, also while a graph is being built around them.
    const trace::EagerScope eager;
    Element inputs = std::move(element);
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    Element outputs(program->num_outputs());
    program->run(inputs, outputs);
    return outputs;
  }
};

GraphFunction function_of(const FinishedGraph& graph, nb::handle captured) {
  return {graph.program, tensors_from_list(captured.ptr())};
}

/// A Python object kept by C++ code that may let it go on any thread.
class Kept {
 public:
  explicit Kept(PyObject* object) : object_(Py_NewRef(object)) {}
  Kept(const Kept& other) : object_(other.object_) {
    const Locked locked;
    Py_INCREF(object_);
  }
  Kept(Kept&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  ~Kept() {
    if (!object_) return;
    const Locked locked;
    Py_DECREF(object_);
  }
  PyObject* get() const { return object_; }

 private:
  PyObject* object_;
};

/// A Python error on its way through threads that are not Python's.
[[noreturn]] void rethrow_python_error() {
  const nb::python_error error;
  throw nb::python_error(error);
}

/// Elements of a Python iterator: next(iterator) gives a list of tensors.
class PythonIterator final : public data::Iterator {
 public:
  explicit PythonIterator(Kept iterator) : iterator_(std::move(iterator)) {}
  bool take_next(Element& out) override {
    const Locked locked;
    const GilHeld held;
    const Ref item = Ref::steal(PyIter_Next(iterator_.get()));
    if (!item) {
      if (PyErr_Occurred()) rethrow_python_error();
      return false;
    }
    try {
      out = tensors_from_list(item.get());
    } catch (const PythonError&) {
      rethrow_python_error();
    }
    return true;
  }

 private:
  Kept iterator_;
};

Handle from_python(nb::handle make, int64_t count) {
  const auto function = std::make_shared<Kept>(make.ptr());
  const SourceLine line;
  return {data::generated(
      [function]() -> std::unique_ptr<data::Iterator> {
        const Locked locked;
        const Ref iterator = Ref::steal(PyObject_CallNoArgs(function->get()));
        if (!iterator) rethrow_python_error();
        return std::make_unique<PythonIterator>(Kept(iterator.get()));
      },
      count)};
}

/// flat_map and interleave: Python makes the dataset of an element.
data::ToDataset to_dataset(nb::handle function) {
  const auto kept = std::make_shared<Kept>(function.ptr());
  return [kept](Element&& element) -> DatasetRef {
    const Locked locked;
    const GilHeld held;
    nb::list values;
    for (Tensor& t : element) {
      values.append(nb::steal(Ref::checked(wrap(std::move(t))).release()));
    }
    const Ref made = Ref::steal(PyObject_CallOneArg(kept->get(), values.ptr()));
    if (!made) rethrow_python_error();
    return nb::cast<const Handle&>(nb::handle(made.get())).dataset;
  };
}

/// An iterator for Python. Its threads may be waiting for the interpreter's lock, so that has to be
/// given away while they are waited for.
struct PyIterator {
  explicit PyIterator(std::unique_ptr<data::Iterator> from) : iterator(std::move(from)) {}
  ~PyIterator() {
    const nb::gil_scoped_release released;
    iterator.reset();
  }
  PyIterator(const PyIterator&) = delete;

  std::unique_ptr<data::Iterator> iterator;
  int64_t taken = 0;
};

nb::object next(PyIterator& self) {
  Element element;
  bool found = false;
  {
    const nb::gil_scoped_release released;
    found = self.iterator->next(element);
  }
  if (!found) return nb::none();
  ++self.taken;
  nb::list out;
  for (Tensor& t : element) out.append(nb::steal(Ref::checked(wrap(std::move(t))).release()));
  return out;
}

std::vector<Shape> shapes_of(const nb::list& shapes) {
  std::vector<Shape> out;
  for (nb::handle s : shapes) {
    out.push_back(s.is_none() ? Shape::unknown() : shape_from_object(s.ptr()));
  }
  return out;
}

Element elements_of(nb::handle list) { return tensors_from_list(list.ptr()); }

void add_sources(nb::module_& m) {
  m.def("dataset_single",
        [](nb::handle t) { return made([&] { return data::single(elements_of(t)); }); });
  m.def("dataset_slices",
        [](nb::handle t) { return made([&] { return data::slices(elements_of(t)); }); });
  m.def("dataset_range", [](int64_t start, int64_t stop, int64_t step, nb::handle dtype) {
    return made([&] { return data::range(start, stop, step, dtype_from_object(dtype.ptr())); });
  });
  m.def("dataset_from_python", from_python);
  m.def("dataset_text_lines", [](std::vector<std::string> files, int64_t buffer) {
    return made([&] { return data::text_lines(std::move(files), buffer); });
  });
  m.def("dataset_tf_records", [](std::vector<std::string> files) {
    return made([&] { return data::tf_records(std::move(files)); });
  });
  m.def("dataset_buffers", [] {
    nb::list out;
    for (const data::BufferUse& use : data::buffers_in_use()) {
      out.append(nb::make_tuple(use.holder, use.place, use.elements, use.bytes));
    }
    return out;
  });
  m.def("dataset_zip", [](const nb::list& all) {
    std::vector<DatasetRef> parts;
    for (nb::handle h : all) parts.push_back(nb::cast<const Handle&>(h).dataset);
    return made([&] { return data::zip(std::move(parts)); });
  });
}

}  // namespace

void add_data_functions(nb::module_& m) {
  nb::class_<PyIterator>(m, "DatasetIterator")
      .def("next", next)
      .def_ro("taken", &PyIterator::taken);
  nb::class_<Handle>(m, "DatasetHandle")
      .def("iterate",
           [](const Handle& self) {
             const nb::gil_scoped_release released;
             return std::make_unique<PyIterator>(self.dataset->iterate());
           })
      .def("cardinality", [](const Handle& self) { return self.dataset->cardinality(); })
      .def("map",
           [](const Handle& self, const FinishedGraph& graph, nb::handle captured,
              int64_t parallel) {
             return made(
                 [&] { return data::map(self.dataset, function_of(graph, captured), parallel); });
           })
      .def("filter",
           [](const Handle& self, const FinishedGraph& graph, nb::handle captured, bool stops) {
             auto f = function_of(graph, captured);
             return made([&] {
               return stops ? data::take_while(self.dataset, std::move(f))
                            : data::filter(self.dataset, std::move(f));
             });
           })
      .def("interleave",
           [](const Handle& self, nb::handle function, int64_t cycle, int64_t block) {
             return made([&] {
               return data::interleave(self.dataset, to_dataset(function), cycle, block);
             });
           })
      .def("batch",
           [](const Handle& self, int64_t size, bool drop) {
             return made([&] { return data::batch(self.dataset, size, drop); });
           })
      .def("padded_batch",
           [](const Handle& self, int64_t size, bool drop, const nb::list& shapes,
              nb::handle values) {
             return made([&] {
               return data::padded_batch(self.dataset, size, drop, shapes_of(shapes),
                                         elements_of(values));
             });
           })
      .def("unbatch",
           [](const Handle& self) { return made([&] { return data::unbatch(self.dataset); }); })
      .def("shuffle",
           [](const Handle& self, int64_t buffer, uint64_t seed, bool again) {
             return made([&] { return data::shuffle(self.dataset, buffer, seed, again); });
           })
      .def("repeat", [](const Handle& self,
                        int64_t n) { return made([&] { return data::repeat(self.dataset, n); }); })
      .def("take", [](const Handle& self,
                      int64_t n) { return made([&] { return data::take(self.dataset, n); }); })
      .def("skip", [](const Handle& self,
                      int64_t n) { return made([&] { return data::skip(self.dataset, n); }); })
      .def("shard",
           [](const Handle& self, int64_t every, int64_t index) {
             return made([&] { return data::shard(self.dataset, every, index); });
           })
      .def("concatenate",
           [](const Handle& self, const Handle& other) {
             return made([&] { return data::concatenate(self.dataset, other.dataset); });
           })
      .def("cache",
           [](const Handle& self) { return made([&] { return data::cache(self.dataset); }); })
      .def("prefetch", [](const Handle& self, int64_t n) {
        return made([&] { return data::prefetch(self.dataset, n); });
      });
  add_sources(m);
}

}  // namespace tidemark::python
