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
/// Sum takes reals alone.
Names add_n(const Emitted& e) {
  std::string sum = e.in(0);
  for (size_t i = 1; i < e.node.inputs.size(); ++i) sum = e.put("Add", {sum, e.in(i)});
  return {sum};
}
Names truncatediv(const Emitted& e) {
  const std::string ratio = e.put("Div", {e.in(0), e.in(1)});
  if (is_whole(e)) return {ratio};
  const std::string is_below = e.put("Less", {ratio, e.real(0)});
  return {e.chosen(is_below, e.put("Ceil", {ratio}), e.put("Floor", {ratio}))};
}
/// In int64, where a shift down is a division by a power of 2 that is rounded down.
Names multiply_fixed_point(const Emitted& e) {
  const auto whole = [&](int64_t value) { return e.out.ints({value}); };
  const auto wide = [&](const std::string& x) { return e.cast(x, DType::int32, DType::int64); };
  const auto narrow = [&](const std::string& x) { return e.cast(x, DType::int64, DType::int32); };
  const std::string zero = whole(0), two = whole(2), most = whole(31), shift = wide(e.in(2));
  const auto within = [&](const std::string& x) {
    return e.put("Min", {e.put("Max", {x, zero}), most});
  };
  const auto divided = [&](const std::string& x, const std::string& by) {
    return e.put("Div", {e.put("Sub", {x, e.put("Mod", {x, by})}), by});
  };
  const std::string up = within(shift), down = within(e.put("Neg", {shift}));
  const std::string moved = e.put("Mul", {wide(e.in(0)), e.put("Pow", {two, up})});
  const std::string product = e.put("Mul", {wide(narrow(moved)), wide(e.in(1))});
  const std::string high =
      divided(e.put("Add", {product, whole(int64_t{1} << 30)}), whole(int64_t{1} << 31));
  const std::string power = e.put("Pow", {two, down});
  std::string rounded = e.put("Add", {high, e.put("Div", {power, two})});
  if (e.attr("halves_away").as_bool()) {
    const std::string is_below =
        e.put("And", {e.put("Less", {high, zero}), e.put("Greater", {down, zero})});
    rounded = e.put("Sub", {rounded, e.cast(is_below, DType::bool_, DType::int64)});
  }
  const std::string y = narrow(divided(rounded, power));
  // The numbers here are vectors of one: no operand may give the result more axes than it has.
  return {e.rank(0) > 0 || e.rank(1) > 0 || e.rank(2) > 0 ? y
                                                          : e.put("Reshape", {y, e.out.ints({})})};
}
/// Shifts of integers with a sign are products and quotients: BitShift has none.
Names shifted(const Emitted& e, bool is_up) {
  const int width = static_cast<int>(size_of(e.dtype())) * 8;
  const auto whole = [&](int64_t value) { return e.out.ints({value}); };
  const auto wide = [&](const std::string& x) { return e.cast(x, e.dtype(), DType::int64); };
  if (!is_signed(e.dtype())) {
    fail<UnimplementedError>("shifts of integers without a sign have no form in ONNX yet");
  }
  const std::string x = wide(e.in(0)), two = whole(2);
  const std::string by = e.put("Min", {e.put("Max", {wide(e.in(1)), whole(0)}), whole(width - 1)});
  // 2^63 is no int64: as two steps.
  const std::string half = e.put("Div", {by, two}), rest = e.put("Sub", {by, half});
  const auto moved = [&](const std::string& from, const std::string& count) {
    const std::string power = e.put("Pow", {two, count});
    if (is_up) return e.put("Mul", {from, power});
    return e.put("Div", {e.put("Sub", {from, e.put("Mod", {from, power})}), power});
  };
  const std::string y = e.cast(moved(moved(x, half), rest), DType::int64, e.dtype());
  if (e.rank(0) > 0 || e.rank(1) > 0) return {y};
  return {e.put("Reshape", {y, e.out.ints({})})};
}
Names left_shift(const Emitted& e) { return shifted(e, true); }
Names right_shift(const Emitted& e) { return shifted(e, false); }

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
    {"add_n", add_n},
    {"truncatediv", truncatediv},
    {"left_shift", left_shift},
    {"right_shift", right_shift},
    {"truncatemod", truncatemod},
    {"multiply_fixed_point", multiply_fixed_point},
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
