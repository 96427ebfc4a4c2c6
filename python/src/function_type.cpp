#include "function_type.h"

#include <nanobind/nanobind.h>
#include <structmember.h>

#include <algorithm>
#include <vector>

#include "tidemark/memory/runs.h"
#include "tidemark/profile/recorder.h"

#include "convert.h"
#include "donating.h"
#include "errors.h"
#include "frontend.h"
#include "graph_module.h"
#include "op_call.h"
#include "tensor_type.h"

namespace nb = nanobind;

namespace tidemark::python {

namespace {

bool run_eagerly = false;                // guarded by the GIL
constexpr uint64_t kCallsLookedAt = 16;  // as in _functions/function.py

/// What an argument has to be for a trace to fit.
struct QuickArg {
  enum Kind : uint8_t { tensor, number, value, identity } kind = value;
  DType dtype = DType::invalid;
  Shape shape;
  Ref object;    // the type of a number; the value; a weak reference to the object meant
  Ref function;  // of a bound method of that object
};

struct Entry {
  Ref trace;
  std::shared_ptr<const exec::Program> program;
  std::vector<QuickArg> args;
  struct Donated {
    size_t arg, input;
    Tensor stand_in;  // what stands in the argument's place afterwards, kept for the next call
  };
  std::vector<Donated> donated;
  Ref pack;               // null: the only output is the result
  const char* name = "";  // in static storage
  uint64_t calls = 0;
  uint32_t uses = 0;
  // The tensors of a call on their way in and out; kept, so that calls allocate nothing. One call
  // at a time has them, others make their own.
  std::vector<Tensor> inputs, outputs;
  bool is_busy = false;
  Tensor nothing;  // no elements: what a result is while call_into writes it
};

/// Room for the tensors of one call; guarded by the GIL, empty again at the end.
class CallRoom {
 public:
  explicit CallRoom(Entry& entry) : entry_(entry), has_entrys_(!entry.is_busy) {
    if (has_entrys_) {
      entry.is_busy = true;
      entry.inputs.swap(inputs);
      entry.outputs.swap(outputs);
    }
    inputs.resize(entry.program->num_inputs());
    outputs.resize(entry.program->num_outputs());
  }
  ~CallRoom() {
    for (Tensor& t : inputs) t = Tensor();
    for (Tensor& t : outputs) t = Tensor();
    if (!has_entrys_) return;
    entry_.inputs.swap(inputs);
    entry_.outputs.swap(outputs);
    entry_.is_busy = false;
  }
  CallRoom(const CallRoom&) = delete;
  CallRoom& operator=(const CallRoom&) = delete;

  std::vector<Tensor> inputs, outputs;

