// Tensor's operators. Two tensors go straight to the op; anything else is converted first.
#include <tidemark/call.h>

#include "convert.h"
#include "errors.h"
#include "op_call.h"
#include "tensor_type.h"

namespace tidemark::python {

namespace {

/// An op and the attributes an operator calls it with; looked up on first use, because definitions
/// register themselves in no particular order.
class SlotOp {
 public:
  constexpr explicit SlotOp(const char* name) : name_(name) {}
  const OpDef& op() {
    if (!op_) [[unlikely]]
      find();
    return *op_;
  }
  std::span<const Attr> attrs() const { return *attrs_; }

 private:
  void find() {
    const OpDef& op = OpRegistry::instance().get(name_);
    attrs_ = new std::vector<Attr>(default_attrs(op));
    op_ = &op;
  }
  const char* name_;
  const OpDef* op_ = nullptr;
  std::vector<Attr>* attrs_ = nullptr;
};

constinit SlotOp add("add"), subtract("subtract"), multiply("multiply"), truediv("truediv"),
    floordiv("floordiv"), floormod("floormod"), power("pow"), matmul("matmul"),
    bitwise_and("bitwise_and"), bitwise_or("bitwise_or"), bitwise_xor("bitwise_xor"),
    logical_and("logical_and"), logical_or("logical_or"), logical_xor("logical_xor"),
    left_shift("left_shift"), right_shift("right_shift"), negative("negative"), absolute("abs"),
    logical_not("logical_not"), invert("invert"), less("less"), less_equal("less_equal"),
    greater("greater"), greater_equal("greater_equal"), equal("equal"), not_equal("not_equal");

/// Counted handles on operands that are large enough for the GIL to be given away meanwhile:
/// another thread may take the tensor out of its Python object then. What dies with the op is on
/// this thread's stack alone, and has to stay uncounted to be written over.
class Counted {
 public:
  Counted(std::span<const Tensor> operands, uint64_t dying) {
    constexpr size_t kSurelyShort = 4096;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].nbytes() > kSurelyShort && !(dying >> i & 1)) held_[i] = operands[i];
    }
  }
  Counted(const Counted&) = delete;

 private:
  Tensor held_[2];
};

PyObject* call_two(SlotOp& slot, PyObject* left, PyObject* right) noexcept {
  try {
    const GilHeld held;
    const SourceLine line;
    const OpDef& op = slot.op();
    const uint64_t donated = dying_operands(line.place(), left, right);
    const Borrowed<2> inputs(tensor_of(left), tensor_of(right));
    const Counted counted(inputs.span(), donated);
    return run_op(op, inputs.span(), slot.attrs(), donated, line.place());
  } catch (...) {
    set_error_from_exception();
    return nullptr;
  }
}

/// True iff `other` could answer for the operator itself.
bool has_reflected(PyObject* other) {
  const PyNumberMethods* numbers = Py_TYPE(other)->tp_as_number;
  // A sparse tensor multiplies and is not added to.
  const bool answers = numbers && (numbers->nb_add || numbers->nb_multiply);
  return answers && !PyLong_Check(other) && !PyFloat_Check(other) && !PyComplex_Check(other);
}

/// A tensor for the operand that is none. Empty, with no error set: it cannot become one, and may
/// answer for the operator itself.
Tensor other_operand(const OpDef& op, PyObject* left, PyObject* right, bool is_right) {
  PyObject* operands[] = {left, right};
  PyObject* other = operands[is_right ? 1 : 0];
  try {
    Inputs inputs;
    convert_inputs(op, operands, inputs);
    return inputs[is_right ? 1 : 0];
  } catch (const PythonError&) {
    const bool is_conversion =
        PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError);
    if (!is_conversion || !has_reflected(other)) throw;
    PyErr_Clear();
    return {};
  }
}

/// A tensor and a Python number that takes the tensor's dtype: no search for the common one.
Tensor plain_number(PyObject* value, DType beside) {
  const bool fits = PyFloat_CheckExact(value)  ? is_floating(beside)
                    : PyLong_CheckExact(value) ? is_floating(beside) || is_integer(beside)
                                               : false;
  return fits ? tensor_from_scalar(value, beside) : Tensor();
}

