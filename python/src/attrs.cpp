// Attributes of ops from Python values, and back.
#include "convert.h"
#include "errors.h"
#include "frontend.h"
#include "op_call.h"
#include "tensor_type.h"
#include "tidemark/graph/node.h"

namespace tidemark::python {

namespace {

const char* kind_name(AttrKind kind) {
  switch (kind) {
    case AttrKind::boolean:
      return "bool";
    case AttrKind::integer:
      return "int";
    case AttrKind::real:
      return "float";
    case AttrKind::dtype:
      return "DType";
    case AttrKind::string:
      return "str";
    case AttrKind::ints:
      return "int or list of ints";
  }
  return "?";
}

/// Keeps errors that say more than "wrong type", like those of a tensor without a value.
[[noreturn]] void raise_wrong_type(const OpDef& op, const Param& param, PyObject* value) {
  if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError) &&
      !PyErr_ExceptionMatches(PyExc_AttributeError)) {
    throw PythonError{};
  }
  PyErr_Clear();
  raise(PyExc_TypeError, "%s: expected %s for argument '%s', got %R", op.name().c_str(),
        kind_name(param.attr_kind), param.name.c_str(), value);
}

/// The elements that a tensor of a graph has in every run, where they are known.
Tensor with_known_value(const Tensor& t) {
  if (!is_symbolic(t)) return t;
  Tensor known = graph::known_value(t);
  return known ? known : t;
}

int64_t integer_from(const OpDef& op, const Param& param, PyObject* value) {
  if (is_tensor(value) && is_symbolic(tensor_of(value))) {
    const Tensor known = with_known_value(tensor_of(value));
    check_has_value(known, param.name.c_str());
    if (is_integer(known.dtype()) && known.num_elements() == 1) return known.to_ints()[0];
  }
  const bool is_list = PyList_Check(value) || PyTuple_Check(value);
  if (is_list && param.name == "axis") {  // to TensorFlow a tensor, and one element is enough
    if (PySequence_Size(value) != 1) {
      raise(PyExc_ValueError, "%s: 'axis' must be a tensor with a single value, got %R",
            op.name().c_str(), value);
    }
    const Ref only = Ref::steal(PySequence_GetItem(value, 0));
    return integer_from(op, param, only.get());
  }
  const Ref number = Ref::steal(PyNumber_Index(value));
  if (!number) raise_wrong_type(op, param, value);
  const long long out = PyLong_AsLongLong(number.get());
  if (out == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    raise(PyExc_ValueError, "%s: argument '%s' does not fit in 64 bits: %R", op.name().c_str(),
          param.name.c_str(), value);
  }
  return out;
}

bool boolean_from(const OpDef& op, const Param& param, PyObject* value) {
  if (value == Py_True) return true;
  if (value == Py_False) return false;
  if (!PyNumber_Check(value) || PyFloat_Check(value)) raise_wrong_type(op, param, value);
  const int truth = PyObject_IsTrue(value);
  if (truth < 0) throw PythonError{};
  return truth == 1;
}

double real_from(const OpDef& op, const Param& param, PyObject* value) {
  const double out = PyFloat_AsDouble(value);
  if (out == -1.0 && PyErr_Occurred()) raise_wrong_type(op, param, value);
  return out;
}

std::string text_from(const OpDef& op, const Param& param, PyObject* value) {
  if (PyBytes_Check(value)) return {PyBytes_AS_STRING(value), size_t(PyBytes_GET_SIZE(value))};
  if (!PyUnicode_Check(value)) raise_wrong_type(op, param, value);
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(value, &size);
  if (!text) throw PythonError{};
  return {text, static_cast<size_t>(size)};
}

Ints ints_from_tensor(const OpDef& op, const Param& param, PyObject* value, const Tensor& given) {
  const Tensor t = with_known_value(given);
  check_has_value(t, param.name.c_str());
  if (t.num_elements() == 0) return {};
  if (!is_integer(t.dtype()) || t.rank() > 1) raise_wrong_type(op, param, value);
  return t.to_ints();
}

