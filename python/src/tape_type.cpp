#include "tape_type.h"

#include <structmember.h>

#include "tidemark/autodiff/forward.h"
#include "tidemark/profile/recorder.h"
#include "tidemark/tensor/storage.h"

#include "errors.h"
#include "frontend.h"
#include "op_call.h"
#include "recorder.h"
#include "tensor_type.h"
#include "variable_type.h"

namespace tidemark::python {

namespace {

using PyTape = PyHandler<autodiff::Tape>;
using PyForward = PyHandler<autodiff::ForwardAccumulator>;
using PyRecordingPause = PyHandler<autodiff::RecordingPause>;

template <class Handler>
void dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  delete PyHandler<Handler>::of(object)->handler;
  type->tp_free(object);
  Py_DECREF(type);
}

/// Functions that several tapes share are seen by none of them: they count as held from outside.
int traverse_tape(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  const autodiff::Tape* tape = PyTape::of(object)->handler;
  if (!tape || !tape->may_have_custom()) return 0;
  for (const auto& entry : tape->entries()) {
    if (!entry.custom || entry.custom.use_count() != 1) continue;
    Py_VISIT(function_of(*entry.custom));
  }
  return 0;
}

int clear_tape(PyObject* object) {
  if (PyTape::of(object)->handler) PyTape::of(object)->handler->reset();
  return 0;
}

int traverse_plain(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  return 0;
}

template <class Handler>
PyObject* make(PyTypeObject* type, Handler* handler) {
  PyObject* object = type->tp_alloc(type, 0);
  if (!object) {
    delete handler;
    throw PythonError{};
  }
  PyHandler<Handler>::of(object)->handler = handler;
  return object;
}

template <class Handler>
PyObject* make_plain(PyTypeObject* type, PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* { return make(type, new Handler); });
}

PyObject* new_tape(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    int persistent = 0, watch_accessed = 1, only_variables = 0;
    static const char* names[] = {"persistent", "watch_accessed_variables", "_only_variables",
                                  nullptr};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|ppp:GradientTape", const_cast<char**>(names),
                                     &persistent, &watch_accessed, &only_variables)) {
      throw PythonError{};
    }
    return make(type,
                new autodiff::Tape({persistent != 0, watch_accessed != 0, only_variables != 0}));
  });
}

template <class Handler>
PyObject* enter(PyObject* self, PyObject*) {
  PyHandler<Handler>* handler = PyHandler<Handler>::of(self);
  if (handler->is_on_stack) {
    PyErr_SetString(PyExc_ValueError,
                    "Tape is still recording, This can happen if you try to re-enter an "
                    "already-active tape.");
    return nullptr;
  }
  handler->enter();
  return Py_NewRef(self);
}

template <class Handler>
PyObject* leave(PyObject* self, PyObject* const*, Py_ssize_t) {
  if (!PyHandler<Handler>::of(self)->leave()) {
    PyErr_SetString(PyExc_RuntimeError, "a tape has to be left on the thread that entered it");
    return nullptr;
  }
  Py_RETURN_NONE;
}

/// watch(tensor or variable)
PyObject* watch(PyObject* self, PyObject* value) {
  return guarded([&]() -> PyObject* {
    const uint64_t id = id_of_object(value);
    if (id == 0) {
      raise(PyExc_ValueError,
            "Passed in object %R of type '%s', not tf.Tensor or tf.Variable or ExtensionType.",
            value, Py_TYPE(value)->tp_name);
    }
    PyTape::of(self)->handler->watch_id(id);
    Py_RETURN_NONE;
  });
}

Tensor zeros_like_source(PyObject* source) {
  const Tensor t = is_variable(source) ? operand_of(source) : tensor_of(source);
  return call("zeros_like", {t});
}

PyObject* answer(autodiff::Adjoint&& adjoint, PyObject* source, bool zeros) {
  if (!adjoint && zeros) return Ref::checked(wrap(zeros_like_source(source))).release();
  return object_from_adjoint(std::move(adjoint));
}

