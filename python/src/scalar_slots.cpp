// Tensors where Python wants one of its own values: bool, int, float, index, len, iteration.
#include <tidemark/call.h>

#include "calls.h"
#include "tidemark/graph/donated.h"
#include "tidemark/tensor/handlers.h"

#include "errors.h"
#include "op_call.h"
#include "tensor_type.h"

namespace tidemark::python {

namespace {

[[noreturn]] void raise_not_scalar() {
  raise(PyExc_TypeError, "only 0-dimensional arrays can be converted to Python scalars");
}

const Tensor& scalar_of(PyObject* self, const char* what) {
  const Tensor& t = tensor_of(self);
  check_has_value(t, what, PyExc_TypeError);
  if (t.rank() != 0) raise_not_scalar();
  return t;
}

/// The only element as a Python number: an int, a float or a complex.
PyObject* number_of(const Tensor& t) {
  if (!t.device().is_cpu()) return number_of(copied_to(t, Device()));
  switch (t.dtype()) {
    case DType::float16:
      return PyFloat_FromDouble(static_cast<float>(*t.data<Half>()));
    case DType::bfloat16:
      return PyFloat_FromDouble(static_cast<float>(*t.data<BFloat16>()));
    case DType::float32:
      return PyFloat_FromDouble(*t.data<float>());
    case DType::float64:
      return PyFloat_FromDouble(*t.data<double>());
    case DType::complex64:
      return PyComplex_FromDoubles(t.data<std::complex<float>>()->real(),
                                   t.data<std::complex<float>>()->imag());
    case DType::complex128:
      return PyComplex_FromDoubles(t.data<std::complex<double>>()->real(),
                                   t.data<std::complex<double>>()->imag());
    case DType::uint64:
      return PyLong_FromUnsignedLongLong(*t.data<uint64_t>());
    case DType::string: {
      const std::string_view text = t.string_at(0);
      return PyBytes_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
    }
    default:
      return PyLong_FromLongLong(t.to_ints()[0]);
  }
}

bool truth_of(const Tensor& t) {
  if (t.dtype() == DType::bool_) return t.item<bool>();
  const Ref number = Ref::checked(number_of(t));
  const int truth = PyObject_IsTrue(number.get());
  check(truth);
  return truth == 1;
}

int as_bool(PyObject* self) {
  return guarded([&]() -> int {
    const Tensor& t = tensor_of(self);
    if (is_symbolic(t)) {
      if (graph::is_donated(t)) check_has_value(t, "bool()");
      raise(operator_not_allowed(),
            "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed. You can attempt the "
            "following resolutions to the problem: If you are running in Graph mode, use Eager "
            "execution mode or decorate this function with @tf.function.");
    }
    if (t.num_elements() == 0) return 0;
    if (t.num_elements() > 1) {
      raise(PyExc_ValueError,
            "The truth value of an array with more than one element is "
            "ambiguous. Use a.any() or a.all()");
    }
    return truth_of(t) ? 1 : 0;
  });
}

PyObject* as_int(PyObject* self) {
  return guarded([&]() -> PyObject* {
    const Ref number = Ref::checked(number_of(scalar_of(self, "int()")));
    return PyNumber_Long(number.get());
  });
}

PyObject* as_float(PyObject* self) {
  return guarded([&]() -> PyObject* {
    const Ref number = Ref::checked(number_of(scalar_of(self, "float()")));
    return PyNumber_Float(number.get());
  });
}

PyObject* as_index(PyObject* self) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = tensor_of(self);
    check_has_value(t, "an index", PyExc_TypeError);
    if (t.rank() != 0 || !is_integer(t.dtype())) {
      raise(PyExc_TypeError, "only integer scalar arrays can be converted to a scalar index");
    }
    return number_of(t);
  });
}

PyObject* as_complex(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    const Ref number = Ref::checked(number_of(scalar_of(self, "complex()")));
    return call_object(reinterpret_cast<PyObject*>(&PyComplex_Type), number.get());
  });
}

