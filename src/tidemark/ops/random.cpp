// Random numbers: counter-based (Philox 4x32-10), so results do not depend on the number of
// threads.
//
// The stateful ops draw from the process's generator (base/random_state.h); the stateless ones are
// pure functions of their `seed`, two integers.

#include <tidemark/call.h>

#include "tidemark/ops/movement.h"

namespace tidemark {

namespace {

void random_shape(InferContext& c) {
  if (!movement::holds_values(c.input(0))) return c.set(0, movement::unknown_dims_of(c, 0));
  const Ints dims = c.ints(0);
  for (const int64_t d : dims) {
    if (d < 0) c.fail("Dimension ", d, " must be >= 0 in shape ", Shape(dims).to_brackets());
  }
  c.set(0, Shape(dims));
}

void check_seed(InferContext& c, int input) {
  const Shape& s = c.shape(input);
  if (!s.has_rank() || (s.rank() == 1 && (s[0] == 2 || s[0] == kUnknownDim))) return;
  c.fail("seed must have shape [2], not ", s.to_brackets());
}

void stateless_shape(InferContext& c) {
  check_seed(c, 1);
  random_shape(c);
}

OpDef&& of_shape(OpDef&& op, std::string what, bool stateless) {
  what += stateless ? " `seed` holds two integers; the same seed gives the same numbers."
                    : " Drawn from the process's generator; with `seed`, from a stream of its own.";
  OpDef&& shaped = std::move(op).doc(std::move(what)).input("shape", kIndex, 'I');
  if (!stateless) return std::move(shaped).stateful().shape(random_shape);
  return std::move(shaped).input("seed", kInts, 'S').shape(stateless_shape);
}

OpDef&& with_op_seed(OpDef&& op, bool stateless) {
  return stateless ? std::move(op) : std::move(op).optional_attr("seed", AttrKind::integer);
}

OpDef&& normal(OpDef&& op, std::string what, bool stateless) {
  return with_op_seed(of_shape(std::move(op), std::move(what), stateless)
                          .attr("mean", AttrKind::real, 0.0)
                          .attr("stddev", AttrKind::real, 1.0)
                          .attr("dtype", AttrKind::dtype, DType::float32),
                      stateless)
      .output("output", from_attr("dtype"))
      .no_gradient();
}

OpDef&& uniform(OpDef&& op, bool stateless) {
  return with_op_seed(of_shape(std::move(op), "Uniform floats in [minval, maxval).", stateless)
                          .attr("minval", AttrKind::real, 0.0)
                          .attr("maxval", AttrKind::real, 1.0)
                          .attr("dtype", AttrKind::dtype, DType::float32),
                      stateless)
      .output("output", from_attr("dtype"))
      .no_gradient();
}

OpDef&& uniform_int(OpDef&& op, bool stateless) {
  return with_op_seed(of_shape(std::move(op),
                               "Integers in [minval, maxval), two scalars: minval + bits * (maxval "
                               "- minval) / 2^b with b = 32, or 64 for 64-bit integers.",
                               stateless)
                          .input("minval", kInts)
                          .input("maxval", kInts),
                      stateless)
      .output("output", like("minval"))
      .no_gradient();
}

OpDef&& full_int(OpDef&& op, bool stateless) {
  return with_op_seed(
             of_shape(std::move(op), "Integers over the whole range of `dtype`.", stateless)
                 .attr("dtype", AttrKind::dtype, DType::int32),
             stateless)
      .output("output", from_attr("dtype"))
      .no_gradient();
}

/// The inputs from `parameter` on belong to the last dimensions of the result.
void check_parameters(InferContext& c, int parameter) {
  if (c.call().op.input_param(1).name == "seed") check_seed(c, 1);
  random_shape(c);
  const Shape& out = c.output(0).shape;
  for (; parameter < c.num_inputs(); ++parameter) {
    const Shape& p = c.shape(parameter);
    const int skip = out.rank() - p.rank();
    for (int d = 0; d < p.rank(); ++d) {
      if (skip < 0 || p[d] != out[d + skip]) {
        c.fail("the last dimensions of shape ", out.to_brackets(), " must be those of '",
               c.call().op.input_param(parameter).name, "', ", p.to_brackets());
      }
    }
  }
}
void parameter_shape(InferContext& c) { check_parameters(c, c.num_inputs() - 1); }
void two_parameters_shape(InferContext& c) { check_parameters(c, c.num_inputs() - 2); }

/// Each number moves with its shape parameter while its quantile stays.
void gamma_gradient(Grad& g, int alpha) {
  g.dx(alpha) = g.unbroadcast(g.dy() * call("random_gamma_grad", {g.x(alpha), g.y()}), alpha);
}

OpDef&& gamma(OpDef&& op, bool stateless) {
  OpDef&& drawn = with_op_seed(of_shape(std::move(op),
                                        "Gamma-distributed numbers of scale 1. `alpha` holds the "
                                        "shape parameters for the last dimensions of the result.",
                                        stateless)
                                   .input("alpha", kFloats),
                               stateless)
                      .output("output", like("alpha"))
                      .shape(parameter_shape);
  if (stateless) {
    return std::move(drawn).gradient([](Grad& g) { gamma_gradient(g, 2); }, keep_x(2) | keep_y(0));
  }
  return std::move(drawn).gradient([](Grad& g) { gamma_gradient(g, 1); }, keep_x(1) | keep_y(0));
}

OpDef&& poisson(OpDef&& op, bool stateless) {
  return with_op_seed(of_shape(std::move(op),
                               "Poisson-distributed counts. `rate` holds the means for the last "
                               "dimensions of the result.",
                               stateless)
                          .input("rate", kFloats)
                          .attr("dtype", AttrKind::dtype, DType::float32),
                      stateless)
      .output("output", from_attr("dtype"))
      .shape(parameter_shape)
      .no_gradient();
}

OpDef&& binomial(OpDef&& op, bool stateless) {
  return with_op_seed(of_shape(std::move(op),
                               "Binomially distributed numbers. `counts` and `probs` hold tries "
                               "and probabilities for the last dimensions of the result.",
                               stateless)
                          .input("counts", kFloats)
                          .input("probs", kFloats)
                          .attr("dtype", AttrKind::dtype, DType::int32),
                      stateless)
      .output("output", from_attr("dtype"))
      .shape(two_parameters_shape)
      .no_gradient();
}

constexpr const char* kNormal = "Normal numbers of the given mean and standard deviation.";
constexpr const char* kTruncated =
    "Normal numbers of the given mean and standard deviation, none further than two standard "
    "deviations from the mean.";

}  // namespace

#define TIDEMARK_RANDOM_OP(name, definition) \
  [[maybe_unused]] static const detail::OpRegistrar tidemark_op_##name = definition

TIDEMARK_RANDOM_OP(random_normal, normal(OpDef("random_normal"), kNormal, false));
TIDEMARK_RANDOM_OP(stateless_random_normal,
                   normal(OpDef("stateless_random_normal"), kNormal, true));
TIDEMARK_RANDOM_OP(random_truncated_normal,
                   normal(OpDef("random_truncated_normal"), kTruncated, false));
TIDEMARK_RANDOM_OP(stateless_random_truncated_normal,
                   normal(OpDef("stateless_random_truncated_normal"), kTruncated, true));
TIDEMARK_RANDOM_OP(random_uniform, uniform(OpDef("random_uniform"), false));
TIDEMARK_RANDOM_OP(stateless_random_uniform, uniform(OpDef("stateless_random_uniform"), true));
TIDEMARK_RANDOM_OP(random_uniform_int, uniform_int(OpDef("random_uniform_int"), false));
TIDEMARK_RANDOM_OP(stateless_random_uniform_int,
                   uniform_int(OpDef("stateless_random_uniform_int"), true));
TIDEMARK_RANDOM_OP(random_full_int, full_int(OpDef("random_full_int"), false));
TIDEMARK_RANDOM_OP(stateless_random_full_int, full_int(OpDef("stateless_random_full_int"), true));

TIDEMARK_RANDOM_OP(random_gamma, gamma(OpDef("random_gamma"), false));
TIDEMARK_RANDOM_OP(stateless_random_gamma, gamma(OpDef("stateless_random_gamma"), true));
TIDEMARK_RANDOM_OP(random_poisson, poisson(OpDef("random_poisson"), false));
TIDEMARK_RANDOM_OP(stateless_random_poisson, poisson(OpDef("stateless_random_poisson"), true));
TIDEMARK_RANDOM_OP(random_binomial, binomial(OpDef("random_binomial"), false));
TIDEMARK_RANDOM_OP(stateless_random_binomial, binomial(OpDef("stateless_random_binomial"), true));

TIDEMARK_OP(random_shuffle)
    .doc("The rows (along dimension 0) in random order. With `seed`, from a stream of its own.")
    .input("value", kPlain)
    .optional_attr("seed", AttrKind::integer)
    .output("output", like("value"))
    .shape([](InferContext& c) { c.set(0, c.shape(0)); })
    .stateful()
    .no_gradient();

TIDEMARK_OP(stateless_random_shuffle)
    .doc("The rows (along dimension 0) in an order that `seed`, two integers, decides.")
    .input("value", kPlain)
    .input("seed", kInts, 'S')
    .output("output", like("value"))
    .shape([](InferContext& c) {
      check_seed(c, 1);
      c.set(0, c.shape(0));
    })
    .no_gradient();

}  // namespace tidemark
