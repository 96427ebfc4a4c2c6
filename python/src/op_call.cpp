#include "op_call.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <chrono>

#include "convert.h"
#include "errors.h"
#include "frontend.h"
#include "interpreter_lock.h"
#include "tensor_type.h"
#include "variable_type.h"

namespace tidemark::python {

thread_local constinit bool holds_gil __attribute__((tls_model("initial-exec"))) = false;
thread_local constinit bool wants_look __attribute__((tls_model("initial-exec"))) = false;

namespace {

/// The tensor made last, and the instruction that made it. Never dereferenced: compared only.
/// Guarded by the GIL.
struct LastResult {
  PyObject* object = nullptr;
  Place place;
};
LastResult last_result;

/// The thread's state while long work has given the GIL away.
thread_local constinit PyThreadState* gave_away __attribute__((tls_model("initial-exec"))) =
    nullptr;

using Clock = std::chrono::steady_clock;

/// The thread that handlers of signals run on.
bool is_main_thread() { return ::gettid() == ::getpid(); }

/// A value still to be converted, and the parameter it is given for.
struct Pending {
  PyObject* value;
  const Param* param;
  size_t index;
};

/// The dtype of the tensors given for each type variable.
class DTypesByVariable {
 public:
  void add(const Param& param, DType dtype) {
    DType& slot = dtypes_[param.type_var & 127];
    const DType joined = slot == DType::invalid ? dtype : promote(slot, dtype);
    if (joined != DType::invalid) slot = joined;
  }
  DType of(const Param& param) const { return dtypes_[param.type_var & 127]; }

 private:
  std::array<DType, 128> dtypes_{};
};

/// The dtype to convert to at once, where the value's type alone tells it.
DType obvious_dtype(PyObject* value, DType beside) {
  const bool is_number = beside != DType::invalid && beside != DType::string;
  if (PyFloat_CheckExact(value) && (is_floating(beside) || is_complex(beside))) return beside;
  if (PyLong_CheckExact(value) && is_number && beside != DType::bool_) return beside;
  return DType::invalid;
}

/// A number that is an input of the graph being built: asks for itself in the dtype it takes here.
Tensor convert_adapting(PyObject* value, DType beside, bool copy) {
  const Ref own = Ref::checked(PyObject_GetAttrString(value, "dtype"));
  const DType usual = dtype_from_object(own.get());
  return to_tensor(value, {beside == DType::invalid ? usual : adapted_dtype(usual, beside), copy});
}

/// A list of tensors, with whole numbers between them.
bool holds_computed_numbers(PyObject* value) {
  if (!PyList_Check(value) && !PyTuple_Check(value)) return false;
  bool any = false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(value, i);
    if (!is_tensor(item) && !PyLong_CheckExact(item)) return false;
    any |= is_tensor(item);
  }
  return any;
}

/// Whether numbers become those of the only dtype that an input takes: arrays always do, whole
/// numbers anything, but no fractions whole numbers.
bool becomes(PyObject* value, DType from, DType only) {
  if (!kReal.contains(from) || !kReal.contains(only)) return false;
  return is_floating(only) || !is_floating(from) || PyObject_CheckBuffer(value);
}

Tensor convert_beside(PyObject* value, const Param& param, DType beside, bool copy) {
  if (is_adapting(value)) return convert_adapting(value, beside, copy);
  const DType obvious = obvious_dtype(value, beside);
  Tensor t = to_tensor(value, {obvious, copy});
  if (obvious != DType::invalid || converts_itself(value)) return t;
  DType wanted = beside == DType::invalid ? t.dtype() : adapted_dtype(t.dtype(), beside);
  if (t.num_elements() == 0 && beside == DType::invalid && !param.dtypes.contains(wanted)) {
    wanted = DType::int32;  // an empty list says nothing about its dtype
  }
  if (param.dtypes.bits == kIndex.bits && !kIndex.contains(wanted) &&
      holds_computed_numbers(value)) {
    wanted = DType::int32;  // sizes that were computed, as in reshape(x, [sqrt(n), sqrt(n)])
  }
  if (std::has_single_bit(param.dtypes.bits)) {
    const DType only = static_cast<DType>(std::countr_zero(param.dtypes.bits));
    if (becomes(value, wanted, only)) wanted = only;
  }
  return wanted == t.dtype() ? t : to_tensor(value, {wanted, copy});
}

}  // namespace

void look_soon() {
  // Python calls nothing on the other threads; a short one may have ended by the next look.
  const bool comes_back = gave_away || PyGILState_Check();
  if (comes_back && !is_main_thread()) {
    wants_look = true;
  } else {
    look_on_main_thread();
  }
}

