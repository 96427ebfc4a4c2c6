#include "frontend.h"
#include "calls.h"

#include <atomic>
#include <limits>
#include <vector>

#include "errors.h"
#include "tensor_type.h"

namespace tidemark::python {

namespace {

PyObject* dtype_objects[kDTypeSlots] = {};
PyObject* dtype_converter = nullptr;
PyObject* shape_class = nullptr;
PyObject* hook = nullptr;
PyObject* adapting_class = nullptr;
PyObject* getitem = nullptr;
PyObject* looker = nullptr;
constinit std::atomic<bool> has_looker{false};  // asked without the GIL

void replace(PyObject*& slot, PyObject* value) {
  PyObject* old = std::exchange(slot, value == Py_None ? nullptr : Py_NewRef(value));
  Py_XDECREF(old);
}

DType registered_dtype(PyObject* value) {
  for (int i = 1; i < kDTypeSlots; ++i) {
    if (dtype_objects[i] == value) return static_cast<DType>(i);
  }
  return DType::invalid;
}

DType dtype_of_python_type(PyObject* value) {
  if (value == reinterpret_cast<PyObject*>(&PyFloat_Type)) return DType::float32;
  if (value == reinterpret_cast<PyObject*>(&PyBool_Type)) return DType::bool_;
  if (value == reinterpret_cast<PyObject*>(&PyLong_Type)) return DType::int64;
  if (value == reinterpret_cast<PyObject*>(&PyComplex_Type)) return DType::complex128;
  if (value == reinterpret_cast<PyObject*>(&PyUnicode_Type)) return DType::string;
  if (value == reinterpret_cast<PyObject*>(&PyBytes_Type)) return DType::string;
  return DType::invalid;
}

DType dtype_from_text(PyObject* text) {
  const char* name = PyUnicode_AsUTF8(text);
  if (!name) throw PythonError{};
  return dtype_from_name(name);
}

/// The text an attribute holds; empty when there is none or it is something else.
Ref text_attribute(PyObject* value, const char* name) {
  Ref text = Ref::steal(PyObject_GetAttrString(value, name));
  if (!text) PyErr_Clear();
  return text && PyUnicode_Check(text.get()) ? text : Ref();
}

/// np.dtype has .name, a NumPy scalar type __name__; both carry TensorFlow's names.
DType dtype_by_name_attribute(PyObject* value) {
  for (const char* attribute : {"name", "__name__"}) {
    if (Ref text = text_attribute(value, attribute)) {
      const DType found = dtype_from_text(text.get());
      if (found != DType::invalid) return found;
    }
  }
  return DType::invalid;
}

DType dtype_by_converter(PyObject* value) {
  if (!dtype_converter) return DType::invalid;
  const Ref converted = Ref::checked(call_object(dtype_converter, value));
  if (PyLong_Check(converted.get())) return dtype_from_enum(PyLong_AsLong(converted.get()));
  return registered_dtype(converted.get());
}

int64_t size_from_object(PyObject* value) {
  if (value == Py_None) return kUnknownDim;
  const Ref number = Ref::checked(PyNumber_Index(value));
  const long long size = PyLong_AsLongLong(number.get());
  if (size == -1 && PyErr_Occurred()) throw PythonError{};
  return size;
}

/// On the main thread, between two instructions of Python.
int look(void*) {
  look_now();
  return 0;
}

PyObject* set_looker(PyObject*, PyObject* function) {
  replace(looker, function);
  has_looker.store(looker != nullptr, std::memory_order_relaxed);
  Py_RETURN_NONE;
}

PyObject* set_dtype_objects(PyObject*, PyObject* list) {
  return guarded([&]() -> PyObject* {
    const Ref items = Ref::checked(PySequence_Fast(list, "set_dtype_objects takes a list"));
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(items.get());
    for (Py_ssize_t i = 0; i < count && i < kDTypeSlots; ++i) {
      replace(dtype_objects[i], PySequence_Fast_GET_ITEM(items.get(), i));
    }
    Py_RETURN_NONE;
  });
}

template <PyObject** Slot>
PyObject* set_slot(PyObject*, PyObject* value) {
  if (value != Py_None && !PyCallable_Check(value)) {
    PyErr_Format(PyExc_TypeError, "a callable or None is wanted; %R was given", value);
    return nullptr;
  }
  replace(*Slot, value);
  Py_RETURN_NONE;
}

}  // namespace

PyObject* dtype_object(DType dtype) {
  PyObject* object = dtype_objects[static_cast<int>(dtype)];
  return object ? Py_NewRef(object) : PyLong_FromLong(static_cast<long>(dtype));
}

DType dtype_from_enum(long number) {
  if (number == -1 && PyErr_Occurred()) throw PythonError{};
  if (number == 0) return DType::invalid;
  if (number < 0 || number >= kDTypeSlots || size_of(static_cast<DType>(number)) == 0) {
    raise(PyExc_TypeError, "Cannot convert the argument `type_value`: %ld to a TensorFlow DType.",
          number);
  }
  return static_cast<DType>(number);
}

DType dtype_from_object(PyObject* value) {
  DType found = registered_dtype(value);
  if (found != DType::invalid) return found;
  if (PyLong_Check(value) && !PyBool_Check(value)) return dtype_from_enum(PyLong_AsLong(value));
  found = PyUnicode_Check(value) ? dtype_from_text(value) : dtype_of_python_type(value);
  if (found == DType::invalid) found = dtype_by_converter(value);
  if (found == DType::invalid) found = dtype_by_name_attribute(value);
  if (found == DType::invalid) {
    raise(PyExc_TypeError, "Cannot convert the argument `type_value`: %R to a TensorFlow DType.",
          value);
  }
  return found;
}

PyObject* shape_tuple(const Shape& shape) {
  if (!shape.has_rank()) Py_RETURN_NONE;
  PyObject* tuple = PyTuple_New(shape.rank());
  if (!tuple) return nullptr;
  for (int i = 0; i < shape.rank(); ++i) {
    PyObject* size = shape[i] < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(shape[i]);
    if (!size) {
      Py_DECREF(tuple);
      return nullptr;
    }
    PyTuple_SET_ITEM(tuple, i, size);
  }
  return tuple;
}

PyObject* shape_object(const Shape& shape) {
  PyObject* tuple = shape_tuple(shape);
  if (!tuple || !shape_class) return tuple;
  PyObject* object = call_object(shape_class, tuple);
  Py_DECREF(tuple);
  return object;
}

bool is_shape_object(PyObject* value) {
  return shape_class && reinterpret_cast<PyObject*>(Py_TYPE(value)) == shape_class;
}

Shape shape_from_object(PyObject* value) {
  if (is_tensor(value)) {
    const Tensor& t = tensor_of(value);
    if (!kInts.contains(t.dtype()) || t.rank() > 1) {
      raise(PyExc_TypeError, "a shape is a vector of integers; %R was given", value);
    }
    return Shape(std::span<const int64_t>(t.to_ints()));
  }
  std::vector<int64_t> sizes;
  if (PyIndex_Check(value) && !PySequence_Check(value)) {
    sizes.push_back(size_from_object(value));
  } else {
    const Ref items = Ref::checked(PySequence_Fast(value, "a shape is a list of integers"));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
      sizes.push_back(size_from_object(PySequence_Fast_GET_ITEM(items.get(), i)));
    }
  }
  if (sizes.size() > Shape::kMaxRank) {
    raise(PyExc_ValueError, "a shape has at most %d dimensions; %zu were given", Shape::kMaxRank,
          sizes.size());
  }
  return Shape(std::span<const int64_t>(sizes));
}

