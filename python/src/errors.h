// From C++ exceptions to Python's: tidemark::Error of each code becomes tf.errors.*.
#pragma once

#include "py_ref.h"

namespace tidemark::python {

/// To be called inside a catch block: sets the Python error for the exception being handled.
void set_error_from_exception() noexcept;

/// Runs `fn` and hands its result to the interpreter; on an exception sets the Python error and
/// answers null (or -1 for a status).
template <class Fn>
auto guarded(Fn&& fn) noexcept -> decltype(fn()) {
  try {
    return fn();
  } catch (const abi::__forced_unwind&) {
    sleep_until_the_end();
  } catch (...) {
    set_error_from_exception();
    if constexpr (std::is_pointer_v<decltype(fn())>) {
      return nullptr;
    } else {
      return -1;
    }
  }
}

/// To be called with a Python error set: throws an exception that holds it, for threads that are
/// none of Python's, where what is set goes with the lock.
[[noreturn]] void throw_held_error();

/// To be called with a Python error set: what `ask` answers, a new reference, in its place. The
/// error stays where that is null without another one.
template <typename Ask>
PyObject* answer_instead_of_error(Ask&& ask) noexcept {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyObject* answer = guarded(ask);
  if (answer || PyErr_Occurred()) {
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
  } else {
    PyErr_Restore(type, value, traceback);
  }
  return answer;
}

/// The class for Python uses of a tensor that has no value yet. Borrowed.
PyObject* operator_not_allowed() noexcept;

/// The class for a value that only a run can tell which is also a `kind`: AttributeError,
/// NotImplementedError or TypeError, as TensorFlow raises. Borrowed.
PyObject* value_unknown(PyObject* kind) noexcept;

/// set_error_classes({code: class}): classes are called with (node_def, op, message), but for those
/// that operator_not_allowed and value_unknown give, which take a message alone. Beside
/// TensorFlow's codes there are those named in errors.cpp.
PyObject* set_error_classes(PyObject* module, PyObject* classes);

}  // namespace tidemark::python
