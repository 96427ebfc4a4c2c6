#include "open_attrs.h"
#include "calls.h"

#include <tidemark/op.h>

#include "errors.h"

namespace tidemark::python {

bool is_value_missing() noexcept {
  return PyErr_ExceptionMatches(value_unknown(PyExc_NotImplementedError)) != 0;
}

PyObject* ask_open_attrs(const OpDef& op, PyObject* inputs, PyObject* attrs) {
  const Ref module = Ref::checked(PyImport_ImportModule("tidemark._graph.open_attrs"));
  Ref answer =
      Ref::checked(call_method(module.get(), "answer", "sOO", op.name().c_str(), inputs, attrs));
  return answer.get() == Py_NotImplemented ? nullptr : answer.release();
}

}  // namespace tidemark::python
