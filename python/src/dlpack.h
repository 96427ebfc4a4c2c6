// Module functions of dlpack.cpp.
#pragma once

#include "py_ref.h"

namespace tidemark::python {

extern PyMethodDef dlpack_functions[];

}  // namespace tidemark::python