 private:
  Entry& entry_;
  bool has_entrys_;
};

/// Counts under the GIL, so without the cost of atomic steps: a call may outlive its entry.
class EntryRef {
 public:
  EntryRef() = default;
  explicit EntryRef(std::unique_ptr<Entry> entry) : EntryRef(entry.release()) {}
  EntryRef(const EntryRef& other) : EntryRef(other.entry_) {}
  EntryRef(EntryRef&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
  EntryRef& operator=(EntryRef other) noexcept {
    std::swap(entry_, other.entry_);
    return *this;
  }
  ~EntryRef() {
    if (entry_ && --entry_->uses == 0) delete entry_;
  }
  Entry* operator->() const { return entry_; }
  Entry& operator*() const { return *entry_; }
  explicit operator bool() const { return entry_ != nullptr; }

 private:
  explicit EntryRef(Entry* entry) : entry_(entry) {
    if (entry_) ++entry_->uses;
  }
  Entry* entry_ = nullptr;
};

struct PyFunction {
  PyObject ob_base;
  vectorcallfunc vectorcall;
  std::vector<EntryRef>* entries;
  PyObject* weakrefs;
  PyObject* dict;
};

PyFunction* self_of(PyObject* object) { return reinterpret_cast<PyFunction*>(object); }

bool fits(const Shape& given, const Shape& wanted) {
  if (!wanted.has_rank()) return true;
  if (!given.has_rank() || given.rank() != wanted.rank()) return false;
  for (int i = 0; i < given.rank(); ++i) {
    if (wanted[i] >= 0 && wanted[i] != given[i]) return false;
  }
  return true;
}

bool is_plain(PyObject* value) {
  return PyLong_CheckExact(value) || PyFloat_CheckExact(value) || PyUnicode_CheckExact(value) ||
         PyBytes_CheckExact(value);
}

bool fits(const QuickArg& arg, PyObject* value) {
  if (arg.kind == QuickArg::tensor) {
    if (!is_tensor(value)) return false;
    const Tensor& t = tensor_of(value);
    return t.dtype() == arg.dtype && fits(t.shape(), arg.shape);
  }
  if (arg.kind == QuickArg::number) {
    return reinterpret_cast<PyObject*>(Py_TYPE(value)) == arg.object.get();
  }
  if (arg.kind == QuickArg::identity) {
    const bool is_method = PyMethod_Check(value);
    if (is_method != bool(arg.function)) return false;
    if (is_method && PyMethod_GET_FUNCTION(value) != arg.function.get()) return false;
    return PyWeakref_GetObject(arg.object.get()) == (is_method ? PyMethod_GET_SELF(value) : value);
  }
  if (value == arg.object.get()) return true;
  if (Py_TYPE(value) != Py_TYPE(arg.object.get()) || !is_plain(value)) return false;
  return PyObject_RichCompareBool(value, arg.object.get(), Py_EQ) == 1;
}

EntryRef find(const PyFunction& self, PyObject* const* args, size_t count) {
  const auto& all = *self.entries;
  for (size_t k = all.size(); k-- > 0;) {
    if (all[k]->args.size() != count) continue;
    bool fit = true;
    for (size_t i = 0; fit && i < count; ++i) fit = fits(all[k]->args[i], args[i]);
    if (fit) return all[k];
  }
  return {};
}

void fill_inputs(const Entry& entry, PyObject* const* args, std::span<Tensor> inputs) {
  size_t next = 0;
  for (size_t i = 0; i < entry.args.size(); ++i) {
    const QuickArg& arg = entry.args[i];
    if (arg.kind == QuickArg::tensor) {
      inputs[next++] = tensor_of(args[i]);
    } else if (arg.kind == QuickArg::number) {
      inputs[next++] = to_tensor(args[i], {arg.dtype});
    }
  }
}

/// After this the run has the only handles on donated arguments, those of others aside.
void donate(Entry& entry, PyObject* const* args, std::span<Tensor> inputs, Donating& donating) {
  if (entry.donated.empty() || !Donating::is_possible()) return;
  for (const Entry::Donated& d : entry.donated) {
    donating.check_given_once(args[d.arg], {args, entry.args.size()});
  }
  for (Entry::Donated& d : entry.donated) donating.take(args[d.arg], inputs[d.input], d.stand_in);
}

PyObject* run(Entry& entry, PyObject* const* args) {
  const GilHeld held;
  const SourceLine line;
  const memory::ScopedRun scope(entry.name);
  CallRoom room(entry);
  const std::span<Tensor> outputs = room.outputs;
  fill_inputs(entry, args, room.inputs);
  {
    Donating donating(entry.name);
    donate(entry, args, room.inputs, donating);
    entry.program->run(room.inputs, outputs);
  }
  if (!entry.pack) return wrap(std::move(outputs[0]));
  const Ref list = Ref::checked(PyList_New(static_cast<Py_ssize_t>(outputs.size())));
  for (size_t i = 0; i < outputs.size(); ++i) {
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i),
                    Ref::checked(wrap(std::move(outputs[i]))).release());
  }
  return PyObject_CallOneArg(entry.pack.get(), list.get());
}

PyObject* call_slowly(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
  static PyObject* const method = interned("_call_slowly");
  const Ref positional = Ref::checked(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; i < count; ++i) {
    PyTuple_SET_ITEM(positional.get(), static_cast<Py_ssize_t>(i), Py_NewRef(args[i]));
  }
  const Ref keywords = Ref::checked(PyDict_New());
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); ++i) {
    check(PyDict_SetItem(keywords.get(), PyTuple_GET_ITEM(names, i),
                         args[count + static_cast<size_t>(i)]));
  }
  return PyObject_CallMethodObjArgs(self, method, positional.get(), keywords.get(), nullptr);
}