Ints ints_from(const OpDef& op, const Param& param, PyObject* value) {
  if (is_tensor(value)) return ints_from_tensor(op, param, value, tensor_of(value));
  if (PyLong_CheckExact(value)) return {integer_from(op, param, value)};
  if (is_shape_object(value)) {
    const Shape shape = shape_from_object(value);
    return {shape.begin(), shape.end()};
  }
  if (PyList_Check(value) || PyTuple_Check(value) || PyRange_Check(value)) {
    const Ref items = Ref::checked(PySequence_Tuple(value));
    Ints out;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) {
      out.push_back(integer_from(op, param, PyTuple_GET_ITEM(items.get(), i)));
    }
    return out;
  }
  if (PyIndex_Check(value)) {
    const Ref number = Ref::steal(PyNumber_Index(value));
    if (number) return {integer_from(op, param, number.get())};
    PyErr_Clear();  // an array of several integers
  }
  if (PyUnicode_Check(value) || PyBytes_Check(value) || PyFloat_Check(value)) {
    raise_wrong_type(op, param, value);
  }
  return ints_from_tensor(op, param, value, to_tensor(value, {DType::invalid, false}));
}

PyObject* tuple_of(const Ints& values) {
  Ref tuple = Ref::checked(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (size_t i = 0; i < values.size(); ++i) {
    PyObject* item = Ref::checked(PyLong_FromLongLong(values[i])).release();
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), item);
  }
  return tuple.release();
}

AttrKind kind_of(const Attr& attr) {
  // The order of Attr's constructors; none is handled by the caller.
  if (attr == Attr(true) || attr == Attr(false)) return AttrKind::boolean;
  const auto holds = [&](auto read) {
    try {
      read();
      return true;
    } catch (const std::bad_variant_access&) {
      return false;
    }
  };
  if (holds([&] { attr.as_int(); })) return AttrKind::integer;
  if (holds([&] { attr.as_real(); })) return AttrKind::real;
  if (holds([&] { attr.as_dtype(); })) return AttrKind::dtype;
  if (holds([&] { attr.as_string(); })) return AttrKind::string;
  return AttrKind::ints;
}

}  // namespace

Attr attr_from_object(const OpDef& op, const Param& param, PyObject* value) {
  if (value == Py_None) {
    if (param.optional || (!param.required && param.fallback.is_none())) return {};
    if (!param.required) return param.fallback;
    raise_wrong_type(op, param, value);
  }
  switch (param.attr_kind) {
    case AttrKind::boolean:
      return boolean_from(op, param, value);
    case AttrKind::integer:
      return integer_from(op, param, value);
    case AttrKind::real:
      return real_from(op, param, value);
    case AttrKind::dtype:
      return dtype_from_object(value);
    case AttrKind::string:
      return text_from(op, param, value);
    case AttrKind::ints:
      return ints_from(op, param, value);
  }
  return {};
}

std::vector<Attr> default_attrs(const OpDef& op) {
  std::vector<Attr> out;
  for (int index : op.attrs()) out.push_back(op.params()[static_cast<size_t>(index)].fallback);
  return out;
}

PyObject* object_from_attr(const Attr& attr) {
  if (attr.is_none()) return Py_NewRef(Py_None);
  switch (kind_of(attr)) {
    case AttrKind::boolean:
      return PyBool_FromLong(attr.as_bool());
    case AttrKind::integer:
      return PyLong_FromLongLong(attr.as_int());
    case AttrKind::real:
      return PyFloat_FromDouble(attr.as_real());
    case AttrKind::dtype:
      return dtype_object(attr.as_dtype());
    case AttrKind::string:
      return PyUnicode_FromStringAndSize(attr.as_string().data(),
                                         static_cast<Py_ssize_t>(attr.as_string().size()));
    case AttrKind::ints:
      return tuple_of(attr.as_ints());
  }
  return nullptr;
}

}  // namespace tidemark::python
