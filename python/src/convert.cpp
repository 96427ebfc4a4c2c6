#include "convert.h"
#include "calls.h"

#include <cstring>
#include <vector>

#include "tidemark/tensor/storage.h"

#include "errors.h"
#include "frontend.h"
#include "numpy_api.h"
#include "op_call.h"
#include "tensor_type.h"
#include "variable_type.h"

namespace tidemark::python {

namespace {

int kind_of(DType d) {
  if (d == DType::bool_) return 0;
  if (is_integer(d)) return 1;
  if (is_floating(d)) return 2;
  return is_complex(d) ? 3 : -1;
}

[[noreturn]] void raise_other_dtype(PyObject* value, DType dtype, bool copy) {
  const Ref wanted = Ref::checked(dtype_object(dtype));
  const Ref given = Ref::checked(dtype_object(tensor_of(value).dtype()));
  if (copy) {
    const Ref text = Ref::checked(PyUnicode_FromString(
        is_symbolic(tensor_of(value)) ? "<symbolic>" : tensor_of(value).to_string().c_str()));
    raise(PyExc_TypeError, "Expected tensor %U with dtype %R, but got dtype %R.", text.get(),
          wanted.get(), given.get());
  }
  raise(PyExc_ValueError, "Tensor conversion requested dtype %s for Tensor with dtype %s: %R",
        std::string(name_of(dtype)).c_str(), std::string(name_of(tensor_of(value).dtype())).c_str(),
        value);
}

/// Looked up on the type, as Python does for its own special methods. Empty: there is none.
Ref special_method(PyObject* value, PyObject* name) {
  PyObject* function = _PyType_Lookup(Py_TYPE(value), name);
  if (!function) return {};
  return Ref::checked(PyObject_GetAttr(value, name));
}

bool has_attribute(PyObject* value, const char* name) {
  const Ref attribute = Ref::steal(PyObject_GetAttrString(value, name));
  if (attribute) return true;
  PyErr_Clear();
  return false;
}

PyObject* tf_tensor_name() {
  static PyObject* const name = interned("__tf_tensor__");
  return name;
}

Tensor tensor_from_result(const Ref& result, PyObject* value, ConvertOptions options) {
  if (!is_tensor(result.get())) {
    raise(PyExc_TypeError, "converting %R gave %R, which is no Tensor", value, result.get());
  }
  return to_tensor(result.get(), {options.dtype, false});
}

/// `__tf_tensor__(dtype, name)`, TensorFlow's protocol for variables and user types.
Tensor tensor_from_protocol(const Ref& method, PyObject* value, ConvertOptions options) {
  const Ref dtype = options.dtype == DType::invalid ? Ref::borrow(Py_None)
                                                    : Ref::checked(dtype_object(options.dtype));
  const Ref result = Ref::checked(call_object(method.get(), dtype.get(), Py_None));
  return tensor_from_result(result, value, options);
}

Tensor tensor_from_hook(PyObject* value, ConvertOptions options) {
  PyObject* hook = conversion_hook();
  if (!hook) return {};
  const Ref wanted = Ref::checked(PyLong_FromLong(static_cast<long>(options.dtype)));
  const Ref result = Ref::checked(call_object(hook, value, wanted.get()));
  if (result.get() == Py_NotImplemented) return {};
  return tensor_from_result(result, value, options);
}

Tensor with_dtype(Tensor t, PyObject* value, ConvertOptions options) {
  if (options.dtype == DType::invalid || t.dtype() == options.dtype) return t;
  const Ref array = Ref::checked(wrap(std::move(t)));
  if (tensor_of(array.get()).dtype() == DType::string) raise_cannot_convert(value, options.dtype);
  const Ref shared = Ref::steal(array_of_tensor(array.get()));
  return tensor_from_array(shared.get(), options);
}

bool lies_on_cpu(PyObject* value) {
  const Ref device = Ref::steal(call_method(value, "__dlpack_device__"));
  constexpr int kCpu = 1;
  int type = 0;
  int number = 0;
  if (device && PyTuple_Check(device.get()) &&
      PyArg_ParseTuple(device.get(), "ii", &type, &number)) {
    return type == kCpu;
  }
  PyErr_Clear();
  return false;
}

/// Objects that hold an array of their own, by whatever protocol they offer.
Tensor tensor_from_foreign(PyObject* value, ConvertOptions options) {
  if (PyObject_CheckBuffer(value)) return tensor_from_array(value, options);
  if (PyType_Check(value)) return {};
  if (has_attribute(value, "__dlpack__") && lies_on_cpu(value)) {
    return with_dtype(tensor_from_dlpack(value, options.copy), value, options);
  }
  if (has_attribute(value, "__array_interface__")) {
    return with_dtype(tensor_from_array_interface(value, options), value, options);
  }
  if (has_attribute(value, "__array__")) {
    const Ref array = Ref::checked(call_method(numpy().module, "asarray", "O", value));
    if (is_ndarray(array.get())) return tensor_from_array(array.get(), options);
  }
  return {};
}

Tensor tensor_from_sequence(PyObject* value, ConvertOptions options) {
  if (!PySequence_Check(value) || PyDict_Check(value) || PyType_Check(value)) return {};
  const Ref list = Ref::checked(PySequence_List(value));
  return tensor_from_list(list.get(), options);
}

Tensor tensor_from_shape_object(PyObject* value, ConvertOptions options) {
  const Ref sizes = Ref::checked(call_method(value, "as_list"));
  const Ref list = Ref::checked(PySequence_List(sizes.get()));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list.get()); ++i) {
    if (PyList_GET_ITEM(list.get(), i) != Py_None) continue;
    raise(PyExc_ValueError, "Cannot convert a partially known TensorShape %S to a Tensor.", value);
  }
  if (PyList_GET_SIZE(list.get()) == 0 && options.dtype == DType::invalid) {
    options.dtype = DType::int32;
  }
  return tensor_from_list(list.get(), options);
}

