// Values made of several tensors (sparse, ragged): a function that cannot take one asks its type.
#pragma once

#include "py_ref.h"

namespace tidemark::python {

/// To be called with a Python error set, after `function` failed on the arguments of a vectorcall.
/// If the type of one of them, or of an item of a list among them, defines
/// `__tf_dispatch__(function, args, kwargs)`, its answer replaces the error; null keeps an error.
PyObject* answer_of_composites(PyObject* function, PyObject* const* args, Py_ssize_t positional,
                               PyObject* keywords) noexcept;

}  // namespace tidemark::python