/// _gradient(targets, sources, seeds or None, zeros)
PyObject* gradient(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 4) raise(PyExc_TypeError, "_gradient takes 4 arguments but %zd were given", count);
    const GilHeld held;
    const SourceLine line;
    profile::mark(profile::EventKind::gradient, "", 0);
    PyTape* py = PyTape::of(self);
    autodiff::Tape& tape = *py->handler;
    if (tape.is_used_up()) {
      raise(PyExc_RuntimeError,
            "A non-persistent GradientTape can only be used to compute one set of gradients (or "
            "jacobians)");
    }
    const Ref alive = Ref::borrow(self);
    if (!tape.is_persistent()) py->leave();
    const std::vector<Tensor> targets = tensors_from_list(args[0]);
    const Ref sources = Ref::checked(PySequence_Tuple(args[1]));
    const bool zeros = PyObject_IsTrue(args[3]) == 1;
    std::vector<uint64_t> ids;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sources.get()); ++i) {
      ids.push_back(id_of_object(PyTuple_GET_ITEM(sources.get(), i)));
    }
    std::vector<Tensor> seeds;
    if (args[2] != Py_None) seeds = tensors_from_list(args[2]);
    std::vector<Tensor> tensors;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(sources.get()); ++i) {
      PyObject* source = PyTuple_GET_ITEM(sources.get(), i);
      tensors.push_back(is_tensor(source) ? tensor_of(source) : Tensor());
    }
    auto adjoints = tape.gradient(targets, ids, seeds, tensors);
    const Ref out = Ref::checked(PyList_New(static_cast<Py_ssize_t>(ids.size())));
    for (size_t i = 0; i < ids.size(); ++i) {
      const auto at = static_cast<Py_ssize_t>(i);
      PyList_SET_ITEM(out.get(), at,
                      answer(std::move(adjoints[i]), PyTuple_GET_ITEM(sources.get(), at), zeros));
    }
    return Py_NewRef(out.get());
  });
}

PyObject* begin_many(PyObject* self, PyObject*) {
  PyTape* py = PyTape::of(self);
  const bool was_persistent = py->handler->is_persistent();
  if (!was_persistent) py->leave();
  py->handler->begin_many();
  return PyBool_FromLong(was_persistent);
}

PyObject* end_many(PyObject* self, PyObject* was_persistent) {
  PyTape::of(self)->handler->end_many(was_persistent == Py_True);
  Py_RETURN_NONE;
}

PyObject* reset(PyObject* self, PyObject*) {
  PyTape::of(self)->handler->reset();
  Py_RETURN_NONE;
}

PyObject* accessed_ids(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    const Ref out = Ref::checked(PyList_New(0));
    for (uint64_t id : PyTape::of(self)->handler->accessed_variables()) {
      const Ref number = Ref::checked(PyLong_FromUnsignedLongLong(id));
      check(PyList_Append(out.get(), number.get()));
    }
    return Py_NewRef(out.get());
  });
}

PyObject* get_recording(PyObject* self, void*) {
  const PyTape* py = PyTape::of(self);
  return PyBool_FromLong(py->is_on_stack && py->handler->is_recording());
}
int set_recording(PyObject* self, PyObject* value, void*) {
  const int on = value ? PyObject_IsTrue(value) : -1;
  if (on < 0) return -1;
  PyTape::of(self)->handler->set_recording(on == 1);
  return 0;
}
PyObject* get_persistent(PyObject* self, void*) {
  return PyBool_FromLong(PyTape::of(self)->handler->is_persistent());
}
PyObject* get_used_up(PyObject* self, void*) {
  return PyBool_FromLong(PyTape::of(self)->handler->is_used_up());
}
PyObject* get_kept_bytes(PyObject* self, void*) {
  return PyLong_FromLongLong(PyTape::of(self)->handler->kept_bytes());
}

PyGetSetDef tape_properties[] = {
    {"_recording", get_recording, set_recording, "Whether calls are recorded now.", nullptr},
    {"_persistent", get_persistent, nullptr, "Whether it can be asked several times.", nullptr},
    {"_used_up", get_used_up, nullptr, "Whether it has been asked and cannot be again.", nullptr},
    {"_kept_bytes", get_kept_bytes, nullptr, "Bytes kept for the way back.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef tape_methods[] = {
    {"__enter__", enter<autodiff::Tape>, METH_NOARGS, nullptr},
    {"__exit__", with_keywords(leave<autodiff::Tape>), METH_FASTCALL, nullptr},
    {"_watch", watch, METH_O, "Watches one tensor or variable."},
    {"_gradient", with_keywords(gradient), METH_FASTCALL,
     "Gradients of a list of targets by a list of sources."},
    {"_accessed_ids", accessed_ids, METH_NOARGS, "Ids of the variables read so far."},
    {"_begin_many", begin_many, METH_NOARGS, "From now on it can be asked several times."},
    {"_end_many", end_many, METH_O, "Ends that, given what _begin_many answered."},
    {"_reset", reset, METH_NOARGS, "Forgets what was recorded."},
    {nullptr, nullptr, 0, nullptr}};

/// _watch(primal, tangent)
PyObject* watch_forward(PyObject* self, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject *primal = nullptr, *tangent = nullptr;
    if (!PyArg_ParseTuple(args, "OO!:_watch", &primal, tensor_type, &tangent)) throw PythonError{};
    const uint64_t id = id_of_object(primal);
    if (id == 0) raise(PyExc_TypeError, "a tensor or variable is wanted; %R was given", primal);
    PyForward::of(self)->handler->watch_id(id, tensor_of(tangent));
    Py_RETURN_NONE;
  });
}

