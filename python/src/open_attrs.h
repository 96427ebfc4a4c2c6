// Attributes of ops, as axes are, given as tensors that have no value yet.
#pragma once

#include "py_ref.h"

namespace tidemark {
class OpDef;
}

namespace tidemark::python {

/// Whether the Python error that is set says that a tensor has no value.
bool is_value_missing() noexcept;

/// What an op gives for these inputs, a sequence, and attributes, a dict, one of which has no
/// value: `tidemark._graph.open_attrs` may know a way without it. Null: there is none.
PyObject* ask_open_attrs(const OpDef& op, PyObject* inputs, PyObject* attrs);

}  // namespace tidemark::python