Py_ssize_t length(PyObject* self) {
  const Shape& shape = tensor_of(self).shape();
  if (!shape.has_rank() || shape.rank() == 0) {
    PyErr_SetString(PyExc_TypeError, "Scalar tensor has no `len()`");
    return -1;
  }
  if (shape[0] < 0) {
    PyErr_SetString(PyExc_TypeError, "the first dimension has no size yet");
    return -1;
  }
  return shape[0];
}

// --- iteration --------------------------------------------------------------------------------

struct Iterator {
  PyObject ob_base;
  PyObject* tensor;
  int64_t next;
};
PyTypeObject* iterator_type = nullptr;

Iterator* iterator_of(PyObject* object) { return reinterpret_cast<Iterator*>(object); }

/// A view of row i. Recorded as indexing where somebody (a tape, a trace) listens to calls.
PyObject* row(PyObject* self, int64_t i) {
  const Tensor& t = tensor_of(self);
  if (top_handler() || is_symbolic(t)) {
    const Ref index = Ref::checked(PyLong_FromLongLong(i));
    return PyObject_GetItem(self, index.get());
  }
  Shape shape = t.shape();
  shape.erase(0);
  const GilHeld held;
  const SourceLine line;
  return wrap(t.rows(i, 1).reshaped(shape));
}

PyObject* iterate(PyObject* self) {
  return guarded([&]() -> PyObject* {
    const Shape& shape = tensor_of(self).shape();
    if (!shape.has_rank() || shape.rank() == 0) {
      raise(PyExc_TypeError, "Cannot iterate over a scalar tensor.");
    }
    if (shape[0] < 0) {
      raise(operator_not_allowed(), "Cannot iterate over a tensor with unknown first dimension.");
    }
    PyObject* object = Ref::checked(iterator_type->tp_alloc(iterator_type, 0)).release();
    iterator_of(object)->tensor = Py_NewRef(self);
    return object;
  });
}

PyObject* next_row(PyObject* object) {
  return guarded([&]() -> PyObject* {
    Iterator* it = iterator_of(object);
    if (!it->tensor || it->next >= tensor_of(it->tensor).shape()[0]) {
      Py_CLEAR(it->tensor);  // the elements need not wait for the iterator
      return nullptr;
    }
    return row(it->tensor, it->next++);
  });
}

PyObject* remaining(PyObject* object, PyObject*) {
  const Iterator* it = iterator_of(object);
  return PyLong_FromLongLong(it->tensor ? tensor_of(it->tensor).shape()[0] - it->next : 0);
}

void drop_iterator(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  Py_XDECREF(iterator_of(object)->tensor);
  type->tp_free(object);
  Py_DECREF(type);
}

PyMethodDef iterator_methods[] = {{"__length_hint__", remaining, METH_NOARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
PyType_Slot iterator_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(drop_iterator)},
                                {Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
                                {Py_tp_iternext, reinterpret_cast<void*>(next_row)},
                                {Py_tp_methods, iterator_methods},
                                {0, nullptr}};
PyType_Spec iterator_spec{"tidemark._tidemark.TensorIterator", static_cast<int>(sizeof(Iterator)),
                          0, Py_TPFLAGS_DEFAULT, iterator_slots};

}  // namespace

PyMethodDef scalar_methods[] = {{"__complex__", as_complex, METH_NOARGS, nullptr},
                                {nullptr, nullptr, 0, nullptr}};

void initialize_iterator() {
  iterator_type =
      reinterpret_cast<PyTypeObject*>(Ref::checked(PyType_FromSpec(&iterator_spec)).release());
}

PyType_Slot scalar_slots[] = {{Py_nb_bool, reinterpret_cast<void*>(as_bool)},
                              {Py_nb_int, reinterpret_cast<void*>(as_int)},
                              {Py_nb_float, reinterpret_cast<void*>(as_float)},
                              {Py_nb_index, reinterpret_cast<void*>(as_index)},
                              {Py_sq_length, reinterpret_cast<void*>(length)},
                              {Py_tp_iter, reinterpret_cast<void*>(iterate)},
                              {0, nullptr}};

}  // namespace tidemark::python