PyObject* tangent_of(PyObject* self, PyObject* value) {
  return guarded([&]() -> PyObject* {
    Tensor tangent = PyForward::of(self)->handler->tangent_of(id_of_object(value));
    if (!tangent) Py_RETURN_NONE;
    return wrap(std::move(tangent));
  });
}

PyMethodDef forward_methods[] = {
    {"__enter__", enter<autodiff::ForwardAccumulator>, METH_NOARGS, nullptr},
    {"__exit__", with_keywords(leave<autodiff::ForwardAccumulator>), METH_FASTCALL, nullptr},
    {"_watch", watch_forward, METH_VARARGS, "Sets how a tensor or variable moves."},
    {"_tangent", tangent_of, METH_O, "How a tensor moves; None: not at all."},
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef recording_pause_methods[] = {
    {"__enter__", enter<autodiff::RecordingPause>, METH_NOARGS, nullptr},
    {"__exit__", with_keywords(leave<autodiff::RecordingPause>), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr}};

/// record_custom(inputs, outputs, function)
PyObject* record(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject *inputs = nullptr, *outputs = nullptr, *function = nullptr;
    if (!PyArg_ParseTuple(args, "OOO:record_custom", &inputs, &outputs, &function)) {
      throw PythonError{};
    }
    const GilHeld held;
    autodiff::record_custom(tensors_from_list(inputs), tensors_from_list(outputs),
                            python_backward(function));
    Py_RETURN_NONE;
  });
}

void add_type(PyObject* module, const char* name, int size, std::vector<PyType_Slot> slots) {
  slots.push_back({0, nullptr});
  const std::string full = std::string("tidemark._tidemark.") + name;
  static auto& names = *new std::vector<std::string>;  // types keep the pointer
  names.reserve(8);
  names.push_back(full);
  PyType_Spec spec{names.back().c_str(), size, 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
  const Ref type = Ref::checked(PyType_FromSpec(&spec));
  check(PyModule_AddObjectRef(module, name, type.get()));
}

template <class Fn>
void* address(Fn* fn) {
  return reinterpret_cast<void*>(fn);
}

}  // namespace

PyMethodDef tape_functions[] = {
    {"record_custom", record, METH_VARARGS,
     "Records a step with a gradient of its own on all tapes: inputs, outputs, function."},
    {nullptr, nullptr, 0, nullptr}};

void initialize_tape_types(PyObject* module) {
  add_type(module, "Tape", sizeof(PyTape),
           {{Py_tp_new, address(new_tape)},
            {Py_tp_dealloc, address(dealloc<autodiff::Tape>)},
            {Py_tp_traverse, address(traverse_tape)},
            {Py_tp_clear, address(clear_tape)},
            {Py_tp_getset, tape_properties},
            {Py_tp_methods, tape_methods}});
  add_type(module, "ForwardAccumulator", sizeof(PyForward),
           {{Py_tp_new, address(make_plain<autodiff::ForwardAccumulator>)},
            {Py_tp_dealloc, address(dealloc<autodiff::ForwardAccumulator>)},
            {Py_tp_traverse, address(traverse_plain)},
            {Py_tp_methods, forward_methods}});
  add_type(module, "RecordingPause", sizeof(PyRecordingPause),
           {{Py_tp_new, address(make_plain<autodiff::RecordingPause>)},
            {Py_tp_dealloc, address(dealloc<autodiff::RecordingPause>)},
            {Py_tp_traverse, address(traverse_plain)},
            {Py_tp_methods, recording_pause_methods}});
}

}  // namespace tidemark::python
