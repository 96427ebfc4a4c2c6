#include "errors.h"
#include "calls.h"

#include <nanobind/nanobind.h>
#include <tidemark/error.h>

#include <new>
#include <string>

#include "tidemark/graph/graph.h"
#include "tidemark/graph/node.h"
#include "tidemark/ops/missing_gradient.h"
#include "tidemark/ops/refused.h"
#include "tidemark/trace/builder.h"
#include "tidemark/trace/infer.h"

namespace tidemark::python {

namespace {

/// A bad argument for which TensorFlow raises a ValueError: any found while a graph is being built.
constexpr int kBadArgumentInTrace = 17;
constexpr int kOperatorNotAllowed = 18;
constexpr int kMissingGradient = 19;
/// A size or a value that only a run can tell; the last three are also what TensorFlow raises for
/// the way in which it was asked for.
constexpr int kValueUnknown = 20;
constexpr int kUnknownAttribute = 21;
constexpr int kUnknownNotImplemented = 22;
constexpr int kUnknownType = 23;
/// An op refused sizes that were imagined for unknown ones.
constexpr int kImaginedSizes = 24;
/// A dtype that the op does not take, found while a graph is being built: a TypeError there.
constexpr int kRefusedDTypeInTrace = 25;
constexpr int kCodes = 26;
PyObject* error_classes[kCodes] = {};  // strong, null until registered

void set_numbered_error(int number, const char* text) noexcept {
  PyObject* type = number > 0 && number < kCodes ? error_classes[number] : nullptr;
  if (!type) {
    PyErr_SetString(PyExc_RuntimeError, text);
    return;
  }
  // A message may quote the bytes of a string tensor, whatever they are.
  const Ref message = Ref::steal(PyUnicode_DecodeUTF8(
      text, static_cast<Py_ssize_t>(std::char_traits<char>::length(text)), "backslashreplace"));
  if (!message) return;
  const Ref error = Ref::steal(call_object(type, Py_None, Py_None, message.get()));
  if (error) PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.get())), error.get());
}

void set_error(Code code, const char* text) noexcept {
  const bool bad_in_trace = code == Code::invalid_argument && trace::current_builder();
  set_numbered_error(bad_in_trace ? kBadArgumentInTrace : static_cast<int>(code), text);
}

}  // namespace

void throw_held_error() {
  const nanobind::python_error error;
  throw nanobind::python_error(error);
}

void set_error_from_exception() noexcept {
  try {
    throw;
  } catch (const PythonError&) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "an error without a cause");
  } catch (const nanobind::python_error& e) {
    nanobind::python_error copy(e);  // the exception may be thrown again, for another who asks
    copy.restore();
  } catch (const OutOfScopeError& e) {
    const trace::GraphBuilder* builder = trace::current_builder();
    PyErr_SetString(builder && builder->is_shared() ? PyExc_ValueError : PyExc_TypeError, e.what());
  } catch (const MissingGradientError& e) {
    set_numbered_error(kMissingGradient, e.what());
  } catch (const trace::ImaginedSizesError& e) {
    set_numbered_error(kImaginedSizes, e.what());
  } catch (const ValueUnknownError& e) {
    set_numbered_error(kValueUnknown, e.what());
  } catch (const RefusedValueError& e) {
    set_numbered_error(kBadArgumentInTrace, e.what());
  } catch (const RefusedDTypeError& e) {
    if (!trace::current_builder()) return set_error(e.code(), e.what());
    set_numbered_error(kRefusedDTypeInTrace, e.what());
  } catch (const Error& e) {
    set_error(e.code(), e.what());
  } catch (const graph::FinalizedError& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (const std::bad_alloc&) {
    set_error(Code::resource_exhausted, "no memory left in the process for a small object");
  } catch (const std::exception& e) {
    set_error(Code::internal, e.what());
  } catch (...) {
    set_error(Code::unknown, "an exception of unknown type");
  }
}

PyObject* operator_not_allowed() noexcept {
  PyObject* type = error_classes[kOperatorNotAllowed];
  return type ? type : PyExc_TypeError;
}

PyObject* value_unknown(PyObject* kind) noexcept {
  const int number = kind == PyExc_AttributeError        ? kUnknownAttribute
                     : kind == PyExc_NotImplementedError ? kUnknownNotImplemented
                                                         : kUnknownType;
  PyObject* type = error_classes[number];
  return type ? type : kind;
}

PyObject* set_error_classes(PyObject*, PyObject* classes) {
  if (!PyDict_Check(classes)) {
    PyErr_SetString(PyExc_TypeError, "set_error_classes takes a dict {code: class}");
    return nullptr;
  }
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t position = 0; PyDict_Next(classes, &position, &key, &value);) {
    const long code = PyLong_AsLong(key);
    if (code == -1 && PyErr_Occurred()) return nullptr;
    if (code <= 0 || code >= kCodes || !PyCallable_Check(value)) {
      PyErr_Format(PyExc_ValueError, "no error class for code %ld: codes are 1 to %d", code,
                   kCodes - 1);
      return nullptr;
    }
    PyObject* old = std::exchange(error_classes[code], Py_NewRef(value));
    Py_XDECREF(old);
  }
  Py_RETURN_NONE;
}

}  // namespace tidemark::python
