// The arguments of a Python call as traces compare them: tensors, numbers, values, objects.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "tidemark/trace/signature.h"

#include "tensor_type.h"

namespace tidemark::python {

/// A value, which is kept; or an object, or a bound method of one, which is not.
class PyValue final : public trace::Value {
 public:
  static std::unique_ptr<PyValue> worth(PyObject* value);
  /// `function`: of a bound method, else null. Throws PythonError where there can be no weak
  /// reference to the object.
  static std::unique_ptr<PyValue> identity(PyObject* object, PyObject* function = nullptr);

  std::unique_ptr<Value> copy() const override { return std::make_unique<PyValue>(*this); }
  /// By Python's own comparison. Throws PythonError where that does.
  bool is_same(const Value& other) const override;
  bool is_object() const override { return is_object_; }

  /// Whether it is this object, or an equal number or text. Runs nobody's code; what would need
  /// that counts as another value.
  bool is_plainly(PyObject* given) const {
    if (is_object_) {
      const bool is_method = PyMethod_Check(given);
      if (is_method != bool(function_)) return false;
      if (is_method && PyMethod_GET_FUNCTION(given) != function_.get()) return false;
      PyObject* mine = PyWeakref_GetObject(held_.get());
      return mine == (is_method ? PyMethod_GET_SELF(given) : given) && mine != Py_None;
    }
    if (given == held_.get()) return true;
    if (Py_TYPE(given) != Py_TYPE(held_.get()) || !is_plain(given)) return false;
    return PyObject_RichCompareBool(given, held_.get(), Py_EQ) == 1;
  }

  /// The value, or the object while it lives; null: it has gone, or is a method. Borrowed.
  PyObject* get() const;
  /// "Config object"
  const std::string& name() const { return name_; }
  int visit(visitproc visit, void* arg) const;

 private:
  static bool is_plain(PyObject* value) {
    return PyLong_CheckExact(value) || PyFloat_CheckExact(value) || PyUnicode_CheckExact(value) ||
           PyBytes_CheckExact(value);
  }

  Ref held_;      // the value; of an object a weak reference
  Ref function_;  // of a bound method
  std::string name_;
  bool is_object_ = false;
};

/// How leaves are put together, as a value that Python compares.
class PyStructure final : public trace::Structure {
 public:
  explicit PyStructure(PyObject* token) : token_(Ref::borrow(token)) {}
  bool is_same(const Structure& other) const override;
  PyObject* token() const { return token_.get(); }

 private:
  Ref token_;
};

/// The dtype that carries any number of the value's type; invalid: it is no number.
inline DType number_dtype(PyObject* value) {
  if (PyFloat_CheckExact(value)) return DType::float64;
  if (PyLong_CheckExact(value)) return DType::int64;
  return PyComplex_CheckExact(value) ? DType::complex128 : DType::invalid;
}

/// A leaf as what a call gives, not described yet.
struct GivenObject {
  PyObject* given;
  const Tensor* tensor() const { return is_tensor(given) ? &tensor_of(given) : nullptr; }
  DType number() const { return number_dtype(given); }
  bool is(const trace::Value& value) const {
    return static_cast<const PyValue&>(value).is_plainly(given);
  }
};

/// What a trace depends on of one leaf. Throws PythonError for what can be told apart neither by
/// identity nor by worth.
trace::Argument describe(PyObject* leaf);
/// Of a call's `token` (a number: that many leaves, which are the arguments) and `leaves`.
trace::Signature signature_of(PyObject* call);
std::shared_ptr<const trace::Structure> structure_of(PyObject* token);
std::vector<trace::Argument> arguments_from(PyObject* sequence);

/// As Python's users read it: "float32[2, None]", "any float", "'text'".
std::string text_of(const trace::Argument& arg);
nanobind::object argument_object(const trace::Argument& arg);

void add_argument_type(nanobind::module_& m);

}  // namespace tidemark::python
