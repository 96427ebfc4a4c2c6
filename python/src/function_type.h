// tidemark._tidemark.FunctionBase: what tf.function is made of. A call whose arguments are tensors
// and plain values finds its trace and runs it without any Python code.
#pragma once

#include "tidemark/trace/traces.h"

#include "py_ref.h"

namespace tidemark::python {

struct PyFunction {
  PyObject ob_base;
  vectorcallfunc vectorcall;
  std::shared_ptr<trace::Traces> traces;
  PyObject* weakrefs;
  PyObject* dict;
};

inline PyFunction* function_of(PyObject* object) { return reinterpret_cast<PyFunction*>(object); }

// --- function_call.cpp ------------------------------------------------------------------------
PyObject* call_function(PyObject* self, PyObject* const* args, size_t flagged, PyObject* names);
/// call_into(result, *args)
PyObject* call_into(PyObject* self, PyObject* const* args, Py_ssize_t given);

/// Makes the type; throws PythonError. After the tensor's.
void initialize_function_type(PyObject* module);

extern PyMethodDef function_methods[];

}  // namespace tidemark::python
