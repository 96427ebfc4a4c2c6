// From any Python value to a tensor, by TensorFlow's rules.
#pragma once

#include <tidemark/tensor.h>

#include "py_ref.h"

namespace tidemark::python {

struct ConvertOptions {
  DType dtype = DType::invalid;  // invalid: as the value says
  /// True: later changes of an array given do not show. False: its memory is shared where layout
  /// and alignment allow it.
  bool copy = true;
};

/// Throws PythonError with TensorFlow's error types.
Tensor to_tensor(PyObject* value, ConvertOptions options);
/// The same as a Python object: a tensor given comes back as itself. New reference.
PyObject* convert(PyObject* value, ConvertOptions options);

/// The dtype a value that is no tensor takes beside a tensor: the tensor's where that can hold the
/// value's kind (bool < integer < real < complex), else its own.
DType adapted_dtype(DType value, DType beside);

/// True iff the value is a Tensor or an object that converts itself by `__tf_tensor__`.
bool converts_itself(PyObject* value);

// --- parts ----------------------------------------------------------------------------------
/// Lists and tuples, nested, of numbers, strings, arrays or tensors: convert_list.cpp.
Tensor tensor_from_list(PyObject* list, ConvertOptions options);
/// One Python number or string; empty when it is something else.
Tensor tensor_from_scalar(PyObject* value, DType dtype);
/// np.ndarray, or any object with the buffer protocol: convert_array.cpp.
Tensor tensor_from_array(PyObject* array, ConvertOptions options);
/// An object with a dict `__array_interface__`. Memory that is not there is not touched.
Tensor tensor_from_array_interface(PyObject* value, ConvertOptions options);
/// An object with `__dlpack__`: dlpack.cpp.
Tensor tensor_from_dlpack(PyObject* value, bool copy);
/// Puts tensors, and values beside them, together along a new first dimension: convert_pack.cpp.
Tensor tensor_from_parts(PyObject* list, ConvertOptions options);

/// "float" for float32, "half" for float16: how TensorFlow's messages name dtypes.
const char* message_name(DType dtype);
/// TypeError "Cannot convert … to EagerTensor of dtype …".
[[noreturn]] void raise_cannot_convert(PyObject* value, DType dtype);
/// ValueError "Attempt to convert a value … with an unsupported type".
[[noreturn]] void raise_unsupported(PyObject* value);

extern PyMethodDef convert_methods[];

}  // namespace tidemark::python
