// Arrays: NumPy's, and everything that exports a buffer. What an exporter says is checked before
// any of its memory is touched.
#include <cstring>
#include <memory>
#include <vector>

#include "calls.h"
#include "tidemark/tensor/storage.h"

#include "convert.h"
#include "errors.h"
#include "frontend.h"
#include "interpreter_lock.h"
#include "mapped_memory.h"
#include "numpy_api.h"
#include "tensor_type.h"

namespace tidemark::python {

namespace {

/// An exported buffer, given back at the end of the scope unless released.
class Exported {
 public:
  explicit Exported(PyObject* object) : view_(std::make_unique<Py_buffer>()) {
    is_open_ = PyObject_GetBuffer(object, view_.get(), PyBUF_FULL_RO) == 0;
  }
  ~Exported() {
    if (is_open_) PyBuffer_Release(view_.get());
  }
  Exported(const Exported&) = delete;
  Exported& operator=(const Exported&) = delete;

  bool is_open() const { return is_open_; }
  const Py_buffer& view() const { return *view_; }
  Py_buffer* release() {
    is_open_ = false;
    return view_.release();
  }

 private:
  std::unique_ptr<Py_buffer> view_;
  bool is_open_;
};

/// Called on any thread when the last tensor over the buffer goes.
void give_back_buffer(void* owner) {
  let_go([view = static_cast<Py_buffer*>(owner)] {
    PyBuffer_Release(view);
    delete view;
  });
}

DType dtype_of_format(const char* format, Py_ssize_t itemsize) {
  if (!format) return itemsize == 1 ? DType::uint8 : DType::invalid;
  const bool is_foreign = *format == '>' || *format == '!';
  if (*format && std::strchr("@=<>!", *format)) ++format;
  if (is_foreign && itemsize > 1) return DType::invalid;
  const std::string_view code(format);
  const auto sized = [&](DType one, DType two, DType four, DType eight) {
    return itemsize == 1   ? one
           : itemsize == 2 ? two
           : itemsize == 4 ? four
           : itemsize == 8 ? eight
                           : DType::invalid;
  };
  DType found = DType::invalid;
  if (code == "Zf") found = DType::complex64;
  if (code == "Zd") found = DType::complex128;
  if (code.size() == 1) {
    if (code == "?") found = DType::bool_;
    if (code == "e") found = DType::float16;
    if (code == "f") found = DType::float32;
    if (code == "d") found = DType::float64;
    if (std::strchr("bhilqn", code[0])) {
      found = sized(DType::int8, DType::int16, DType::int32, DType::int64);
    } else if (std::strchr("BHILQNc", code[0])) {
      found = sized(DType::uint8, DType::uint16, DType::uint32, DType::uint64);
    }
  }
  return size_of(found) == static_cast<size_t>(itemsize) ? found : DType::invalid;
}

/// The sizes a buffer says it has; throws ValueError when they contradict each other.
Shape checked_shape(const Py_buffer& view, PyObject* owner) {
  const auto lies = [&](const char* what) {
    raise(PyExc_ValueError, "the buffer of %R is not what it says: %s",
          reinterpret_cast<PyObject*>(Py_TYPE(owner)), what);
  };
  if (view.ndim < 0 || view.ndim > 64) lies("its number of dimensions is out of range");
  if (view.itemsize <= 0 || view.len < 0) lies("its sizes are not positive");
  Shape shape;
  if (view.ndim > 0 && !view.shape) {
    if (view.ndim != 1 || view.len % view.itemsize != 0) lies("it has no shape");
    shape.push_back(view.len / view.itemsize);
  }
  int64_t bytes = view.itemsize;
  for (int i = 0; view.shape && i < view.ndim; ++i) {
    if (view.shape[i] < 0) lies("a dimension is negative");
    if (__builtin_mul_overflow(bytes, int64_t{view.shape[i]}, &bytes)) lies("it is too large");
    shape.push_back(view.shape[i]);
  }
  if (view.shape && bytes != view.len) lies("its length is not the product of its sizes");
  if (view.len > 0 && !view.buf) lies("it has no memory");
  return shape;
}

bool is_aligned(const Py_buffer& view, DType dtype) {
  const size_t size = size_of(dtype);
  const size_t alignment = is_complex(dtype) ? size / 2 : size;
  return reinterpret_cast<uintptr_t>(view.buf) % alignment == 0;
}

/// A NumPy array that writes into the tensor, for NumPy to convert and copy into.
Ref writable_array(const Tensor& t) {
  const Ref memory = Ref::checked(PyMemoryView_FromMemory(
      static_cast<char*>(t.mutable_raw_data()), static_cast<Py_ssize_t>(t.nbytes()), PyBUF_WRITE));
  const Ref shape = Ref::checked(shape_tuple(t.shape()));
  PyObject* arguments[] = {shape.get(), numpy_dtype(t.dtype()), memory.get()};
  return Ref::checked(
      PyObject_Vectorcall(reinterpret_cast<PyObject*>(numpy().ndarray), arguments, 3, nullptr));
}

/// Any layout, any byte order, any dtype NumPy can convert: NumPy copies into the new tensor.
Tensor copied_by_numpy(PyObject* array, DType dtype) {
  const Ref sizes = Ref::checked(PyObject_GetAttrString(array, "shape"));
  Tensor out = new_tensor(dtype, shape_from_object(sizes.get()));
  if (out.num_elements() == 0) return out;
  const Ref target = writable_array(out);
  const Ref done =
      Ref::checked(call_method(numpy().module, "copyto", "OOs", target.get(), array, "unsafe"));
  return out;
}

/// Arrays of Python strings, or of NumPy's fixed-width ones.
Tensor strings_of_array(PyObject* array, DType wanted) {
  const Ref sizes = Ref::checked(PyObject_GetAttrString(array, "shape"));
  const Shape shape = shape_from_object(sizes.get());
  const Ref flat = Ref::checked(call_method(array, "ravel"));
  const Ref list = Ref::checked(call_method(flat.get(), "tolist"));
  if (shape.num_elements() == 0) return new_tensor(DType::string, shape);
  Tensor t = tensor_from_list(list.get(), {wanted, true});
  if (t.num_elements() != shape.num_elements()) {
    raise(PyExc_ValueError,
          "Failed to convert a NumPy array to a Tensor (Unsupported object type "
          "list).");
  }
  return t.reshaped(shape);
}

[[noreturn]] void raise_numpy_type(PyObject* np_dtype) {
  raise(PyExc_ValueError,
        "Failed to convert a NumPy array to a Tensor (Unsupported numpy type: %S).", np_dtype);
}

/// Arrays that need more than their bytes taken as they are.
Tensor tensor_through_numpy(PyObject* array, DType wanted) {
  const Ref np_dtype = Ref::checked(PyObject_GetAttrString(array, "dtype"));
  const DType own = dtype_of_numpy(np_dtype.get());
  if (own == DType::string) return strings_of_array(array, wanted);
  if (own == DType::invalid) {
    const Ref native = Ref::checked(call_method(np_dtype.get(), "newbyteorder", "s", "="));
    if (dtype_of_numpy(native.get()) == DType::invalid) raise_numpy_type(np_dtype.get());
  }
  if (wanted == DType::string) raise_cannot_convert(array, wanted);
  return copied_by_numpy(array, wanted == DType::invalid ? own : wanted);
}

Tensor tensor_from_view(Exported& exported, PyObject* owner, DType dtype, bool copy) {
  const Py_buffer& view = exported.view();
  const Shape shape = checked_shape(view, owner);
  if (copy || !is_aligned(view, dtype) || view.len == 0) {
    Tensor out = new_tensor(dtype, shape);
    if (view.len > 0) std::memcpy(out.mutable_raw_data(), view.buf, static_cast<size_t>(view.len));
    return out;
  }
  void* data = view.buf;
  // Never written through, even where the exporter would allow it: its owner would see that.
  return borrowed_tensor(dtype, shape, data, true, give_back_buffer, exported.release());
}

/// What the interface says, checked: data pointer, sizes, strides.
void check_interface(PyObject* interface, PyObject* value) {
  const auto lies = [&](const char* what) {
    raise(PyExc_ValueError, "`__array_interface__` of %R is not what it says: %s",
          reinterpret_cast<PyObject*>(Py_TYPE(value)), what);
  };
  if (!PyDict_Check(interface)) lies("it is no dict");
  PyObject* shape = PyDict_GetItemString(interface, "shape");
  PyObject* type = PyDict_GetItemString(interface, "typestr");
  PyObject* data = PyDict_GetItemString(interface, "data");
  PyObject* strides = PyDict_GetItemString(interface, "strides");
  if (!shape || !PyTuple_Check(shape) || !type || !PyUnicode_Check(type)) {
    lies("it needs `shape` and `typestr`");
  }
  if (!data || !PyTuple_Check(data)) return;  // the object's own buffer, which NumPy checks
  const char* code = PyUnicode_AsUTF8(type);
  const long item = code && std::strlen(code) > 2 ? std::strtol(code + 2, nullptr, 10) : 0;
  if (item <= 0 || PyTuple_GET_SIZE(data) < 1) lies("its `typestr` or `data` is malformed");
  const auto address = reinterpret_cast<uintptr_t>(PyLong_AsVoidPtr(PyTuple_GET_ITEM(data, 0)));
  if (PyErr_Occurred()) throw PythonError{};
  const Shape sizes = shape_from_object(shape);
  const bool has_strides = strides && strides != Py_None;
  const Shape steps = has_strides ? shape_from_object(strides) : Shape{};
  if (has_strides && steps.rank() != sizes.rank()) lies("strides and shape differ in length");
  for (int64_t size : sizes) {
    if (size < 0) lies("a dimension is negative");
  }
  Reach reach;
  if (!find_reach(sizes.dims(), steps.dims(), 1, item, reach)) lies("it is too large");
  if (!is_mapped_memory(address, reach)) {
    lies("its memory is not there");
  }
}

}  // namespace

Tensor tensor_from_array(PyObject* array, ConvertOptions options) {
  Exported exported(array);
  if (exported.is_open()) {
    const Py_buffer& view = exported.view();
    const DType dtype = dtype_of_format(view.format, view.itemsize);
    const bool is_plain = !view.suboffsets && PyBuffer_IsContiguous(&view, 'C');
    if (dtype != DType::invalid && is_plain &&
        (options.dtype == DType::invalid || options.dtype == dtype)) {
      return tensor_from_view(exported, array, dtype, options.copy);
    }
    checked_shape(view, array);
  } else if (PyErr_ExceptionMatches(PyExc_BufferError) ||
             PyErr_ExceptionMatches(PyExc_ValueError)) {
    PyErr_Clear();  // no format for its dtype: NumPy knows more than the buffer protocol
  } else {
    throw PythonError{};
  }
  const Ref as_array = Ref::steal(call_method(numpy().module, "asarray", "O", array));
  if (!as_array && PyErr_ExceptionMatches(PyExc_RuntimeError)) {  // NumPy's answer to liars
    PyErr_Clear();
    raise(PyExc_ValueError, "the buffer of %R is not what it says",
          reinterpret_cast<PyObject*>(Py_TYPE(array)));
  }
  if (!as_array) throw PythonError{};
  return tensor_through_numpy(as_array.get(), options.dtype);
}

Tensor tensor_from_array_interface(PyObject* value, ConvertOptions options) {
  const Ref interface = Ref::checked(PyObject_GetAttrString(value, "__array_interface__"));
  check_interface(interface.get(), value);
  // NumPy reads what was checked, not what the object might say when it is asked again.
  const Ref types = Ref::checked(PyImport_ImportModule("types"));
  const Ref make = Ref::checked(PyObject_GetAttrString(types.get(), "SimpleNamespace"));
  const Ref fields =
      Ref::checked(Py_BuildValue("{sOsO}", "__array_interface__", interface.get(), "owner", value));
  const Ref nothing = Ref::checked(PyTuple_New(0));
  const Ref checked = Ref::checked(call_object_with(make.get(), nothing.get(), fields.get()));
  const Ref array = Ref::checked(call_method(numpy().module, "asarray", "O", checked.get()));
  return tensor_from_array(array.get(), options);
}

}  // namespace tidemark::python