/// For the recorder: the function was called here.
[[gnu::noinline, gnu::cold]] void note_call(PyObject* self) {
  const SourceLine line;
  const Ref name = Ref::checked(PyObject_GetAttrString(self, "_name"));
  const char* text = PyUnicode_Check(name.get()) ? PyUnicode_AsUTF8(name.get()) : "";
  profile::mark(profile::EventKind::call, text ? text : "", 0);
}

PyObject* vectorcall(PyObject* self, PyObject* const* args, size_t flagged, PyObject* names) {
  return guarded([&]() -> PyObject* {
    if (profile::is_recording()) [[unlikely]]
      note_call(self);
    const auto count = static_cast<size_t>(PyVectorcall_NARGS(flagged));
    if (names || run_eagerly) return call_slowly(self, args, count, names);
    const EntryRef entry = find(*self_of(self), args, count);
    if (!entry) return call_slowly(self, args, count, names);
    const uint64_t calls = ++entry->calls;
    if (calls <= kCallsLookedAt || (calls & (calls - 1)) == 0) {
      static PyObject* const note = interned("_note_calls");
      const Ref number = Ref::checked(PyLong_FromUnsignedLongLong(calls));
      Ref::checked(
          PyObject_CallMethodObjArgs(self, note, entry->trace.get(), number.get(), nullptr));
    }
    return run(*entry, args);
  });
}

/// The tensors of a result: one, or those of a list or tuple.
class ResultTensors {
 public:
  explicit ResultTensors(PyObject* result) {
    if (is_tensor(result)) {
      all_ = &single_;
      single_ = result;
      count_ = 1;
    } else if (PyList_Check(result) || PyTuple_Check(result)) {
      held_ = Ref::checked(PySequence_Tuple(result));  // others may change a list meanwhile
      all_ = PySequence_Fast_ITEMS(held_.get());
      count_ = static_cast<size_t>(PyTuple_GET_SIZE(held_.get()));
    }
    bool fine = all_ != nullptr;
    for (size_t i = 0; fine && i < count_; ++i) {
      fine = is_tensor(all_[i]) && !is_symbolic(tensor_of(all_[i]));
    }
    if (!fine) {
      fail(
          "[call_into] the first argument must be a tensor, or a list or tuple of tensors, that "
          "an earlier call returned; ",
          Py_TYPE(result)->tp_name, " was given");
    }
  }
  ResultTensors(const ResultTensors&) = delete;
  size_t size() const { return count_; }
  Tensor& operator[](size_t i) const { return reinterpret_cast<PyTensor*>(all_[i])->value; }

  void check_count(size_t wanted) const {
    if (count_ == wanted) return;
    fail("[call_into] the function returns ", wanted, " tensors; ", count_, " were given");
  }

 private:
  Ref held_;
  PyObject* single_ = nullptr;
  PyObject** all_ = nullptr;
  size_t count_ = 0;
};

/// The former results while a run may write into them: nobody else has them, and what is left of
/// them comes back when the run fails.
class ReusedResults {
 public:
  ReusedResults(Entry& entry, const ResultTensors& results, std::span<Tensor> outputs)
      : results_(results), outputs_(outputs) {
    if (!entry.nothing) entry.nothing = Tensor::uninitialized(DType::float32, {0});
    for (size_t i = 0; i < results.size(); ++i) {
      Tensor before = entry.nothing;
      std::swap(results[i], before);
      outputs[i] = std::move(before);
    }
  }
  ~ReusedResults() {
    for (size_t i = 0; i < results_.size(); ++i) {
      if (outputs_[i]) std::swap(results_[i], outputs_[i]);
    }
  }
  ReusedResults(const ReusedResults&) = delete;

