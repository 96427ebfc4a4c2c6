// What the recording types share: adjoints and ids between Python and C++, scopes on the stack.
#pragma once

#include <tidemark/call.h>

#include <vector>

#include "tidemark/autodiff/tape.h"

#include "py_ref.h"

namespace tidemark::python {

/// The id of a tensor or variable; 0: of anything else.
uint64_t id_of_object(PyObject* object);

/// A Tensor, None, or for rows the tuple (values, indices, dense shape). New reference.
PyObject* object_from_adjoint(autodiff::Adjoint&& adjoint);
/// The same backwards, and any object with `values`, `indices` and `dense_shape`.
autodiff::Adjoint adjoint_from_object(PyObject* object);

/// Tensors of a list or tuple of tensors and variables; None: an empty handle.
std::vector<Tensor> tensors_from_list(PyObject* list);

/// A gradient written in Python: called with one tensor each output.
std::shared_ptr<autodiff::CustomBackward> python_backward(PyObject* function);

/// The function of a gradient that python_backward made, borrowed; null: it is another's.
PyObject* function_of(const autodiff::CustomBackward& backward);

/// A handler that Python code puts on the stack and takes off again, in any order. The object that
/// owns it stays alive meanwhile.
template <class Handler>
struct PyHandler {
  PyObject ob_base;
  Handler* handler;
  bool is_on_stack;

  static PyHandler* of(PyObject* object) { return reinterpret_cast<PyHandler*>(object); }
  void enter() {
    push_handler(*handler);
    is_on_stack = true;
    Py_INCREF(&ob_base);
  }
  /// False: it is on another thread's stack.
  bool leave() {
    if (!is_on_stack) return true;
    if (!remove_handler(*handler)) return false;
    is_on_stack = false;
    Py_DECREF(&ob_base);
    return true;
  }
};

}  // namespace tidemark::python
