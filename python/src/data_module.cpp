// tf.data from Python: pipelines in C++, functions of the user as graphs.
#include <chrono>
#include <mutex>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "calls.h"
#include "tidemark/data/dataset.h"
#include "tidemark/data/nested.h"
#include "tidemark/data/state.h"
#include "tidemark/trace/builder.h"

#include "convert.h"
#include "errors.h"
#include "frontend.h"
#include "graph_module.h"
#include "interpreter_lock.h"
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

/// StopIteration out of a dataset's function would end the dataset instead of failing it.
[[noreturn]] void fail_about_end() {
  fail("Function invocation produced OutOfRangeError: the dataset's function raised StopIteration");
}

/// Calls a graph with an element and what the graph captured.
struct GraphFunction {
  std::shared_ptr<const exec::Program> program;
  std::vector<Tensor> captured;

  Element operator()(Element&& element) const {
    // Pipelines compute now, also while a graph is being built around them.
    const NoHandlers eager;
    Element inputs = std::move(element);
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    Element outputs(program->num_outputs());
    try {
      program->run(inputs, outputs);
    } catch (const PythonError&) {
      const Locked locked;
      if (!PyErr_ExceptionMatches(PyExc_StopIteration)) throw_held_error();
      PyErr_Clear();
      fail_about_end();
    } catch (const nb::python_error& error) {
      const Locked locked;
      if (!error.matches(PyExc_StopIteration)) throw;
      fail_about_end();
    }
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
    if (object_) let_go([this] { Py_DECREF(object_); });
  }
  PyObject* get() const { return object_; }

 private:
  PyObject* object_;
};

/// Elements of a Python iterator: next(iterator) gives a list of tensors.
class PythonIterator final : public data::Iterator {
 public:
  explicit PythonIterator(Kept iterator) : iterator_(std::move(iterator)) {}

 private:
  bool take_next(Element& out) override {
    const Locked locked;
    const GilHeld held;
    const OwnLines own_lines;
    const Ref item = Ref::steal(unless_at_end([&] { return PyIter_Next(iterator_.get()); }));
    if (!item) {
      if (PyErr_Occurred()) throw_held_error();
      return false;
    }
    try {
      out = tensors_from_list(item.get());
    } catch (const PythonError&) {
      throw_held_error();
    }
    ++taken_;
    return true;
  }
  /// Python's iterators cannot be saved: a new one is led to the same place.
  void save_state(data::StateWriter& to) override { to.number(taken_); }
  void restore_state(data::StateReader& from) override {
    const int64_t taken = from.count(data::kMostSaved);
    if (skip(taken) < taken) data::StateReader::damaged("a generator gives fewer elements now");
  }

  Kept iterator_;
  int64_t taken_ = 0;
};

Handle from_python(nb::handle make, int64_t count) {
  const auto function = std::make_shared<Kept>(make.ptr());
  const SourceLine line;
  return {data::generated(
      [function]() -> std::unique_ptr<data::Iterator> {
        const Locked locked;
        const Ref iterator = Ref::steal(call_object(function->get()));
        if (!iterator) throw_held_error();
        return std::make_unique<PythonIterator>(Kept(iterator.get()));
      },
      count)};
}

/// flat_map and interleave: the graph gives the dataset of an element.
data::ToDataset to_dataset(const FinishedGraph& graph, nb::handle captured) {
  return [function = function_of(graph, captured)](Element&& element) {
    return data::dataset_of(function(std::move(element)).at(0));
  };
}

data::Seeds seeds_of(std::pair<int64_t, int64_t> seeds) { return {seeds.first, seeds.second}; }

std::vector<DatasetRef> datasets_of(const nb::list& handles) {
  std::vector<DatasetRef> out;
  for (nb::handle h : handles) out.push_back(nb::cast<const Handle&>(h).dataset);
  return out;
}

/// Python's warning for an error that is passed over.
void warn_of(const std::exception_ptr& error) {
  std::string text = "an error";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    text = e.what();
  } catch (...) {
  }
  const Locked locked;
  if (PyErr_WarnEx(PyExc_RuntimeWarning, ("ignore_errors: " + text).c_str(), 1) != 0) PyErr_Clear();
}

