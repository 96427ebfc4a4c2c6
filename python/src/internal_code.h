// Which Python code is the package's own.
#pragma once

#include "py_ref.h"

namespace tidemark::python {

/// Whether the code is the package's own, or of another that is kept out of reports. Needs the GIL.
bool is_internal(PyCodeObject* code);

}  // namespace tidemark::python
