// Calls of Python code out of C++: each may meet the end of the interpreter, which must not unwind
// the frames that called (interpreter_end.h). Answers are new references, null with an error set.
#pragma once

#include "py_ref.h"

namespace tidemark::python {

template <class... Objects>
PyObject* call_object(PyObject* function, Objects*... arguments) {
  // The place before the arguments is for the callee, which may be a method.
  PyObject* const list[] = {nullptr, arguments...};
  constexpr size_t kCount = sizeof...(arguments) | PY_VECTORCALL_ARGUMENTS_OFFSET;
  return unless_at_end([&] { return PyObject_Vectorcall(function, list + 1, kCount, nullptr); });
}

/// With a tuple of arguments and a dict of named ones, or null.
inline PyObject* call_object_with(PyObject* function, PyObject* arguments,
                                  PyObject* named = nullptr) {
  return unless_at_end([&] { return PyObject_Call(function, arguments, named); });
}

/// By a name that is a Python string.
template <class... Objects>
PyObject* call_method(PyObject* self, PyObject* name, Objects*... arguments) {
  return unless_at_end(
      [&] { return PyObject_CallMethodObjArgs(self, name, arguments..., nullptr); });
}
inline PyObject* call_method(PyObject* self, const char* name) {
  return unless_at_end([&] { return PyObject_CallMethod(self, name, nullptr); });
}
/// The format says how Py_BuildValue makes the arguments.
template <class... Values>
PyObject* call_method(PyObject* self, const char* name, const char* format, Values... values) {
  return unless_at_end([&] { return PyObject_CallMethod(self, name, format, values...); });
}

}  // namespace tidemark::python