/// An iterator for Python. Its threads may be waiting for the interpreter's lock, so that has to be
/// given away while they are waited for.
struct PyIterator {
  explicit PyIterator(std::unique_ptr<data::Iterator> from) : iterator(std::move(from)) {}
  ~PyIterator() {
    if (Py_IsInitialized() == 0) {  // at the interpreter's end they wait for it in vain
      (void)iterator.release();
      return;
    }
    const Unlocked released;
    iterator.reset();
  }
  PyIterator(const PyIterator&) = delete;

  std::unique_ptr<data::Iterator> iterator;
  std::recursive_timed_mutex mutex;  // iterators are asked by one thread at a time
};

/// Python's lock given away and the iterator taken, which another thread may be asking: in this
/// order, since that one may be waiting for the first.
class Asking {
 public:
  explicit Asking(PyIterator& of) : hold_(of.mutex, std::defer_lock) {
    while (!hold_.try_lock_for(std::chrono::milliseconds(50))) {
      if (Py_IsInitialized() == 0) {
        fail<FailedPreconditionError>(
            "another thread was asking the iterator when the interpreter ended");
      }
      check_interrupt();
    }
  }

 private:
  const Unlocked released_;
  std::unique_lock<std::recursive_timed_mutex> hold_;
};

nb::object next(PyIterator& self) {
  Element element;
  bool found = false;
  {
    const Asking asking(self);
    found = self.iterator->next(element);
  }
  if (!found) return nb::none();
  nb::list out;
  for (Tensor& t : element) out.append(nb::steal(Ref::checked(wrap(std::move(t))).release()));
  return out;
}

nb::bytes save(PyIterator& self) {
  data::StateWriter state;
  {
    const Asking asking(self);
    self.iterator->save(state);
  }
  return nb::bytes(state.bytes().data(), state.bytes().size());
}

/// Fresh iterators only.
void restore(PyIterator& self, const nb::bytes& bytes) {
  const std::string kept(bytes.c_str(), bytes.size());
  const Asking asking(self);
  data::StateReader state(kept);
  self.iterator->restore(state);
  if (!state.is_at_end()) data::StateReader::damaged("something follows");
}

std::vector<Shape> shapes_of(const nb::list& shapes) {
  std::vector<Shape> out;
  for (nb::handle s : shapes) {
    out.push_back(s.is_none() ? Shape::unknown() : shape_from_object(s.ptr()));
  }
  return out;
}

Element elements_of(nb::handle list) { return tensors_from_list(list.ptr()); }