[[gnu::noinline]] PyObject* call_mixed(SlotOp& slot, PyObject* left, PyObject* right) noexcept {
  return guarded([&]() -> PyObject* {
    const GilHeld held;
    const SourceLine line;
    const OpDef& op = slot.op();
    if (is_tensor(left) && is_tensor(right)) {
      const Borrowed<2> inputs(tensor_of(left), tensor_of(right));
      const Counted counted(inputs.span(), 0);
      return run_op(op, inputs.span(), slot.attrs(), 0, line.place());
    }
    const bool is_left = is_tensor(left);
    const Tensor& mine = tensor_of(is_left ? left : right);
    PyObject* other = is_left ? right : left;
    Tensor converted = plain_number(other, mine.dtype());
    if (!converted) converted = other_operand(op, left, right, is_left);
    if (!converted) return Py_NewRef(Py_NotImplemented);
    const uint64_t donated = dying_operands(line.place(), left, right);
    const Borrowed<2> inputs(is_left ? mine : converted, is_left ? converted : mine);
    const Counted counted(inputs.span(), donated);
    return run_op(op, inputs.span(), slot.attrs(), donated, line.place());
  });
}

template <SlotOp* Slot>
PyObject* binary(PyObject* left, PyObject* right) {
  if (is_exact_tensor(left) && is_exact_tensor(right)) [[likely]] {
    return call_two(*Slot, left, right);
  }
  return call_mixed(*Slot, left, right);
}

/// An integer tensor as the floats that Python's division of it gives, as in TensorFlow.
Tensor as_dividend(const Tensor& t, DType both) {
  const DType floats = size_of(both) <= 2 ? DType::float32 : DType::float64;
  return call("cast", {t}, {{"dtype", floats}});
}

[[gnu::noinline]] PyObject* divide_integers(PyObject* left, PyObject* right) noexcept {
  return guarded([&]() -> PyObject* {
    const GilHeld held;
    const SourceLine line;
    Tensor operands[2];
    PyObject* const values[] = {left, right};
    for (int i = 0; i < 2; ++i) {
      if (is_tensor(values[i])) operands[i] = tensor_of(values[i]);
    }
    for (int i = 0; i < 2; ++i) {
      if (operands[i]) continue;
      operands[i] = plain_number(values[i], operands[1 - i].dtype());
      if (!operands[i]) operands[i] = other_operand(multiply.op(), left, right, i == 1);
      if (!operands[i]) return Py_NewRef(Py_NotImplemented);
    }
    const DType both = promote(operands[0].dtype(), operands[1].dtype());
    if (is_integer(both)) {
      for (Tensor& operand : operands) operand = as_dividend(operand, both);
    }
    const OpDef& op = truediv.op();  // before attrs(), which it finds
    return run_op(op, operands, truediv.attrs(), 0, line.place());
  });
}

bool is_integer_tensor(PyObject* value) {
  return is_tensor(value) && is_integer(tensor_of(value).dtype());
}

PyObject* divide(PyObject* left, PyObject* right) {
  if (is_integer_tensor(left) || is_integer_tensor(right)) [[unlikely]] {
    return divide_integers(left, right);
  }
  return binary<&truediv>(left, right);
}

bool is_bool_tensor(PyObject* value) {
  return is_tensor(value) && tensor_of(value).dtype() == DType::bool_;
}

/// & | ^ mean the logical op between booleans, the bitwise one between integers.
template <SlotOp* Logical, SlotOp* Bitwise>
PyObject* logical(PyObject* left, PyObject* right) {
  const bool is_logical = is_tensor(left) ? is_bool_tensor(left) : is_bool_tensor(right);
  SlotOp& slot = is_logical ? *Logical : *Bitwise;
  return is_tensor(left) && is_tensor(right) ? call_two(slot, left, right)
                                             : call_mixed(slot, left, right);
}

