#include "function_type.h"
#include "calls.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <structmember.h>

#include "arguments.h"
#include "errors.h"
#include "frontend.h"
#include "interpreter_lock.h"
#include "op_call.h"
#include "trace_type.h"

namespace nb = nanobind;

namespace tidemark::python {

namespace {

/// The interpreter's lock, which calls hold anyway.
class InterpreterLock final : public trace::TraceLock {
 public:
  void run_alone(const std::function<void()>& work) override {
    if (Py_IsInitialized() == 0) return;
    const Locked locked;
    work();
  }
  void wait_for(std::recursive_mutex& tracing) override {
    if (tracing.try_lock()) return;
    if (Py_IsInitialized() == 0) {  // who traces sleeps by now
      fail<FailedPreconditionError>(
          "another thread was tracing the function when the interpreter ended");
    }
    const Unlocked meanwhile;
    tracing.lock();
  }
};

/// A call that no trace fits, while Python runs the function's code for it.
class PythonTracer final : public trace::Tracer {
 public:
  PythonTracer(PyObject* function, PyObject* call) : function_(function), call_(call) {}

  trace::TracePtr trace(const trace::Signature& wanted) override {
    static PyObject* const method = interned("_trace");
    nb::list args;
    for (const trace::Argument& arg : wanted.args) args.append(argument_object(arg));
    const Ref made = Ref::checked(call_method(function_, method, call_, args.ptr()));
    return share_trace(made.get());
  }
  trace::TracePtr try_trace(const trace::Signature& wanted) override {
    try {
      return trace(wanted);
    } catch (const PythonError&) {
      if (!PyErr_ExceptionMatches(PyExc_Exception)) throw;  // the user wants an end
      PyErr_Clear();
      return {};
    }
  }
  std::string name_of(size_t leaf) const override {
    static PyObject* const method = interned("_leaf_names");
    const nb::object names =
        nb::steal(Ref::checked(call_method(function_, method, call_)).release());
    return nb::cast<std::string>(names[leaf]);
  }
  std::string text_of(const trace::Argument& arg) const override { return python::text_of(arg); }

 private:
  PyObject *function_, *call_;  // the caller's
};

/// _get_trace(call): the trace for it, made where there is none.
PyObject* get_trace(PyObject* self, PyObject* call) {
  return guarded([&]() -> PyObject* {
    const std::shared_ptr<trace::Traces> traces = function_of(self)->traces;
    PythonTracer tracer(self, call);
    const trace::Traces::Answer answer = traces->get(signature_of(call), tracer);
    PyObject* trace = trace_of(answer.trace).object;
    if (answer.is_new) {
      static PyObject* const method = interned("_tell_of_trace");
      const Ref too_many = Ref::checked(PyLong_FromLong(answer.too_many));
      Ref::checked(call_method(self, method, trace, too_many.get()));
    }
    return Py_NewRef(trace);
  });
}

/// _get_exact_trace(call, reason): the one for just these arguments.
PyObject* get_exact_trace(PyObject* self, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject* call = nullptr;
    const char* reason = nullptr;
    if (!PyArg_ParseTuple(args, "Os:_get_exact_trace", &call, &reason)) throw PythonError{};
    const std::shared_ptr<trace::Traces> traces = function_of(self)->traces;
    PythonTracer tracer(self, call);
    const trace::TracePtr trace = traces->get_exactly(signature_of(call), tracer, reason);
    return Py_NewRef(trace_of(trace).object);
  });
}

/// _declare(args): what to trace for, whatever calls give.
PyObject* declare(PyObject* self, PyObject* args) {
  return guarded([&]() -> PyObject* {
    function_of(self)->traces->declare(arguments_from(args));
    Py_RETURN_NONE;
  });
}

PyObject* get_traces(PyObject* self, void*) {
  return guarded([&] {
    nb::list out;
    for (const trace::TracePtr& trace : function_of(self)->traces->kept()) {
      out.append(nb::handle(trace_of(trace).object));
    }
    return out.release().ptr();
  });
}

PyObject* get_made(PyObject* self, void*) {
  return PyLong_FromUnsignedLongLong(function_of(self)->traces->made());
}

PyObject* new_function(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* object = type->tp_alloc(type, 0);
  if (!object) return nullptr;
  function_of(object)->vectorcall = call_function;
  new (&function_of(object)->traces)
      std::shared_ptr(std::make_shared<trace::Traces>(std::make_unique<InterpreterLock>()));
  return object;
}

int clear(PyObject* object) {
  Py_CLEAR(function_of(object)->dict);
  const std::vector<trace::TracePtr> gone = function_of(object)->traces->clear();
  return 0;
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(function_of(object)->dict);
  for (const trace::TracePtr& trace : function_of(object)->traces->unlocked()) {
    if (trace.use_count() > 1) continue;  // others keep it, too
    Py_VISIT(trace_of(trace).object);
  }
  return 0;
}

void dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  if (function_of(object)->weakrefs) PyObject_ClearWeakRefs(object);
  clear(object);
  function_of(object)->traces.~shared_ptr();
  type->tp_free(object);
  Py_DECREF(type);
}

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyFunction, weakrefs), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(PyFunction, dict), READONLY, nullptr},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PyFunction, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyGetSetDef properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"_traces", get_traces, nullptr, "Those kept, the newest last.", nullptr},
    {"_made", get_made, nullptr, "How often the code was traced.", nullptr},
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
    {"_get_trace", get_trace, METH_O, "The trace for a call, made where there is none."},
    {"_get_exact_trace", get_exact_trace, METH_VARARGS, "The trace for just a call's arguments."},
    {"_declare", declare, METH_O, "What to trace for, whatever calls give."},
    {nullptr, nullptr, 0, nullptr}};

template <class Fn>
void* address(Fn* fn) {
  return reinterpret_cast<void*>(fn);
}

}  // namespace

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
