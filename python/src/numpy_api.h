// NumPy through its Python names: no NumPy header, so no binary compatibility to watch.
#pragma once

#include <tidemark/dtype.h>

#include "py_ref.h"

namespace tidemark::python {

struct Numpy {
  PyObject* module;
  PyTypeObject* ndarray;
  PyTypeObject* generic;          // base of NumPy's scalars
  PyObject* dtypes[kDTypeSlots];  // bfloat16 is filled by numpy_dtype on first use
};

/// Imports NumPy on first use; throws PythonError.
Numpy& numpy();

/// Borrowed np.dtype. Throws PythonError with what to install when NumPy has none for it.
PyObject* numpy_dtype(DType dtype);
/// The dtype with TensorFlow's meaning; invalid: none.
DType dtype_of_numpy(PyObject* np_dtype);

inline bool is_ndarray(PyObject* object) {
  return PyType_IsSubtype(Py_TYPE(object), numpy().ndarray);
}
inline bool is_numpy_scalar(PyObject* object) {
  return PyType_IsSubtype(Py_TYPE(object), numpy().generic);
}

/// The tensor's elements as an array that shares them and keeps `self` alive; not writeable.
/// Strings become an array of bytes objects. New reference; throws PythonError.
PyObject* array_of_tensor(PyObject* self);

}  // namespace tidemark::python
