// Which lines of the program run: told one by one while somebody asks.
#pragma once

#include "py_ref.h"

namespace tidemark::python {

extern PyMethodDef line_trace_methods[];

}  // namespace tidemark::python