Unlocked::Unlocked()
    : thread_(PyEval_SaveThread()),
      outer_(std::exchange(gave_away, thread_)),
      held_(std::exchange(holds_gil, false)) {}

Unlocked::~Unlocked() {
  take_gil(thread_);
  gave_away = outer_;
  holds_gil = held_;
}

void breathe(void*) {
  using namespace std::chrono_literals;
  // Written by the thread that holds the GIL, and by the main thread.
  static std::atomic<Clock::time_point> last_turn{}, last_look{};
  const Clock::time_point now = Clock::now();
  if (holds_gil) {
    if (PyErr_CheckSignals() != 0) throw PythonError{};
    if (now < last_turn.load(std::memory_order_relaxed) + 5ms) return;
    take_gil(PyEval_SaveThread());  // whoever waits for it gets it
    last_turn.store(Clock::now(), std::memory_order_relaxed);
  } else if (gave_away && is_main_thread()) {
    if (now < last_look.load(std::memory_order_relaxed) + 30ms) return;
    take_gil(gave_away);
    const bool raised = PyErr_CheckSignals() != 0;
    gave_away = PyEval_SaveThread();
    last_look.store(Clock::now(), std::memory_order_relaxed);
    if (raised) throw PythonError{};
  }
}

constinit const Interrupt python_interrupt{.breathe = breathe};

void* give_gil_away() {
  if (!holds_gil) return nullptr;
  holds_gil = false;
  gave_away = PyEval_SaveThread();
  return gave_away;
}

void take_gil_back(void* thread) {
  if (!thread) return;
  gave_away = nullptr;
  take_gil(static_cast<PyThreadState*>(thread));
  holds_gil = true;
}

void convert_inputs(const OpDef& op, PyObject* const* values, Inputs& out) {
  std::vector<Pending> pending;
  std::vector<Ref> sequences;
  const auto add = [&](const Param& param, PyObject* value) {
    if (is_tensor(value)) {
      out.push(tensor_of(value));
    } else if (is_variable(value)) {
      out.push(operand_of(value));
    } else {
      pending.push_back({value, &param, out.size()});
      out.push({});
    }
  };
  for (size_t i = 0; i < op.inputs().size(); ++i) {
    const Param& param = op.params()[static_cast<size_t>(op.inputs()[i])];
    if (param.kind == Param::Kind::input) {
      add(param, values[i]);
      continue;
    }
    // A tuple of its own: converting one item may run code that changes the caller's list.
    if (is_tensor(values[i]) || is_variable(values[i]) || !PySequence_Check(values[i])) {
      sequences.push_back(Ref::checked(PyTuple_Pack(1, values[i])));
    } else {
      sequences.push_back(Ref::checked(PySequence_Tuple(values[i])));
    }
    PyObject* items = sequences.back().get();
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(items); ++k) add(param, PyTuple_GET_ITEM(items, k));
  }
  if (pending.empty()) return;
  DTypesByVariable known;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i]) known.add(op.input_param(static_cast<int>(i)), out[i].dtype());
  }
  // Results of views and gradients may keep an input, so only plain computation shares an array.
  const bool copy = !op.is_elementwise() && !op.is_heavy();
  for (const Pending& p : pending) {
    out[p.index] = convert_beside(p.value, *p.param, known.of(*p.param), copy);
  }
}

PyObject* run_op(const OpDef& op, std::span<const Tensor> inputs, std::span<const Attr> attrs,
                 uint64_t donated, const Place& place) {
  const int count = op.num_outputs(attrs);
  if (count != 1 || op.has_output_list()) {
    std::vector<Tensor> outputs(static_cast<size_t>(count));
    dispatch({op, inputs, attrs, donated}, outputs);
    PyObject* list = wrap_list(outputs);
    look_if_wanted();
    return list;
  }
  Tensor output;
  dispatch({op, inputs, attrs, donated}, {&output, 1});
  PyObject* result = wrap(std::move(output));
  if (!result) throw PythonError{};
  look_if_wanted();
  last_result = {result, place};
  return result;
}

uint64_t dying_operands(const Place& place, PyObject* left, PyObject* right) {
  const LastResult& last = last_result;
  const bool is_left = last.object == left && Py_REFCNT(left) == 1;
  const bool is_right = last.object == right && Py_REFCNT(right) == 1;
  if (!is_left && !is_right) return 0;
  if (place.frame == nullptr || last.place.frame != place.frame || last.place.code != place.code) {
    return 0;
  }
  if (!are_neighbours_on_stack(place, left, right)) return 0;
  if (!is_sole_consumer(place, last.place.instruction)) return 0;
  return is_left ? 1 : 2;
}

}  // namespace tidemark::python
