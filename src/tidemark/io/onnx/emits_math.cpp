// How ops on elements and reductions of ours are written that are not one op there.
#include "tidemark/io/onnx/emitter.h"

namespace tidemark::io::onnx {

namespace {

bool is_whole(const Emitted& e) { return kInts.contains(e.dtype()); }

Names is_finite(const Emitted& e) {
  const std::string odd = e.put("Or", {e.put("IsNaN", {e.in(0)}), e.put("IsInf", {e.in(0)})});
  return {e.put("Not", {odd})};
}

/// The logarithm of what 1 + x was rounded to, corrected by what was lost.
std::string log_of_one_and(const Emitted& e, const std::string& x) {
  const std::string one = e.real(1), u = e.put("Add", {x, one});
  const std::string less = e.put("Sub", {u, one}), is_small = e.put("Equal", {less, e.real(0)});
  const std::string safe = e.chosen(is_small, one, less);
  const std::string corrected = e.put("Div", {e.put("Mul", {e.put("Log", {u}), x}), safe});
  const std::string is_odd = e.put("IsInf", {u});
  return e.chosen(is_small, x, e.chosen(is_odd, u, corrected));
}
Names log1p(const Emitted& e) { return {log_of_one_and(e, e.in(0))}; }

Names expm1(const Emitted& e) {
  const std::string x = e.in(0), one = e.real(1), u = e.put("Exp", {x});
  const std::string less = e.put("Sub", {u, one});
  const std::string is_small = e.put("Equal", {less, e.real(0)});
  const std::string is_far = e.put("Greater", {e.put("Abs", {x}), e.real(0.5)});
  const std::string log = e.put("Log", {u});
  const std::string is_exact = e.put("Or", {is_small, is_far});
  const std::string safe = e.chosen(is_exact, one, log);
  const std::string corrected = e.put("Div", {e.put("Mul", {less, x}), safe});
  return {e.chosen(is_small, x, e.chosen(is_far, less, corrected))};
}

Names erfc(const Emitted& e) { return {e.put("Sub", {e.real(1), e.put("Erf", {e.in(0)})})}; }
Names rint(const Emitted& e) { return {e.put("Round", {e.in(0)})}; }

Names floordiv(const Emitted& e) {
  const std::string x = e.in(0), y = e.in(1);
  if (!is_whole(e)) return {e.put("Floor", {e.put("Div", {x, y})})};
  return {e.put("Div", {e.put("Sub", {x, e.put("Mod", {x, y})}), y})};
}
Names floormod(const Emitted& e) {
  const std::string x = e.in(0), y = e.in(1);
  if (is_whole(e)) return {e.put("Mod", {x, y})};
  const std::string rest = e.put("Mod", {x, y}, {{"fmod", true}});
  const std::string zero = e.real(0);
  const std::string differs = e.put("Xor", {e.put("Less", {rest, zero}), e.put("Less", {y, zero})});
  const std::string is_off = e.put("And", {e.put("Not", {e.put("Equal", {rest, zero})}), differs});
  return {e.chosen(is_off, e.put("Add", {rest, y}), rest)};
}
Names truncatemod(const Emitted& e) { return {e.put("Mod", {e.in(0), e.in(1)}, {{"fmod", true}})}; }

/// 0 where the operand that decides is 0, whatever the rest is.
std::string unless_zero(const Emitted& e, size_t decides, const std::string& value) {
  return e.chosen(e.put("Equal", {e.in(decides), e.real(0)}), e.real(0), value);
}
Names divide_no_nan(const Emitted& e) {
  return {unless_zero(e, 1, e.put("Div", {e.in(0), e.in(1)}))};
}
Names multiply_no_nan(const Emitted& e) {
  return {unless_zero(e, 1, e.put("Mul", {e.in(0), e.in(1)}))};
}
Names xlogy(const Emitted& e) {
  return {unless_zero(e, 0, e.put("Mul", {e.in(0), e.put("Log", {e.in(1)})}))};
}
Names xlog1py(const Emitted& e) {
  return {unless_zero(e, 0, e.put("Mul", {e.in(0), log_of_one_and(e, e.in(1))}))};
}
Names xdivy(const Emitted& e) { return {unless_zero(e, 0, e.put("Div", {e.in(0), e.in(1)}))}; }
Names log_sigmoid(const Emitted& e) {
  return {e.put("Neg", {e.put("Softplus", {e.put("Neg", {e.in(0)})})})};
}

Names reduced_truth(const Emitted& e, std::string_view op) {
  const Attr& axis = e.attr("axis");
  Names inputs{e.cast(e.in(0), DType::bool_, DType::int32)};
  if (!axis.is_none()) inputs.push_back(e.out.ints(axis.as_ints()));
  const bool is_noop = !axis.is_none() && axis.as_ints().empty();
  const std::string made =
      e.put(op, inputs, {{"keepdims", e.attr("keepdims")}, {"noop_with_empty_axes", is_noop}});
  return {e.cast(made, DType::int32, DType::bool_)};
}
Names any(const Emitted& e) { return reduced_truth(e, "ReduceMax"); }
Names all(const Emitted& e) { return reduced_truth(e, "ReduceMin"); }

Names std_of(const Emitted& e) { return {e.put("Sqrt", find_emit("variance")(e))}; }

// op names: how each of these is written
constexpr NamedEmit kEmits[] = {
    {"is_finite", is_finite},
    {"log1p", log1p},
    {"expm1", expm1},
    {"erfc", erfc},
    {"rint", rint},
    {"floordiv", floordiv},
    {"floormod", floormod},
    {"truncatemod", truncatemod},
    {"divide_no_nan", divide_no_nan},
    {"multiply_no_nan", multiply_no_nan},
    {"xlogy", xlogy},
    {"xlog1py", xlog1py},
    {"xdivy", xdivy},
    {"log_sigmoid", log_sigmoid},
    {"any", any},
    {"all", all},
    {"std", std_of},
};

}  // namespace

std::span<const NamedEmit> math_emits() { return kEmits; }

}  // namespace tidemark::io::onnx
