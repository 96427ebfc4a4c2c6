// Ops as Python functions: `tf.add` and all others come from their definitions through this type.
#pragma once

#include <tidemark/op.h>

#include <string>
#include <vector>

#include "py_ref.h"

namespace tidemark::python {

/// Calls with parsed arguments, defaults filled in, for an op: see op_function.cpp.
void initialize_op_function(PyObject* module);

/// Documentation and signature from the definition: op_docs.cpp.
std::string doc_of(const OpDef& op);
std::string text_signature_of(const OpDef& op);
/// inspect.Signature; new reference; throws PythonError.
PyObject* signature_of(const OpDef& op);
/// The definition as a dict; new reference; throws PythonError.
PyObject* schema_of(const OpDef& op);

extern PyMethodDef op_function_methods[];
extern PyMethodDef composition_methods[];  // compositions.cpp

}  // namespace tidemark::python
