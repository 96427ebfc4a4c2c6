// t[key] for the keys that loops use: a row, an element, a run of rows. They are views, made here;
// every other key goes to the function the package gave.
#include "calls.h"
#include "tidemark/tensor/handlers.h"
#include "tidemark/tensor/storage.h"

#include "errors.h"
#include "frontend.h"
#include "tensor_type.h"

namespace tidemark::python {

namespace {

/// A position along a dimension, counted from the front; -1: none, or out of range.
int64_t position(PyObject* key, int64_t size) {
  if (!PyLong_CheckExact(key)) return -1;
  int overflow = 0;
  const long index = PyLong_AsLongAndOverflow(key, &overflow);
  if (overflow != 0) return -1;
  const int64_t from_front = index < 0 ? index + size : index;
  return from_front < size ? from_front : -1;
}

/// The elements at these leading positions, without those dimensions.
Tensor element(const Tensor& t, PyObject* const* keys, int count) {
  if (count > t.rank()) return {};
  int64_t offset = 0;
  for (int i = 0; i < count; ++i) {
    const int64_t at = position(keys[i], t.dim(i));
    if (at < 0) return {};
    offset = offset * t.dim(i) + at;
  }
  Shape rest;
  int64_t stride = static_cast<int64_t>(size_of(t.dtype()));
  for (int i = count; i < t.rank(); ++i) {
    rest.push_back(t.dim(i));
    stride *= t.dim(i);
  }
  if (t.num_elements() == 0) return {};
  char* data = static_cast<char*>(t.mutable_raw_data()) + offset * stride;
  return view_of(t, data, t.dtype(), std::move(rest));
}

bool is_plain_bound(PyObject* bound) { return bound == Py_None || PyLong_CheckExact(bound); }

/// Rows of a slice without a step.
Tensor run_of_rows(const Tensor& t, PyObject* key) {
  const auto* slice = reinterpret_cast<PySliceObject*>(key);
  if (slice->step != Py_None || !is_plain_bound(slice->start) || !is_plain_bound(slice->stop)) {
    return {};
  }
  Py_ssize_t start = 0, stop = 0, step = 0;
  check(PySlice_Unpack(key, &start, &stop, &step));
  const Py_ssize_t count = PySlice_AdjustIndices(t.dim(0), &start, &stop, step);
  return count > 0 && t.num_elements() > 0 ? t.rows(start, count) : Tensor();
}

/// Empty: not one of the keys known here.
Tensor simple_item(const Tensor& t, PyObject* key) {
  if (top_handler() || is_symbolic(t) || t.rank() == 0) return {};
  if (PyLong_CheckExact(key)) return element(t, &key, 1);
  if (PySlice_Check(key)) return run_of_rows(t, key);
  if (!PyTuple_CheckExact(key) || PyTuple_GET_SIZE(key) > t.rank()) return {};
  return element(t, &PyTuple_GET_ITEM(key, 0), static_cast<int>(PyTuple_GET_SIZE(key)));
}

PyObject* get_item(PyObject* self, PyObject* key) {
  return guarded([&]() -> PyObject* {
    if (Tensor item = simple_item(tensor_of(self), key)) return wrap(std::move(item));
    PyObject* general = general_getitem();
    if (!general) raise(PyExc_TypeError, "no indexing with %R", key);
    return call_object(general, self, key);
  });
}

/// What makes a tensor a sequence, for libraries that take sequences alone: NumPy takes it for a
/// shape.
PyObject* get_row(PyObject* self, Py_ssize_t number) {
  const Ref key = Ref::steal(PyLong_FromSsize_t(number));
  return key ? get_item(self, key.get()) : nullptr;
}

}  // namespace

PyType_Slot indexing_slots[] = {{Py_mp_subscript, reinterpret_cast<void*>(get_item)},
                                {Py_sq_item, reinterpret_cast<void*>(get_row)},
                                {0, nullptr}};

}  // namespace tidemark::python