bool is_adapting(PyObject* value) noexcept {
  return reinterpret_cast<PyObject*>(Py_TYPE(value)) == adapting_class;
}

PyObject* conversion_hook() noexcept { return hook; }
PyObject* general_getitem() noexcept { return getitem; }

void look_now() noexcept {
  if (!looker) return;
  const Ref keep = Ref::borrow(looker);
  const Ref done = Ref::steal(call_object(keep.get()));
  if (!done) PyErr_WriteUnraisable(keep.get());
}

void look_on_main_thread() {
  if (has_looker.load(std::memory_order_relaxed)) Py_AddPendingCall(look, nullptr);
}

PyObject* interned(const char* text) {
  PyObject* string = PyUnicode_InternFromString(text);
  if (!string) throw PythonError{};
  return string;
}

PyMethodDef frontend_methods[] = {
    {"set_error_classes", set_error_classes, METH_O,
     "Registers the classes raised for each status code: {code: class}."},
    {"set_dtype_objects", set_dtype_objects, METH_O,
     "Registers the DType objects, by their number."},
    {"set_dtype_converter", set_slot<&dtype_converter>, METH_O,
     "Registers a function from any value to a DType object."},
    {"set_shape_class", set_slot<&shape_class>, METH_O,
     "Registers the class of Tensor.shape; called with a tuple."},
    {"set_adapting_class", set_slot<&adapting_class>, METH_O,
     "The class of objects that stand for Python numbers and adapt as those do."},
    {"set_conversion_hook", set_slot<&hook>, METH_O,
     "Registers fn(value, dtype number), which answers a Tensor or NotImplemented."},
    {"set_general_getitem", set_slot<&getitem>, METH_O,
     "Registers fn(tensor, key), which indexes with any key but plain positions."},
    {"set_recording_looker", set_looker, METH_O,
     "Registers what is called when memory has grown or many ops have run, while recording; None: "
     "nothing. The thread is that of the op where it is one of Python's, or else the main one."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace tidemark::python
