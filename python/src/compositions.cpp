// Functions of the C++ API that are no ops but made of ops.
#include <tidemark/einsum.h>

#include <vector>

#include "errors.h"
#include "op_call.h"
#include "op_function.h"
#include "tensor_type.h"

namespace tidemark::python {

namespace {

/// einsum(equation, tensors)
PyObject* einsum_of(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 2) raise(PyExc_TypeError, "einsum(equation, tensors) takes 2 arguments");
    const char* equation = PyUnicode_AsUTF8(args[0]);
    if (!equation) throw PythonError{};
    const GilHeld held;
    const SourceLine line;
    const Ref items = Ref::checked(PySequence_Tuple(args[1]));
    std::vector<Tensor> operands;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) {
      PyObject* item = PyTuple_GET_ITEM(items.get(), i);
      if (!is_tensor(item)) raise(PyExc_TypeError, "einsum takes tensors; %R was given", item);
      operands.push_back(tensor_of(item));
    }
    return wrap(einsum(equation, operands));
  });
}

}  // namespace

PyMethodDef composition_methods[] = {
    {"einsum", with_keywords(einsum_of), METH_FASTCALL,
     "einsum(equation, tensors, /)\n--\n\nA sum of products in Einstein's notation."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace tidemark::python
