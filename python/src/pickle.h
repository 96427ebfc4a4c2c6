// Pickling of tensors.
#pragma once

#include "py_ref.h"

namespace tidemark::python {

extern PyMethodDef unpickle_methods[];

/// After the methods were added to the module.
void initialize_pickle(PyObject* module);

}  // namespace tidemark::python
