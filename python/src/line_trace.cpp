#include "line_trace.h"

#include <frameobject.h>

#include <unordered_map>

#include "calls.h"
#include "errors.h"

namespace tidemark::python {

namespace {

// Both are counted, and null while nobody asks. The interpreter's lock guards all of it.
PyObject* moved = nullptr;                                 // (file, line) → whether to go on
PyObject* belongs = nullptr;                               // file → whether it is the program's
std::unordered_map<PyCodeObject*, bool>* known = nullptr;  // codes are counted

bool is_programs(PyCodeObject* code) {
  const auto found = known->find(code);
  if (found != known->end()) return found->second;
  const Ref answer = Ref::checked(call_object(belongs, code->co_filename));
  const int is = PyObject_IsTrue(answer.get());
  check(is);
  Py_INCREF(code);
  known->emplace(code, is != 0);
  return is != 0;
}

int at_event(PyObject*, PyFrameObject* frame, int what, PyObject*);

/// Leaves alone the threads that somebody else traces: a debugger, a measure of coverage.
bool trace(bool on) {
  Py_tracefunc to = on ? at_event : nullptr;
#if PY_VERSION_HEX >= 0x030d0000
  Py_tracefunc now = PyThreadState_Get()->c_tracefunc;
  if (now != (on ? nullptr : at_event)) return false;
  PyEval_SetTraceAllThreads(to, nullptr);
  return true;
#else
  bool any = false;
  PyInterpreterState* all = PyThreadState_GetInterpreter(PyThreadState_Get());
  for (PyThreadState* at = PyInterpreterState_ThreadHead(all); at; at = PyThreadState_Next(at)) {
    if (at->c_tracefunc != (on ? nullptr : at_event)) continue;
    check(_PyEval_SetTrace(at, to, nullptr));
    any = true;
  }
  return any;
#endif
}

void stop() {
  if (!moved) return;
  trace(false);
  Py_CLEAR(moved);
  Py_CLEAR(belongs);
  for (const auto& [code, is] : *known) Py_DECREF(code);
  known->clear();
}

/// The program's frame that goes on where one ends; null: none.
Ref caller_of(PyFrameObject* frame) {
  Ref at = Ref::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(frame)));
  while (at) {
    auto* one = reinterpret_cast<PyFrameObject*>(at.get());
    const Ref code = Ref::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(one)));
    if (is_programs(reinterpret_cast<PyCodeObject*>(code.get()))) break;
    at = Ref::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(one)));
  }
  return at;
}

void tell(PyFrameObject* frame, int what) {
  const Ref code = Ref::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  if (!is_programs(reinterpret_cast<PyCodeObject*>(code.get()))) return;
  const Ref next =
      what == PyTrace_RETURN ? caller_of(frame) : Ref::borrow(reinterpret_cast<PyObject*>(frame));
  Ref file, line;
  if (next) {
    auto* at = reinterpret_cast<PyFrameObject*>(next.get());
    const Ref its = Ref::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(at)));
    file = Ref::borrow(reinterpret_cast<PyCodeObject*>(its.get())->co_filename);
    line = Ref::checked(PyLong_FromLong(PyFrame_GetLineNumber(at)));
  } else {
    file = Ref::checked(PyUnicode_FromString(""));
    line = Ref::checked(PyLong_FromLong(0));
  }
  const Ref keep = Ref::borrow(moved);
  if (!keep) return;  // another thread has ended it meanwhile
  const Ref answer = Ref::checked(call_object(keep.get(), file.get(), line.get()));
  if (PyObject_IsTrue(answer.get()) == 0) stop();
}

/// The program is not to notice: what goes wrong here is reported, and ends the trace.
int at_event(PyObject*, PyFrameObject* frame, int what, PyObject*) {
  const bool is_move = what == PyTrace_CALL || what == PyTrace_LINE || what == PyTrace_RETURN;
  if (!is_move || !moved) return 0;
  PyObject *type, *value, *traceback;  // of an exception on its way through the frame
  PyErr_Fetch(&type, &value, &traceback);
  const auto told = guarded([&]() -> int {
    tell(frame, what);
    return 0;
  });
  if (told < 0) {
    PyErr_WriteUnraisable(moved);
    stop();
  }
  PyErr_Restore(type, value, traceback);
  return 0;
}

PyObject* start_line_trace(PyObject*, PyObject* args) {
  PyObject *to = nullptr, *question = nullptr;
  if (!PyArg_ParseTuple(args, "OO:start_line_trace", &to, &question)) return nullptr;
  return guarded([&]() -> PyObject* {
    if (moved) return Py_NewRef(Py_False);
    if (!known) known = new std::unordered_map<PyCodeObject*, bool>;
    moved = Py_NewRef(to);
    belongs = Py_NewRef(question);
    if (trace(true)) return Py_NewRef(Py_True);
    stop();
    return Py_NewRef(Py_False);
  });
}

PyObject* trace_lines_here(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    PyEval_SetTrace(moved ? at_event : nullptr, nullptr);
    Py_RETURN_NONE;
  });
}

PyObject* stop_line_trace(PyObject*, PyObject*) {
  return guarded([]() -> PyObject* {
    stop();
    Py_RETURN_NONE;
  });
}

}  // namespace

PyMethodDef line_trace_methods[] = {
    {"start_line_trace", start_line_trace, METH_VARARGS,
     "(moved, belongs): from now on moved(file, line) is called before each line of a file for "
     "which belongs(file) holds, when one of its functions begins, and when one ends (with the "
     "line that goes on), in all threads, until it answers False. False: there is a trace "
     "already."},
    {"trace_lines_here", trace_lines_here, METH_NOARGS,
     "For a thread that began since: its lines, too, as long as start_line_trace holds."},
    {"stop_line_trace", stop_line_trace, METH_NOARGS, "Ends what start_line_trace began."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace tidemark::python
