// Elementwise mathematics and products of matrices.
#include <tidemark/einsum.h>

#include <cmath>

#include "tidemark/io/onnx/build.h"

namespace tidemark::io::onnx {

namespace {

/// A binary op over any number of inputs.
template <Tensor (*combine)(const Tensor&, const Tensor&)>
Tensor variadic(const Call& c) {
  Tensor out = c.in(0);
  for (size_t i = 1; i < c.num_inputs(); ++i) out = combine(out, c.in(i));
  return out;
}

/// Before opset 7 the second operand was aligned by an attribute.
Tensor aligned(const Call& c) {
  const Tensor& y = c.in(1);
  const Attribute* axis = c.version < 7 ? c.attr("axis") : nullptr;
  if (!axis || c.integer("broadcast", 0) == 0) return y;
  const int rank = rank_of(c.in(0));
  Tensor out = y;
  for (int i = axis_of(axis->integer, rank) + rank_of(y); i < rank; ++i) out = expand_dims(out, -1);
  return out;
}

template <Tensor (*combine)(const Tensor&, const Tensor&)>
Tensor binary(const Call& c) {
  return combine(c.in(0), aligned(c));
}

Tensor div(const Call& c) {
  const Tensor& x = c.in(0);
  return is_integer(x.dtype()) ? truncatediv(x, aligned(c)) : truediv(x, aligned(c));
}

Tensor mean_of_all(const Call& c) {
  return variadic<add>(c) / number(static_cast<double>(c.num_inputs()), c.in(0));
}

Tensor power(const Call& c) {
  const Tensor& x = c.in(0);
  const Tensor y = aligned(c);
  if (x.dtype() == y.dtype()) return pow(x, y);
  if (!is_integer(x.dtype())) return pow(x, as(y, x.dtype()));
  const DType wide = is_integer(y.dtype()) ? x.dtype() : DType::float64;
  return as(pow(as(x, wide), as(y, wide)), x.dtype());
}

Tensor modulo(const Call& c) {
  return c.integer("fmod", 0) ? truncatemod(c.in(0), c.in(1)) : floormod(c.in(0), c.in(1));
}

Tensor clip_node(const Call& c) {
  Tensor x = c.in(0);
  if (c.version < 11) {
    if (const Attribute* low = c.attr("min")) x = maximum(x, number(low->real, x));
    if (const Attribute* high = c.attr("max")) x = minimum(x, number(high->real, x));
    return x;
  }
  if (c.has(1)) x = maximum(x, c.in(1));
  if (c.has(2)) x = minimum(x, c.in(2));
  return x;
}

/// Shifting by the width or more, or by a negative number, leaves nothing but the sign.
Tensor bit_shift(const Call& c) {
  const std::string direction = c.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") c.fail("direction must be LEFT or RIGHT");
  const Tensor &x = c.in(0), &by = c.in(1);
  const auto width = static_cast<double>(8 * size_of(x.dtype()));
  const bool has_sign = is_signed(x.dtype());
  Tensor is_inside = less(by, number(width, by));
  if (has_sign) is_inside = logical_and(is_inside, greater_equal(by, number(0, by)));
  const Tensor safe = select(is_inside, by, number(width - 1, by));
  if (direction == "LEFT") return select(is_inside, left_shift(x, safe), number(0, x));
  const Tensor shifted = right_shift(x, safe);
  return has_sign ? shifted : select(is_inside, shifted, number(0, x));
}

Tensor is_inf_node(const Call& c) {
  const Tensor& x = c.in(0);
  const bool low = c.integer("detect_negative", 1), high = c.integer("detect_positive", 1);
  const Tensor all = is_inf(x);
  if (low && high) return all;
  if (!low && !high) return zeros_like(all);
  return logical_and(all, high ? greater(x, number(0, x)) : less(x, number(0, x)));
}

/// Strings and bools, too.
Tensor equal_node(const Call& c) { return equal(c.in(0), aligned(c)); }

Tensor elu_node(const Call& c) {
  const Tensor& x = c.in(0);
  const double alpha = c.real("alpha", 1);
  if (alpha == 1) return elu(x);
  return select(less(x, number(0, x)), expm1(x) * number(alpha, x), x);
}

Tensor selu_node(const Call& c) {
  const Tensor& x = c.in(0);
  const double alpha = c.real("alpha", 1.67326319217681884765625);
  const double gamma = c.real("gamma", 1.05070102214813232421875);
  return select(less_equal(x, number(0, x)), expm1(x) * number(alpha * gamma, x),
                x * number(gamma, x));
}

Tensor celu(const Call& c) {
  const Tensor& x = c.in(0);
  const double alpha = c.real("alpha", 1);
  const Tensor zero = number(0, x);
  return maximum(x, zero) + minimum(zero, expm1(x / number(alpha, x)) * number(alpha, x));
}

Tensor leaky_relu_node(const Call& c) { return leaky_relu(c.in(0), c.real("alpha", 0.01)); }

Tensor prelu(const Call& c) {
  const Tensor& x = c.in(0);
  Tensor slope = c.in(1);
  if (c.version < 7 && rank_of(slope) == 1) slope = per_channel(slope, rank_of(x));
  return select(less(x, number(0, x)), x * slope, x);
}

Tensor thresholded_relu(const Call& c) {
  const Tensor& x = c.in(0);
  return select(greater(x, number(c.real("alpha", 1), x)), x, zeros_like(x));
}

Tensor hard_sigmoid(const Call& c) {
  const Tensor& x = c.in(0);
  return clip(x * number(c.real("alpha", 0.2), x) + number(c.real("beta", 0.5), x), 0, 1);
}

Tensor hard_swish(const Call& c) {
  const Tensor& x = c.in(0);
  return x * clip(x * number(1.0 / 6, x) + number(0.5, x), 0, 1);
}

Tensor shrink(const Call& c) {
  const Tensor& x = c.in(0);
  const double lambda = c.real("lambd", 0.5), bias = c.real("bias", 0);
  const Tensor up = as(x + number(bias, x), x.dtype()), down = as(x - number(bias, x), x.dtype());
  return select(less(x, number(-lambda, x)), up,
                select(greater(x, number(lambda, x)), down, zeros_like(x)));
}

Tensor mish(const Call& c) { return c.in(0) * tanh(softplus(c.in(0))); }
Tensor swish_node(const Call& c) {
  const Tensor& x = c.in(0);
  return x * sigmoid(x * number(c.real("alpha", 1), x));
}
Tensor gelu_node(const Call& c) { return gelu(c.in(0), c.text("approximate", "none") == "tanh"); }

Tensor swiglu(const Call& c) {
  // The first half of the axis gates the second, or a second input is what is gated.
  const Tensor& x = c.in(0);
  const double alpha = c.real("alpha", 1);
  if (c.has(1)) return x * sigmoid(x * number(alpha, x)) * c.in(1);
  const std::vector<Tensor> halves = split(x, 2, axis_of(c.integer("axis", -1), rank_of(x)));
  return halves[0] * sigmoid(halves[0] * number(alpha, x)) * halves[1];
}

Tensor gemm(const Call& c) {
  const double alpha = c.real("alpha", 1), beta = c.real("beta", 1);
  Tensor a = c.in(0);
  const bool is_whole = is_integer(a.dtype());
  const auto scaled = [&](const Tensor& x, double by) {
    if (by == 1) return x;
    return is_whole ? as(as(x, DType::float64) * number(by, DType::float64), x.dtype())
                    : x * number(by, x);
  };
  const Tensor product =
      matmul(a, c.in(1), c.integer("transA", 0) != 0, c.integer("transB", 0) != 0);
  const Tensor out = scaled(product, alpha);
  return c.has(2) && beta != 0 ? out + scaled(c.in(2), beta) : out;
}

/// As NumPy's: vectors are rows or columns that vanish again.
Tensor product_of(Tensor a, Tensor b) {
  const bool row = rank_of(a) == 1, column = rank_of(b) == 1;
  if (row) a = expand_dims(a, 0);
  if (column) b = expand_dims(b, -1);
  Tensor out = matmul(a, b);
  if (column) out = squeeze(out, Ints{-1});
  if (row) out = squeeze(out, Ints{column ? -1 : -2});
  return out;
}
Tensor matmul_node(const Call& c) { return product_of(c.in(0), c.in(1)); }

Tensor einsum_node(const Call& c) {
  const std::vector<Tensor> operands = c.tensors();
  return einsum(c.text("equation", ""), operands);
}

/// Before opset 13 all from the axis on is one distribution.
template <Tensor (*distribute)(const Tensor&, std::optional<int64_t>)>
Tensor along_axis(const Call& c) {
  const Tensor& x = c.in(0);
  if (c.version >= 13) return distribute(x, c.integer("axis", -1));
  const int rank = rank_of(x), axis = axis_of(c.integer("axis", 1), rank);
  if (axis == rank - 1) return distribute(x, -1);
  return reshape(distribute(merged(x, axis, rank), -1), shape_of(x));
}

Tensor hardmax_of(const Tensor& x, std::optional<int64_t> axis) {
  const int64_t at = axis_of(axis.value_or(-1), rank_of(x));
  return one_hot(argmax(x, at), as(dim_of(x, static_cast<int>(at)), DType::int32), number(1, x),
                 number(0, x), at);
}

Tensor det(const Call& c) { return matrix_determinant(c.in(0)); }
Tensor round_node(const Call& c) { return rint(c.in(0)); }

constexpr Entry kEntries[] = {
    {"Add", binary<add>},
    {"Sub", binary<subtract>},
    {"Mul", binary<multiply>},
    {"Div", div},
    {"Max", variadic<maximum>},
    {"Min", variadic<minimum>},
    {"Sum", variadic<add>},
    {"Mean", mean_of_all},
    {"Pow", power},
    {"Mod", modulo},
    {"Clip", clip_node},
    {"BitShift", bit_shift},
    {"IsInf", is_inf_node},
    {"Equal", equal_node},
    {"Elu", elu_node},
    {"Selu", selu_node},
    {"Celu", celu},
    {"LeakyRelu", leaky_relu_node},
    {"PRelu", prelu},
    {"ThresholdedRelu", thresholded_relu},
    {"HardSigmoid", hard_sigmoid},
    {"HardSwish", hard_swish},
    {"Shrink", shrink},
    {"Mish", mish},
    {"Swish", swish_node},
    {"SwiGLU", swiglu},
    {"Gelu", gelu_node},
    {"Gemm", gemm},
    {"MatMul", matmul_node},
    {"Einsum", einsum_node},
    {"Softmax", along_axis<softmax>},
    {"LogSoftmax", along_axis<log_softmax>},
    {"Hardmax", along_axis<hardmax_of>},
    {"Det", det},
    {"Round", round_node},
};

}  // namespace

std::span<const Entry> math_entries() { return kEntries; }

}  // namespace tidemark::io::onnx