Tensor filled(const Tensor& value, const Shape& shape) {
  const int64_t count = shape.num_elements();
  if (value.dtype() == DType::string) {
    const std::vector<std::string_view> texts(static_cast<size_t>(count), value.string_at(0));
    return Tensor::of_strings(texts, shape);
  }
  Tensor out = new_tensor(value.dtype(), shape);
  const size_t size = size_of(value.dtype());
  auto* to = static_cast<char*>(out.mutable_raw_data());
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * int64_t(size), value.raw_data(), size);
  return out;
}

Tensor with_shape(const Tensor& t, PyObject* value, const Shape& shape) {
  if (!shape.is_fully_known()) {
    raise(PyExc_ValueError, "a constant needs a fully known shape; %s was given",
          shape.to_string().c_str());
  }
  if (t.shape() == shape) return t;
  const int64_t wanted = shape.num_elements();
  if (t.num_elements() == wanted) return t.reshaped(shape);
  if (t.num_elements() == 1) return filled(t, shape);
  raise(PyExc_TypeError,
        "Eager execution of tf.constant with unsupported shape. Tensor %s (converted from %R) has "
        "%lld elements, but got `shape` %s with %lld elements).",
        t.to_string().c_str(), value, static_cast<long long>(t.num_elements()),
        shape.to_string().c_str(), static_cast<long long>(wanted));
}

/// convert(value, dtype_enum=0, shape=None, copy=True)
PyObject* convert_function(PyObject*, PyObject* args, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    PyObject *value = nullptr, *dtype = nullptr, *shape = Py_None;
    int copy = 1;
    static const char* names[] = {"value", "dtype_enum", "shape", "copy", nullptr};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OOp:convert", const_cast<char**>(names),
                                     &value, &dtype, &shape, &copy)) {
      throw PythonError{};
    }
    const MakingConstant making;
    ConvertOptions options{DType::invalid, copy != 0};
    if (dtype && PyLong_Check(dtype)) {
      options.dtype = dtype_from_enum(PyLong_AsLong(dtype));
    } else if (dtype && dtype != Py_None) {
      options.dtype = dtype_from_object(dtype);
    }
    if (shape == Py_None) return convert(value, options);
    return wrap(with_shape(to_tensor(value, options), value, shape_from_object(shape)));
  });
}

}  // namespace

