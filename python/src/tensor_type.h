// tidemark._tidemark.Tensor: one handle in a Python object, made and dropped in a few nanoseconds.
#pragma once

#include <tidemark/tensor.h>

#include "py_ref.h"

namespace tidemark::python {

/// Instances come from a free list. They take part in garbage collection only once they have a
/// __dict__; before that they refer to no Python object but their type.
struct PyTensor {
  PyObject ob_base;
  Tensor value;
  PyObject* weakrefs;
  PyObject* dict;
};

extern PyTypeObject* tensor_type;

inline bool is_exact_tensor(PyObject* object) noexcept { return Py_TYPE(object) == tensor_type; }
inline bool is_tensor(PyObject* object) noexcept {
  return is_exact_tensor(object) || PyType_IsSubtype(Py_TYPE(object), tensor_type);
}
inline const Tensor& tensor_of(PyObject* object) noexcept {
  return reinterpret_cast<PyTensor*>(object)->value;
}
/// True iff the tensor stands for a value that is not there yet.
inline bool is_symbolic(const Tensor& t) noexcept { return t.impl()->buffer == nullptr; }

/// New reference; null with a Python error.
PyObject* wrap(Tensor&& value) noexcept;
/// One tensor as itself, several as a list. New reference; throws PythonError.
PyObject* wrap_list(std::span<Tensor> values);

/// Throws PythonError with TensorFlow's error, as one that is also a ValueUnknownError, when the
/// tensor has no value yet.
void check_has_value(const Tensor& t, const char* what,
                     PyObject* error = PyExc_NotImplementedError);

/// Make the types; throw PythonError.
void initialize_iterator();
void initialize_tensor_type(PyObject* module);

// --- the parts of the type, each in its own file ----------------------------------------------
extern PyType_Slot number_slots[];    // number_slots.cpp; ends with {0, nullptr}
extern PyType_Slot scalar_slots[];    // scalar_slots.cpp: bool, int, float, index, len, iter
extern PyType_Slot indexing_slots[];  // indexing.cpp
extern PyType_Slot buffer_slots[];    // tensor_buffer.cpp
/// While there is one, buffers of tensors may be written: for who shows the tensor to nobody else.
class LendForWriting {
 public:
  LendForWriting();
  ~LendForWriting();
  LendForWriting(const LendForWriting&) = delete;
};
/// Throws what making a buffer of the tensor failed with, on this thread, if that was the last to.
void throw_untold(const Tensor& t);  // tensor_buffer.cpp
extern PyMethodDef scalar_methods[];
extern PyMethodDef numpy_methods[];  // tensor_numpy.cpp
/// The method `numpy` of a tensor that has a value; a tensor of a graph has no such attribute.
PyObject* numpy_method(PyObject* self, void*);
extern const char numpy_doc[];
extern PyMethodDef dlpack_methods[];  // dlpack.cpp
extern PyMethodDef pickle_methods[];  // pickle.cpp

}  // namespace tidemark::python