PyObject* pow_slot(PyObject* base, PyObject* exponent, PyObject* modulus) {
  if (modulus != Py_None) {
    PyErr_SetString(PyExc_TypeError, "pow() of tensors takes no third argument");
    return nullptr;
  }
  return binary<&power>(base, exponent);
}

PyObject* call_one(SlotOp& slot, PyObject* operand) noexcept {
  return guarded([&]() -> PyObject* {
    const GilHeld held;
    const SourceLine line;
    const OpDef& op = slot.op();
    const Borrowed<1> input(tensor_of(operand));
    const Counted counted(input.span(), 0);
    return run_op(op, input.span(), slot.attrs(), 0, line.place());
  });
}

template <SlotOp* Slot>
PyObject* unary(PyObject* operand) {
  return call_one(*Slot, operand);
}

PyObject* invert_slot(PyObject* operand) {
  return call_one(is_bool_tensor(operand) ? logical_not : invert, operand);
}

PyObject* positive_slot(PyObject* operand) { return Py_NewRef(operand); }

bool can_broadcast(const Tensor& a, const Tensor& b) {
  try {
    broadcast_shapes(a.shape(), b.shape());
    return true;
  } catch (const InvalidArgumentError&) {
    return false;
  }
}

/// == and != of what cannot be compared element by element answer as for different things: with a
/// scalar tensor for shapes that do not fit, with Python's own answer for what is no tensor.
PyObject* equality(PyObject* left, PyObject* right, bool is_equal) noexcept {
  SlotOp& slot = is_equal ? equal : not_equal;
  if (right == Py_None) return PyBool_FromLong(!is_equal);
  return guarded([&]() -> PyObject* {
    const GilHeld held;
    const SourceLine line;
    const OpDef& op = slot.op();
    PyObject* operands[] = {left, right};
    Inputs inputs;
    try {
      convert_inputs(op, operands, inputs);
    } catch (const PythonError&) {
      if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError)) {
        throw;
      }
      PyErr_Clear();
      return Py_NewRef(Py_NotImplemented);
    }
    const DType both = promote(inputs[0].dtype(), inputs[1].dtype());
    if (both == DType::invalid) return PyBool_FromLong(!is_equal);
    if (!can_broadcast(inputs[0], inputs[1])) return wrap(Tensor(!is_equal));
    return run_op(op, inputs.span(), slot.attrs(), 0, line.place());
  });
}

PyObject* compare(PyObject* left, PyObject* right, int operation) {
  switch (operation) {
    case Py_LT:
      return binary<&less>(left, right);
    case Py_LE:
      return binary<&less_equal>(left, right);
    case Py_GT:
      return binary<&greater>(left, right);
    case Py_GE:
      return binary<&greater_equal>(left, right);
    default:
      return equality(left, right, operation == Py_EQ);
  }
}

template <class Fn>
void* address(Fn* fn) {
  return reinterpret_cast<void*>(fn);
}

}  // namespace

PyType_Slot number_slots[] = {{Py_nb_add, address(binary<&add>)},
                              {Py_nb_subtract, address(binary<&subtract>)},
                              {Py_nb_multiply, address(binary<&multiply>)},
                              {Py_nb_true_divide, address(divide)},
                              {Py_nb_floor_divide, address(binary<&floordiv>)},
                              {Py_nb_remainder, address(binary<&floormod>)},
                              {Py_nb_matrix_multiply, address(binary<&matmul>)},
                              {Py_nb_power, address(pow_slot)},
                              {Py_nb_and, address(logical<&logical_and, &bitwise_and>)},
                              {Py_nb_or, address(logical<&logical_or, &bitwise_or>)},
                              {Py_nb_xor, address(logical<&logical_xor, &bitwise_xor>)},
                              {Py_nb_lshift, address(binary<&left_shift>)},
                              {Py_nb_rshift, address(binary<&right_shift>)},
                              {Py_nb_negative, address(unary<&negative>)},
                              {Py_nb_positive, address(positive_slot)},
                              {Py_nb_absolute, address(unary<&absolute>)},
                              {Py_nb_invert, address(invert_slot)},
                              {Py_tp_richcompare, address(compare)},
                              {0, nullptr}};

}  // namespace tidemark::python