 private:
  const ResultTensors& results_;
  std::span<Tensor> outputs_;
};

void run_into(Entry& entry, PyObject* const* args, const ResultTensors& results) {
  const GilHeld held;
  const SourceLine line;
  const memory::ScopedRun scope(entry.name);
  results.check_count(entry.program->num_outputs());
  CallRoom room(entry);
  fill_inputs(entry, args, room.inputs);
  const ReusedResults reused(entry, results, room.outputs);
  Donating donating(entry.name);
  donate(entry, args, room.inputs, donating);
  entry.program->run(room.inputs, room.outputs);
}

/// call_into(result, *args)
PyObject* call_into(PyObject* self, PyObject* const* args, Py_ssize_t given) {
  return guarded([&]() -> PyObject* {
    if (given < 1) fail("[call_into] takes the result of an earlier call, then the arguments");
    const auto count = static_cast<size_t>(given) - 1;
    const ResultTensors results(args[0]);
    EntryRef entry = run_eagerly ? EntryRef() : find(*self_of(self), args + 1, count);
    if (entry) {
      run_into(*entry, args + 1, results);
    } else {  // traced now, or too special to be quick: its results take the place of the old ones
      const Ref made = Ref::checked(call_slowly(self, args + 1, count, nullptr));
      const ResultTensors now(made.get());
      results.check_count(now.size());
      for (size_t i = 0; i < now.size(); ++i) results[i] = Tensor(now[i]);
    }
    return Py_NewRef(args[0]);
  });
}

QuickArg quick_arg(PyObject* said) {
  QuickArg arg;
  const long kind = PyLong_AsLong(PyTuple_GET_ITEM(said, 0));
  if (kind >= 2) {
    arg.object = Ref::borrow(PyTuple_GET_ITEM(said, 1));
    if (kind == 3) {
      arg.kind = QuickArg::identity;
      PyObject* function = PyTuple_GET_ITEM(said, 2);
      if (function != Py_None) arg.function = Ref::borrow(function);
    }
    return arg;
  }
  PyObject* dtype = PyTuple_GET_ITEM(said, kind == 0 ? 1 : 2);
  arg.dtype = dtype_from_enum(PyLong_AsLong(dtype));
  if (kind == 1) {
    arg.kind = QuickArg::number;
    arg.object = Ref::borrow(PyTuple_GET_ITEM(said, 1));
    return arg;
  }
  arg.kind = QuickArg::tensor;
  PyObject* shape = PyTuple_GET_ITEM(said, 2);
  arg.shape = shape == Py_None ? Shape::unknown() : shape_from_object(shape);
  return arg;
}

/// Which arguments are donated, given which inputs are.
void find_donated(Entry& entry) {
  const std::span<const uint32_t> donated = entry.program->donated();
  size_t input = 0;
  for (size_t i = 0; i < entry.args.size(); ++i) {
    const QuickArg::Kind kind = entry.args[i].kind;
    if (kind != QuickArg::tensor && kind != QuickArg::number) continue;
    if (std::find(donated.begin(), donated.end(), input) != donated.end()) {
      entry.donated.push_back({i, input, {}});
    }
    ++input;
  }
}

/// _add_entry(trace, graph, args, is_flat, pack or None)
PyObject* add_entry(PyObject* self, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject *trace = nullptr, *graph = nullptr, *said = nullptr, *flat = nullptr, *pack = nullptr;
    if (!PyArg_ParseTuple(args, "OOO!OO:_add_entry", &trace, &graph, &PyTuple_Type, &said, &flat,
                          &pack)) {
      throw PythonError{};
    }
    if (flat != Py_True) Py_RETURN_NONE;
    auto entry = std::make_unique<Entry>();
    entry->trace = Ref::borrow(trace);
    const auto& finished = nb::cast<const FinishedGraph&>(nb::handle(graph));
    entry->program = finished.program;
    entry->name = finished.name;
    if (pack != Py_None) entry->pack = Ref::borrow(pack);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(said); ++i) {
      entry->args.push_back(quick_arg(PyTuple_GET_ITEM(said, i)));
    }
    find_donated(*entry);
    self_of(self)->entries->push_back(EntryRef(std::move(entry)));
    Py_RETURN_NONE;
  });
}

