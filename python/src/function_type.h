// tidemark._tidemark.FunctionBase: what tf.function is made of. A call whose arguments are tensors
// and plain values finds its trace and runs it without any Python code.
#pragma once

#include "py_ref.h"

namespace tidemark::python {

/// Makes the type; throws PythonError. After the tensor's.
void initialize_function_type(PyObject* module);

extern PyMethodDef function_methods[];

}  // namespace tidemark::python