const char* message_name(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return "float";
    case DType::float64:
      return "double";
    case DType::float16:
      return "half";
    default:
      return name_of(dtype).data();
  }
}

void raise_cannot_convert(PyObject* value, DType dtype) {
  raise(PyExc_TypeError, "Cannot convert %R to EagerTensor of dtype %s", value,
        message_name(dtype));
}

void raise_unsupported(PyObject* value) {
  raise(PyExc_ValueError,
        "Attempt to convert a value (%R) with an unsupported type (%R) to a Tensor.", value,
        Py_TYPE(value));
}

DType adapted_dtype(DType value, DType beside) {
  const int mine = kind_of(value);
  const int theirs = kind_of(beside);
  if (mine < 0 || theirs < 0) return value;
  if (mine <= theirs) return beside;
  if (mine == 3 && theirs == 2) {
    return beside == DType::float64 ? DType::complex128 : DType::complex64;
  }
  return value;
}

bool converts_itself(PyObject* value) {
  return is_tensor(value) || is_variable(value) || _PyType_Lookup(Py_TYPE(value), tf_tensor_name());
}

Tensor to_tensor(PyObject* value, ConvertOptions options) {
  if (is_tensor(value)) {
    const Tensor& t = tensor_of(value);
    if (options.dtype != DType::invalid && options.dtype != t.dtype()) {
      raise_other_dtype(value, options.dtype, options.copy);
    }
    return t;
  }
  if (PyList_CheckExact(value) || PyTuple_CheckExact(value)) {
    return tensor_from_list(value, options);
  }
  if (is_variable(value)) {
    Tensor t = operand_of(value);
    if (options.dtype == DType::invalid || options.dtype == t.dtype()) return t;
    const Ref given = Ref::checked(wrap(std::move(t)));
    raise_other_dtype(given.get(), options.dtype, options.copy);
  }
  if (is_ndarray(value)) return tensor_from_array(value, options);
  if (is_numpy_scalar(value)) {  // whose own buffer does not always tell its dtype
    const Ref array = Ref::checked(call_method(numpy().module, "asarray", "O", value));
    return tensor_from_array(array.get(), options);
  }
  if (Tensor t = tensor_from_scalar(value, options.dtype)) return t;
  if (is_shape_object(value)) return tensor_from_shape_object(value, options);
  if (const Ref method = special_method(value, tf_tensor_name())) {
    return tensor_from_protocol(method, value, options);
  }
  if (Tensor t = tensor_from_hook(value, options)) return t;
  if (PyList_Check(value) || PyTuple_Check(value)) return tensor_from_list(value, options);
  if (Tensor t = tensor_from_foreign(value, options)) return t;
  if (Tensor t = tensor_from_sequence(value, options)) return t;
  raise_unsupported(value);
}

PyObject* convert(PyObject* value, ConvertOptions options) {
  if (is_tensor(value) &&
      (options.dtype == DType::invalid || options.dtype == tensor_of(value).dtype())) {
    return Py_NewRef(value);
  }
  if (is_variable(value)) {
    to_tensor(value, options);  // for its check of the dtype
    return Ref::checked(wrap(reading_of(value))).release();
  }
  return Ref::checked(wrap(to_tensor(value, options))).release();
}

PyMethodDef convert_methods[] = {
    {"convert", with_keywords(convert_function), METH_VARARGS | METH_KEYWORDS,
     "convert(value, dtype_enum=0, shape=None, copy=True)\n--\n\nThe value as a Tensor. With "
     "copy=False an array's memory is shared where layout and alignment allow it."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace tidemark::python
