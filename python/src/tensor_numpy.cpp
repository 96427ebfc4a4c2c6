#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "tidemark/memory/buffer.h"
#include "tidemark/memory/context.h"
#include "tidemark/profile/recorder.h"

#include "calls.h"
#include "errors.h"
#include "frontend.h"
#include "numpy_api.h"
#include "op_call.h"
#include "tensor_type.h"

namespace tidemark::python {

namespace {

constexpr const char* kNoBfloat16 =
    "NumPy has no bfloat16 of its own: install `ml_dtypes`, or convert the tensor first with "
    "tf.cast(t, tf.float32)";

Numpy* import_numpy() {
  auto loaded = std::make_unique<Numpy>();
  const Ref module = Ref::checked(PyImport_ImportModule("numpy"));
  const auto type_named = [&](const char* name) {
    return reinterpret_cast<PyTypeObject*>(
        Ref::checked(PyObject_GetAttrString(module.get(), name)).release());
  };
  loaded->ndarray = type_named("ndarray");
  loaded->generic = type_named("generic");
  const Ref dtype_class = Ref::checked(PyObject_GetAttrString(module.get(), "dtype"));
  for (int i = 0; i < kDTypeSlots; ++i) {
    loaded->dtypes[i] = nullptr;
    const auto dtype = static_cast<DType>(i);
    if (size_of(dtype) == 0 || dtype == DType::bfloat16) continue;
    const std::string name(dtype == DType::string ? "O" : name_of(dtype));
    const Ref text = Ref::checked(PyUnicode_FromString(name.c_str()));
    loaded->dtypes[i] = Ref::checked(call_object(dtype_class.get(), text.get())).release();
  }
  loaded->module = Py_NewRef(module.get());
  return loaded.release();
}

PyObject* bfloat16_dtype() {
  const Ref types = Ref::steal(PyImport_ImportModule("ml_dtypes"));
  if (!types) {
    PyErr_Clear();
    raise(PyExc_TypeError, kNoBfloat16);
  }
  const Ref type = Ref::checked(PyObject_GetAttrString(types.get(), "bfloat16"));
  const Ref dtype_class = Ref::checked(PyObject_GetAttrString(numpy().module, "dtype"));
  return Ref::checked(call_object(dtype_class.get(), type.get())).release();
}

PyObject* bytes_at(const Tensor& t, int64_t i) {
  const std::string_view text = t.string_at(i);
  return Ref::checked(PyBytes_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())))
      .release();
}

PyObject* array_of_strings(const Tensor& t) {
  const Ref shape = Ref::checked(shape_tuple(t.shape()));
  const Ref array = Ref::checked(
      call_method(numpy().module, "empty", "OO", shape.get(), numpy_dtype(DType::string)));
  const Ref flat = Ref::checked(PyObject_GetAttrString(array.get(), "flat"));
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const Ref item = Ref::steal(bytes_at(t, i));
    const Ref index = Ref::checked(PyLong_FromLongLong(i));
    check(PyObject_SetItem(flat.get(), index.get(), item.get()));
  }
  return Ref(array).release();
}

/// NumPy keeps the object and not what it exports.
PyObject* array_over(PyObject* owner) {
  const Tensor& t = tensor_of(owner);
  const Ref shape = Ref::checked(shape_tuple(t.shape()));
  PyObject* arguments[] = {shape.get(), numpy_dtype(t.dtype()), owner};
  const size_t count = t.num_elements() > 0 ? 3 : 2;  // nothing to share in an empty tensor
  return Ref::checked(PyObject_Vectorcall(reinterpret_cast<PyObject*>(numpy().ndarray), arguments,
                                          count, nullptr))
      .release();
}

constexpr size_t kWorthCounting = 1024;  // bytes

/// A copy that a recording counts: in memory of ours, which nobody but NumPy has. Its line is the
/// one that made the elements.
PyObject* counted_copy(const Tensor& t) {
  const memory::Buffer* elements = t.impl()->buffer;
  const memory::ScopedSite made(elements ? elements->site : nullptr);
  const SourceLine line;
  const char* const outer = std::exchange(memory::thread_context.op, "numpy");
  Ref owner;
  try {
    const Tensor copy = Tensor::uninitialized(t.dtype(), t.shape());
    std::memcpy(copy.mutable_raw_data(), t.raw_data(), t.nbytes());
    memory::thread_context.op = outer;
    owner = Ref::checked(wrap(Tensor(copy)));
  } catch (...) {
    memory::thread_context.op = outer;
    throw;
  }
  const LendForWriting scope;
  return array_over(owner.get());
}

