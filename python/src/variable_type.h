// tidemark._tidemark.VariableBase: what tf.Variable is made of. Used wherever a tensor is, without
// Python code in between.
#pragma once

#include <tidemark/variable.h>

#include "py_ref.h"

namespace tidemark::python {

struct PyVariable {
  PyObject ob_base;
  Variable value;
  PyObject* weakrefs;
  PyObject* dict;
};

extern PyTypeObject* variable_type;

inline bool is_variable(PyObject* object) noexcept {
  return PyType_IsSubtype(Py_TYPE(object), variable_type);
}
/// Throws PythonError for one that has no value yet.
const Variable& variable_of(PyObject* object);
/// The current value, standing for the variable. An update under way is waited for, with the GIL
/// given away.
Tensor operand_of(PyObject* object);
/// A reading of the variable that tapes see.
Tensor reading_of(PyObject* object);

/// Makes the type; throws PythonError. After the tensor's.
void initialize_variable_type(PyObject* module);

extern PyType_Slot variable_number_slots[];  // variable_slots.cpp; ends with {0, nullptr}

}  // namespace tidemark::python
