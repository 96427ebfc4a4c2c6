// A variable's operators: those of its value.
#include "errors.h"
#include "tensor_type.h"
#include "variable_type.h"

namespace tidemark::python {

namespace {

/// A variable's value as a tensor object; anything else as it is.
Ref as_operand(PyObject* object) {
  if (!is_variable(object)) return Ref::borrow(object);
  return Ref::checked(wrap(operand_of(object)));
}

template <binaryfunc PyNumberMethods::*Slot>
PyObject* binary(PyObject* left, PyObject* right) {
  return guarded([&]() -> PyObject* {
    const Ref a = as_operand(left), b = as_operand(right);
    return (tensor_type->tp_as_number->*Slot)(a.get(), b.get());
  });
}

template <unaryfunc PyNumberMethods::*Slot>
PyObject* unary(PyObject* operand) {
  return guarded([&]() -> PyObject* {
    const Ref a = as_operand(operand);
    return (tensor_type->tp_as_number->*Slot)(a.get());
  });
}

PyObject* positive(PyObject* operand) {
  return guarded([&]() -> PyObject* { return wrap(reading_of(operand)); });
}

PyObject* power(PyObject* base, PyObject* exponent, PyObject* modulus) {
  return guarded([&]() -> PyObject* {
    const Ref a = as_operand(base), b = as_operand(exponent);
    return tensor_type->tp_as_number->nb_power(a.get(), b.get(), modulus);
  });
}

PyObject* compare(PyObject* left, PyObject* right, int operation) {
  return guarded([&]() -> PyObject* {
    const Ref a = as_operand(left), b = as_operand(right);
    return tensor_type->tp_richcompare(a.get(), b.get(), operation);
  });
}

template <class Fn>
void* address(Fn* fn) {
  return reinterpret_cast<void*>(fn);
}

}  // namespace

PyType_Slot variable_number_slots[] = {
    {Py_nb_add, address(binary<&PyNumberMethods::nb_add>)},
    {Py_nb_subtract, address(binary<&PyNumberMethods::nb_subtract>)},
    {Py_nb_multiply, address(binary<&PyNumberMethods::nb_multiply>)},
    {Py_nb_true_divide, address(binary<&PyNumberMethods::nb_true_divide>)},
    {Py_nb_floor_divide, address(binary<&PyNumberMethods::nb_floor_divide>)},
    {Py_nb_remainder, address(binary<&PyNumberMethods::nb_remainder>)},
    {Py_nb_matrix_multiply, address(binary<&PyNumberMethods::nb_matrix_multiply>)},
    {Py_nb_power, address(power)},
    {Py_nb_and, address(binary<&PyNumberMethods::nb_and>)},
    {Py_nb_or, address(binary<&PyNumberMethods::nb_or>)},
    {Py_nb_xor, address(binary<&PyNumberMethods::nb_xor>)},
    {Py_nb_lshift, address(binary<&PyNumberMethods::nb_lshift>)},
    {Py_nb_rshift, address(binary<&PyNumberMethods::nb_rshift>)},
    {Py_nb_negative, address(unary<&PyNumberMethods::nb_negative>)},
    {Py_nb_positive, address(positive)},
    {Py_nb_absolute, address(unary<&PyNumberMethods::nb_absolute>)},
    {Py_nb_invert, address(unary<&PyNumberMethods::nb_invert>)},
    {Py_tp_richcompare, address(compare)},
    {0, nullptr}};

}  // namespace tidemark::python