PyObject* as_numpy(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = tensor_of(self);
    check_has_value(t, "numpy()", PyExc_AttributeError);
    if (t.rank() == 0 && t.dtype() == DType::string) return bytes_at(t, 0);
    const bool is_counted = profile::is_recording() && t.device().is_cpu() &&
                            t.dtype() != DType::string && t.nbytes() >= kWorthCounting;
    if (is_counted && t.rank() > 0) return counted_copy(t);
    const Ref array = Ref::steal(array_of_tensor(self));
    // A copy, as in TensorFlow: tensors do not change, and callers write into what they get here.
    if (t.rank() > 0) return call_method(array.get(), "copy");
    const Ref nothing = Ref::checked(PyTuple_New(0));
    return PyObject_GetItem(array.get(), nothing.get());
  });
}

/// __array__(dtype=None, copy=None), NumPy's protocol.
PyObject* as_array(PyObject* self, PyObject* args, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    PyObject *dtype = Py_None, *copy = Py_None;
    static const char* names[] = {"dtype", "copy", nullptr};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO:__array__", const_cast<char**>(names),
                                     &dtype, &copy)) {
      throw PythonError{};
    }
    check_has_value(tensor_of(self), "__array__()");
    const Ref array = Ref::steal(array_of_tensor(self));
    if (dtype == Py_None && copy != Py_True) return Py_NewRef(array.get());
    if (dtype == Py_None) return call_method(array.get(), "copy");
    const Ref converted =
        Ref::checked(call_method(array.get(), "astype", "OssOO", dtype, "K", "unsafe", Py_True,
                                 copy == Py_True ? Py_True : Py_False));
    if (copy == Py_False && converted.get() != array.get()) {
      raise(PyExc_ValueError,
            "a tensor of another dtype cannot be given as an array without a copy");
    }
    return Py_NewRef(converted.get());
  });
}

}  // namespace

const char numpy_doc[] =
    "A copy of the value as a NumPy array, or a NumPy scalar. To share the elements without a "
    "copy, read-only: np.asarray(tensor) or memoryview(tensor).";

Numpy& numpy() {
  static Numpy* instance = nullptr;
  if (!instance) [[unlikely]]
    instance = import_numpy();
  return *instance;
}

PyObject* numpy_dtype(DType dtype) {
  PyObject*& slot = numpy().dtypes[static_cast<int>(dtype)];
  if (!slot && dtype == DType::bfloat16) slot = bfloat16_dtype();
  if (!slot) raise(PyExc_TypeError, "no NumPy dtype for this tensor");
  return slot;
}

DType dtype_of_numpy(PyObject* np_dtype) {
  const Ref name = Ref::checked(PyObject_GetAttrString(np_dtype, "name"));
  const char* text = PyUnicode_AsUTF8(name.get());
  if (!text) throw PythonError{};
  const std::string_view view(text);
  if (view == "object" || view.starts_with("str") || view.starts_with("bytes")) {
    return DType::string;
  }
  return dtype_from_name(view);
}

PyObject* array_of_tensor(PyObject* self) {
  if (!is_symbolic(tensor_of(self)) && !tensor_of(self).device().is_cpu()) {
    throw_untold(tensor_of(self));
  }
  const Tensor t = copied_to(tensor_of(self), Device());
  if (t.dtype() == DType::string) return array_of_strings(t);
  // An object of its own, for this one may be donated.
  const Ref owner = Ref::checked(wrap(Tensor(t)));
  return array_over(owner.get());
}

PyObject* numpy_method(PyObject* self, void*) {
  static PyMethodDef method = {"numpy", as_numpy, METH_NOARGS, numpy_doc};
  return guarded([&]() -> PyObject* {
    check_has_value(tensor_of(self), "numpy()", PyExc_AttributeError);
    return PyCFunction_New(&method, self);
  });
}

PyMethodDef numpy_methods[] = {
    {"__array__", with_keywords(as_array), METH_VARARGS | METH_KEYWORDS, "NumPy's protocol."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace tidemark::python
