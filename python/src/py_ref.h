// Owning references to Python objects, and C++ exceptions that stand for a Python error.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <utility>

#include "interpreter_end.h"

namespace tidemark::python {

/// A Python error is set; carried through C++ frames up to the boundary.
struct PythonError {};

class Ref {
 public:
  Ref() noexcept = default;
  static Ref steal(PyObject* object) noexcept { return Ref(object); }
  static Ref borrow(PyObject* object) noexcept { return Ref(Py_XNewRef(object)); }
  /// Takes a new reference; throws PythonError when a call of the C API returned null.
  static Ref checked(PyObject* object) {
    if (!object) throw PythonError{};
    return Ref(object);
  }
  Ref(const Ref& other) noexcept : object_(Py_XNewRef(other.object_)) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }

  PyObject* get() const noexcept { return object_; }
  PyObject* release() noexcept { return std::exchange(object_, nullptr); }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  explicit Ref(PyObject* object) noexcept : object_(object) {}
  PyObject* object_ = nullptr;
};

/// Throws PythonError when a call of the C API answered -1.
inline void check(int status) {
  if (status < 0) throw PythonError{};
}

/// Sets a Python error with a printf-like text and throws PythonError.
template <class... Args>
[[noreturn, gnu::cold, gnu::noinline]] void raise(PyObject* type, const char* format,
                                                  Args... args) {
  PyErr_Format(type, format, args...);
  throw PythonError{};
}

/// A function that takes keywords, as the method table wants it.
template <class Fn>
PyCFunction with_keywords(Fn* fn) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(fn));
}

}  // namespace tidemark::python