void add_grouping(nb::class_<Handle>& handle) {
  handle
      .def("window",
           [](const Handle& self, int64_t size, int64_t shift, int64_t stride, bool drop,
              std::vector<int64_t> leaves) {
             return made([&] {
               return data::window(self.dataset, {size, shift, stride, drop}, std::move(leaves));
             });
           })
      .def("scan",
           [](const Handle& self, nb::handle initial, const FinishedGraph& graph,
              nb::handle captured) {
             return made([&] {
               return data::scan(self.dataset, elements_of(initial), function_of(graph, captured));
             });
           })
      .def("unique",
           [](const Handle& self) { return made([&] { return data::unique(self.dataset); }); })
      .def("group_by_window",
           [](const Handle& self, const FinishedGraph& key, nb::handle key_captured,
              const FinishedGraph& size, nb::handle size_captured, const FinishedGraph& reduce,
              nb::handle reduce_captured) {
             return made([&] {
               return data::group_by_window(
                   self.dataset, {function_of(key, key_captured), function_of(size, size_captured),
                                  to_dataset(reduce, reduce_captured)});
             });
           })
      .def("choose",
           [](const Handle& self, const nb::list& from, bool stops) {
             return made([&] { return data::choose(self.dataset, datasets_of(from), stops); });
           })
      .def("counted",
           [](const Handle& self, int64_t count) {
             return made([&] { return data::counted(self.dataset, count); });
           })
      .def("ignore_errors",
           [](const Handle& self, bool warns) {
             return made(
                 [&] { return data::ignore_errors(self.dataset, warns ? warn_of : nullptr); });
           })
      .def("cache_in_file",
           [](const Handle& self, std::string file) {
             return made([&] { return data::cache_in_file(self.dataset, std::move(file)); });
           })
      .def("write",
           [](const Handle& self, const std::string& file) {
             const Unlocked released;
             return data::write_elements(*self.dataset, file);
           })
      .def("as_tensor", [](const Handle& self) {
        return nb::steal(Ref::checked(wrap(data::as_tensor(self.dataset))).release());
      });
}

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
  m.def("dataset_fixed_records", [](std::vector<std::string> files, int64_t record, int64_t header,
                                    int64_t footer) {
    return made([&] { return data::fixed_records(std::move(files), record, header, footer); });
  });
  m.def("dataset_random", [](std::pair<int64_t, int64_t> seeds, bool again) {
    return made([&] { return data::random_numbers(seeds_of(seeds), again); });
  });
  m.def("dataset_in_file", [](std::string file, int64_t count) {
    return made([&] { return data::elements_in_file(std::move(file), count); });
  });
  m.def("dataset_sample", [](const nb::list& from, std::vector<double> weights,
                             std::pair<int64_t, int64_t> seeds, bool again, bool stops) {
    return made([&] {
      return data::sample(datasets_of(from), std::move(weights), seeds_of(seeds), again, stops);
    });
  });
  m.def("dataset_from_tensor",
        [](nb::handle t) { return Handle{data::dataset_of(tensor_of(t.ptr()))}; });
  m.def("dataset_zip", [](const nb::list& all) {
    std::vector<DatasetRef> parts = datasets_of(all);
    return made([&] { return data::zip(std::move(parts)); });
  });
}

}  // namespace

void add_data_functions(nb::module_& m) {
  nb::class_<PyIterator>(m, "DatasetIterator")
      .def("next", next)
      .def("save", save)
      .def("restore", restore);
  nb::class_<Handle> handle(m, "DatasetHandle");
  handle
      .def("iterate",
           [](const Handle& self) {
             const Unlocked released;
             return std::make_unique<PyIterator>(self.dataset->iterate());
           })
      .def("cardinality", [](const Handle& self) { return self.dataset->cardinality(); })
      .def(
          "map",
          [](const Handle& self, const FinishedGraph& graph, nb::handle captured, int64_t parallel,
             std::optional<bool> in_order) {
            const data::Order order = !in_order   ? data::Order::usual
                                      : *in_order ? data::Order::kept
                                                  : data::Order::any;
            return made([&] {
              return data::map(self.dataset, function_of(graph, captured), parallel, order);
            });
          },
          nb::arg("graph"), nb::arg("captured"), nb::arg("parallel"),
          nb::arg("in_order").none() = nb::none())
      .def(
          "in_any_order",
          [](const Handle& self) { return made([&] { return data::in_any_order(self.dataset); }); })
      .def("filter",
           [](const Handle& self, const FinishedGraph& graph, nb::handle captured, bool stops) {
             auto f = function_of(graph, captured);
             return made([&] {
               return stops ? data::take_while(self.dataset, std::move(f))
                            : data::filter(self.dataset, std::move(f));
             });
           })
      .def("interleave",
           [](const Handle& self, const FinishedGraph& graph, nb::handle captured, int64_t cycle,
              int64_t block, bool parallel) {
             return made([&] {
               return data::interleave(self.dataset, to_dataset(graph, captured), cycle, block,
                                       parallel);
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
           [](const Handle& self, int64_t buffer, std::pair<int64_t, int64_t> seeds, bool again) {
             return made(
                 [&] { return data::shuffle(self.dataset, buffer, seeds_of(seeds), again); });
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
      .def("on_device",
           [](const Handle& self, const std::string& name) {
             return made([&] { return data::on_device(self.dataset, Device::named(name)); });
           })
      .def("prefetch", [](const Handle& self, int64_t n) {
        return made([&] { return data::prefetch(self.dataset, n); });
      });
  add_grouping(handle);
  add_sources(m);
}

}  // namespace tidemark::python
