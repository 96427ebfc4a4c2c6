// tidemark._tidemark.Tape and ForwardAccumulator: recording happens in C++, with no Python code in
// between.
#pragma once

#include "py_ref.h"

namespace tidemark::python {

/// Make the types; throw PythonError. After the tensor's and the variable's.
void initialize_tape_types(PyObject* module);

extern PyMethodDef tape_functions[];

}  // namespace tidemark::python
