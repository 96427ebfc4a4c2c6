// Elementwise operators, reductions, products, and integers that stand for reals.
#include <cmath>

#include "tidemark/io/tflite/ops.h"

namespace tidemark::io::tflite {

using namespace onnx;

Tensor activated(const Call& c, const Tensor& x) {
  switch (const int64_t kind = c.integer("activation", 0)) {
    case 0:
      return x;
    case 1:
      return relu(x);
    case 2:
      return clip(x, -1, 1);
    case 3:
      return relu6(x);
    case 4:
      return tanh(x);
    default:
      tidemark::fail<UnimplementedError>("the activation ", kind, " is not read");
  }
}

DType output_dtype(const Call& c) { return storage_of(c.element("element", Element::undefined)); }

namespace {

template <Tensor (*Op)(const Tensor&)>
Tensor unary(const Call& c) {
  return Op(c.in(0));
}
template <Tensor (*Op)(const Tensor&, const Tensor&)>
Tensor binary(const Call& c) {
  return activated(c, Op(c.in(0), c.in(1)));
}

Tensor divide(const Tensor& x, const Tensor& y) {
  return is_integer(x.dtype()) ? truncatediv(x, y) : truediv(x, y);
}

/// Scale and zero of the integers, laid out beside x.
std::pair<Tensor, Tensor> quantisation_of(const Call& c, const Tensor& x) {
  const Attribute *scales = c.attr("scales"), *zeros = c.attr("zeros");
  if (!scales || !zeros || scales->reals.size() != zeros->integers.size()) c.fail("has no scales");
  std::vector<float> offsets(zeros->integers.begin(), zeros->integers.end());
  const auto as_tensor = [&](const std::vector<float>& values) {
    const auto count = static_cast<int64_t>(values.size());
    if (count == 1) return Tensor(values[0]);
    const Tensor all = Tensor::of<float>(values, Shape{count});
    return per_channel(all, rank_of(x), static_cast<int>(c.integer("axis", 0)));
  };
  return {as_tensor(scales->reals), as_tensor(offsets)};
}

Tensor dequantise(const Call& c) {
  const auto [scale, zero] = quantisation_of(c, c.in(0));
  return (as(c.in(0), DType::float32) - zero) * scale;
}

Tensor quantise(const Call& c) {
  const Tensor x = as(c.in(0), DType::float32);
  const auto [scale, zero] = quantisation_of(c, x);
  const DType dtype = output_dtype(c);
  const double low =
      is_signed(dtype) ? -std::ldexp(1, 8 * static_cast<int>(size_of(dtype)) - 1) : 0;
  const double high = low + std::ldexp(1, 8 * static_cast<int>(size_of(dtype))) - 1;
  const Tensor rounded = clip(rint(x / scale) + zero, low, high);
  return as(as(rounded, DType::int32), dtype);
}

Tensor to_output(const Call& c) { return as(c.in(0), output_dtype(c)); }

Tensor hard_swish(const Call& c) {
  const Tensor& x = c.in(0);
  return x * relu6(x + number(3, x)) * number(1.0 / 6, x);
}

Tensor prelu(const Call& c) {
  const Tensor& x = c.in(0);
  const Tensor zero = number(0, x);
  return maximum(x, zero) + c.in(1) * minimum(x, zero);
}

Tensor softmax_node(const Call& c) {
  const Tensor& x = c.in(0);
  const double beta = c.real("beta", 1);
  return softmax(beta == 1 ? x : x * number(beta, x));
}

Tensor l2_normalised(const Call& c) {
  const Tensor& x = c.in(0);
  const Tensor norm = sqrt(sum(square(x), Ints{-1}, true));
  return activated(c, x / maximum(norm, number(1e-6, x)));
}

/// Each channel by the squares of its neighbours.
Tensor local_response(const Call& c) {
  const Tensor& x = c.in(0);
  const int64_t radius = c.integer("radius", 0), depth = known_dim(x, -1);
  if (radius < 0 || radius > 64) c.fail("has the radius ", radius, "; 0 to 64 is read");
  Ints table(static_cast<size_t>(rank_of(x)) * 2, 0);
  table[table.size() - 2] = table[table.size() - 1] = radius;
  const Tensor wide =
      pad(square(x), reshaped(vector_of(table), {rank_of(x), 2}), "CONSTANT", number(0, x));
  std::vector<Tensor> parts;
  for (int64_t at = 0; at <= 2 * radius; ++at) parts.push_back(sliced(wide, -1, at, at + depth));
  const Tensor base = number(c.real("bias", 1), x) + number(c.real("alpha", 1), x) * add_n(parts);
  return x * pow(base, number(-c.real("beta", 1), x));
}

Tensor fully_connected(const Call& c) {
  if (c.integer("format", 0) != 0) {
    tidemark::fail<UnimplementedError>("shuffled weights are not read");
  }
  Tensor x = c.in(0);
  const Tensor& w = c.in(1);
  if (c.integer("keep_num_dims", 0) == 0 && rank_of(x) != 2) {
    x = reshaped(x, {-1, known_dim(w, 1)});
  }
  Tensor y = matmul(x, w, false, true);
  if (c.has(2)) y = y + c.in(2);
  return activated(c, y);
}

Tensor batch_matmul(const Call& c) {
  return matmul(c.in(0), c.in(1), c.integer("adj_x", 0) != 0, c.integer("adj_y", 0) != 0);
}

using Reduce = Tensor (*)(const Tensor&, std::optional<Ints>, bool);
template <Reduce Op>
Tensor reduction(const Call& c) {
  return Op(c.in(0), c.ints(1), c.integer("keep_dims", 0) != 0);
}

Tensor arg_max(const Call& c) { return argmax(c.in(0), c.known_integer(1), output_dtype(c)); }
Tensor arg_min(const Call& c) { return argmin(c.in(0), c.known_integer(1), output_dtype(c)); }

Tensor cumulated(const Call& c) {
  return cumsum(c.in(0), c.known_integer(1), c.integer("exclusive", 0) != 0,
                c.integer("reverse", 0) != 0);
}

Tensor add_all(const Call& c) { return add_n(c.tensors()); }

Tensor gelu_node(const Call& c) { return gelu(c.in(0), c.integer("approximate", 0) != 0); }
Tensor leaky(const Call& c) { return leaky_relu(c.in(0), c.real("alpha", 0)); }
Tensor relu_n1_to_1(const Call& c) { return clip(c.in(0), -1, 1); }
Tensor relu_0_to_1(const Call& c) { return clip(c.in(0), 0, 1); }

Tensor bucketized(const Call& c) {
  const Attribute* bounds = c.attr("boundaries");
  if (!bounds) c.fail("has no boundaries");
  const Tensor sorted =
      Tensor::of<float>(bounds->reals, Shape{static_cast<int64_t>(bounds->reals.size())});
  const Tensor flat = reshaped(as(c.in(0), DType::float32), {-1});
  return reshape(searchsorted(sorted, flat, "right", DType::int32), shape_of(c.in(0)));
}

using Segments = Tensor (*)(const Tensor&, const Tensor&, const Tensor&);
template <Segments Op>
Tensor segments(const Call& c) {
  return Op(c.in(0), c.in(1), c.in(2));
}

constexpr Entry kEntries[] = {
    entry("quantise", quantise),
    entry("dequantise", dequantise),
    entry("QUANTIZE", to_output),
    entry("DEQUANTIZE", to_output),
    entry("CAST", to_output),
    entry("ADD", binary<add>),
    entry("SUB", binary<subtract>),
    entry("MUL", binary<multiply>),
    entry("DIV", binary<divide>),
    entry("ADD_N", add_all),
    entry("FLOOR_DIV", binary<floordiv>),
    entry("FLOOR_MOD", binary<floormod>),
    entry("MAXIMUM", binary<maximum>),
    entry("MINIMUM", binary<minimum>),
    entry("POW", binary<pow>),
    entry("SQUARED_DIFFERENCE", binary<squared_difference>),
    entry("ATAN2", binary<atan2>),
    entry("LESS", binary<less>),
    entry("LESS_EQUAL", binary<less_equal>),
    entry("GREATER", binary<greater>),
    entry("GREATER_EQUAL", binary<greater_equal>),
    entry("EQUAL", binary<equal>),
    entry("NOT_EQUAL", binary<not_equal>),
    entry("LOGICAL_AND", binary<logical_and>),
    entry("LOGICAL_OR", binary<logical_or>),
    entry("LOGICAL_NOT", unary<logical_not>),
    entry("BITWISE_XOR", binary<bitwise_xor>),
    entry("ABS", unary<abs>),
    entry("NEG", unary<negative>),
    entry("EXP", unary<exp>),
    entry("LOG", unary<log>),
    entry("SIN", unary<sin>),
    entry("COS", unary<cos>),
    entry("SQRT", unary<sqrt>),
    entry("RSQRT", unary<rsqrt>),
    entry("SQUARE", unary<square>),
    entry("FLOOR", unary<floor>),
    entry("CEIL", unary<ceil>),
    entry("ROUND", unary<round>),
    entry("SIGN", unary<sign>),
    entry("TANH", unary<tanh>),
    entry("LOGISTIC", unary<sigmoid>),
    entry("RELU", unary<relu>),
    entry("RELU6", unary<relu6>),
    entry("RELU_N1_TO_1", relu_n1_to_1),
    entry("RELU_0_TO_1", relu_0_to_1),
    entry("ELU", unary<elu>),
    entry("HARD_SWISH", hard_swish),
    entry("LEAKY_RELU", leaky),
    entry("GELU", gelu_node),
    entry("PRELU", prelu),
    entry("REAL", unary<real>),
    entry("IMAG", unary<imag>),
    entry("COMPLEX_ABS", unary<abs>),
    entry("SOFTMAX", softmax_node),
    entry("LOG_SOFTMAX", [](const Call& c) { return log_softmax(c.in(0)); }),
    entry("L2_NORMALIZATION", l2_normalised),
    entry("LOCAL_RESPONSE_NORMALIZATION", local_response),
    entry("FULLY_CONNECTED", fully_connected),
    entry("BATCH_MATMUL", batch_matmul),
    entry("MEAN", reduction<mean>),
    entry("SUM", reduction<sum>),
    entry("REDUCE_PROD", reduction<prod>),
    entry("REDUCE_MAX", reduction<max>),
    entry("REDUCE_MIN", reduction<min>),
    entry("REDUCE_ANY", reduction<any>),
    entry("REDUCE_ALL", reduction<all>),
    entry("ARG_MAX", arg_max),
    entry("ARG_MIN", arg_min),
    entry("CUMSUM", cumulated),
    entry("BUCKETIZE", bucketized),
    entry("SEGMENT_SUM", [](const Call& c) { return segment_sum(c.in(0), c.in(1)); }),
    entry("UNSORTED_SEGMENT_SUM", segments<unsorted_segment_sum>),
    entry("UNSORTED_SEGMENT_PROD", segments<unsorted_segment_prod>),
    entry("UNSORTED_SEGMENT_MAX", segments<unsorted_segment_max>),
    entry("UNSORTED_SEGMENT_MIN", segments<unsorted_segment_min>),
};

}  // namespace

std::span<const Entry> math_entries() { return kEntries; }

}  // namespace tidemark::io::tflite
