// What the Python package gives the extension: its DType objects, its TensorShape class, functions
// that answer what the extension does not know. The only place where such a thing is set.
#pragma once

#include <tidemark/dtype.h>
#include <tidemark/shape.h>

#include "py_ref.h"

namespace tidemark::python {

/// New reference to the package's object for a dtype; its number while none is registered.
PyObject* dtype_object(DType dtype);

/// The dtype a Python value means: a registered object, a number, a name, a NumPy dtype or scalar
/// type, or float, int, bool, complex, str, bytes. Throws PythonError with TensorFlow's TypeError.
DType dtype_from_object(PyObject* value);
/// Reads an enum number: 0 for "none given".
DType dtype_from_enum(long number);

/// New reference: the package's shape object, or a tuple while no class is registered.
PyObject* shape_object(const Shape& shape);
PyObject* shape_tuple(const Shape& shape);
/// True iff the value is an instance of the registered shape class.
bool is_shape_object(PyObject* value);
/// Sizes given as TensorShape, list, tuple, tensor, array or one number. None for one size: -1.
Shape shape_from_object(PyObject* value);

/// Called with (value, dtype number) for objects convert() knows nothing about; null: none.
PyObject* conversion_hook() noexcept;

/// Called with (tensor, key) for keys other than plain positions; null: none.
PyObject* general_getitem() noexcept;

/// With the GIL: calls what the package gave for moments worth a look.
void look_now() noexcept;
/// Any thread, with or without the GIL: that is called soon, on the main thread.
void look_on_main_thread();

/// True iff the value stands for a Python number while a function is traced.
bool is_adapting(PyObject* value) noexcept;

/// The class Python sees; strings the interpreter keeps.
PyObject* interned(const char* text);

extern PyMethodDef frontend_methods[];

}  // namespace tidemark::python