PyObject* remove_entry(PyObject* self, PyObject* trace) {
  std::vector<EntryRef> gone;  // destroyed after the list is whole again
  auto& all = *self_of(self)->entries;
  for (size_t i = all.size(); i-- > 0;) {
    if (all[i]->trace.get() != trace) continue;
    gone.push_back(std::move(all[i]));
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
  }
  Py_RETURN_NONE;
}

PyObject* entry_calls(PyObject* self, PyObject* trace) {
  for (const auto& entry : *self_of(self)->entries) {
    if (entry->trace.get() == trace) return PyLong_FromUnsignedLongLong(entry->calls);
  }
  return PyLong_FromLong(0);
}

PyObject* new_function(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* object = type->tp_alloc(type, 0);
  if (!object) return nullptr;
  self_of(object)->vectorcall = vectorcall;
  self_of(object)->entries = new std::vector<EntryRef>;
  return object;
}

int clear(PyObject* object) {
  Py_CLEAR(self_of(object)->dict);
  const auto gone = std::exchange(*self_of(object)->entries, {});
  return 0;
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self_of(object)->dict);
  for (const auto& entry : *self_of(object)->entries) {
    if (entry->uses > 1) continue;  // a call is under way
    Py_VISIT(entry->trace.get());
    Py_VISIT(entry->pack.get());
    for (const QuickArg& a : entry->args) {
      Py_VISIT(a.object.get());
      Py_VISIT(a.function.get());
    }
  }
  return 0;
}

void dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  if (self_of(object)->weakrefs) PyObject_ClearWeakRefs(object);
  clear(object);
  delete self_of(object)->entries;
  type->tp_free(object);
  Py_DECREF(type);
}

PyObject* set_run_eagerly(PyObject*, PyObject* on) {
  run_eagerly = on == Py_True;
  Py_RETURN_NONE;
}

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyFunction, weakrefs), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(PyFunction, dict), READONLY, nullptr},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PyFunction, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyGetSetDef properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyCFunction address_of_fastcall(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef methods[] = {
    {"call_into", address_of_fastcall(call_into), METH_FASTCALL,
     "call_into(result, *args)\n--\n\n"
     "As a call, with the memory of an earlier result (a tensor, or a list or tuple of tensors) "
     "used\n"
     "again where nobody else has it: such a call allocates nothing. Returns ``result``, whose\n"
     "tensors are the new ones; after a call that failed they may be empty."},
    {"_add_entry", add_entry, METH_VARARGS, "Lets plain calls find a trace."},
    {"_remove_entry", remove_entry, METH_O, "Forgets a trace."},
    {"_entry_calls", entry_calls, METH_O, "How many plain calls a trace answered."},
    {nullptr, nullptr, 0, nullptr}};

template <class Fn>
void* address(Fn* fn) {
  return reinterpret_cast<void*>(fn);
}

}  // namespace

PyMethodDef function_methods[] = {
    {"set_functions_run_eagerly", set_run_eagerly, METH_O, "Whether all calls go to Python."},
    {nullptr, nullptr, 0, nullptr}};

void initialize_function_type(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_new, address(new_function)},
                         {Py_tp_dealloc, address(dealloc)},
                         {Py_tp_traverse, address(traverse)},
                         {Py_tp_clear, address(clear)},
                         {Py_tp_call, address(PyVectorcall_Call)},
                         {Py_tp_getset, properties},
                         {Py_tp_members, members},
                         {Py_tp_methods, methods},
                         {0, nullptr}};
  PyType_Spec spec{
      "tidemark._tidemark.FunctionBase", static_cast<int>(sizeof(PyFunction)), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
      slots};
  const Ref type = Ref::checked(PyType_FromSpec(&spec));
  check(PyModule_AddObjectRef(module, "FunctionBase", type.get()));
}

}  // namespace tidemark::python
