#include "promotion.h"

#include <nanobind/nanobind.h>

#include "tidemark/trace/builder.h"

#include "frames.h"
#include "internal_code.h"
#include "op_call.h"

namespace nb = nanobind;

namespace tidemark::python {

namespace {

/// What TensorFlow's messages call a dtype.
std::string_view their_name(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return "half";
    case DType::float32:
      return "float";
    case DType::float64:
      return "double";
    default:
      return name_of(dtype);
  }
}

/// The first two inputs that should have one dtype and do not.
std::pair<int, int> different_inputs(const OpCall& call) {
  for (int j = 1; j < static_cast<int>(call.inputs.size()); ++j) {
    for (int i = 0; i < j; ++i) {
      if (call.op.input_param(i).type_var == call.op.input_param(j).type_var &&
          call.inputs[static_cast<size_t>(i)].dtype() !=
              call.inputs[static_cast<size_t>(j)].dtype()) {
        return {i, j};
      }
    }
  }
  return {0, 0};
}

bool is_on = true;  // guarded by the GIL

}  // namespace

void check_promotion(const OpCall& call) {
  Place place;
  // Without the lock it is no program of Python's that calls.
  if (is_on || !holds_gil || !innermost_place(place) || is_internal(place.code)) return;
  const auto [first, other] = different_inputs(call);
  const DType wanted = call.inputs[static_cast<size_t>(first)].dtype();
  const DType given = call.inputs[static_cast<size_t>(other)].dtype();
  const ForeignOp* theirs = call.op.foreign(Vocabulary::tensorflow);
  const std::string& op = theirs ? theirs->name : call.op.name();
  if (trace::current_builder()) {
    raise(PyExc_TypeError,
          "Input '%s' of '%s' Op has type %s that does not match type %s of argument '%s'. Convert "
          "one with tf.cast, or see tidemark.experimental.set_dtype_promotion.",
          call.op.input_param(other).name.c_str(), op.c_str(), std::string(name_of(given)).c_str(),
          std::string(name_of(wanted)).c_str(), call.op.input_param(first).name.c_str());
  }
  fail("cannot compute ", op, " as input #", other, "(zero-based) was expected to be a ",
       their_name(wanted), " tensor but is a ", their_name(given), " tensor [Op:", op,
       "]. Convert one with tf.cast, or see tidemark.experimental.set_dtype_promotion.");
}

void add_promotion_functions(nb::module_& m) {
  m.def(
      "set_dtype_promotion", [](bool on) { return std::exchange(is_on, on); }, nb::arg("on"),
      "Whether programs may mix dtypes; returns what held before.");
  m.def(
      "promotes_dtypes", [] { return is_on; }, "Whether programs may mix dtypes.");
}

}  // namespace tidemark::python
