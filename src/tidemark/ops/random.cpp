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

void stream_shape(InferContext& c) {
  const Shape& s = c.shape(1);
  if (s.has_rank() && s != Shape{3}) c.fail("stream must have shape [3], not ", s.to_brackets());
  random_shape(c);
}

void stateless_shape(InferContext& c) {
  check_seed(c, 1);
  random_shape(c);
}

/// Who decides about the numbers: the process's generator, two integers, or what random_stream
/// gave.
enum class From : uint8_t { generator, seed, stream };

OpDef&& of_shape(OpDef&& op, Literal what, From from) {
  constexpr Literal kHow[] = {
      " Drawn from the process's generator; with `seed`, from a stream of its own.",
      " `seed` holds two integers; the same seed gives the same numbers.",
      " From the blocks that `stream`, the result of random_stream, stands for."};
  OpDef&& shaped =
      std::move(op).doc(what, kHow[static_cast<int>(from)]).input("shape", kIndex, 'I').on_host(0);
  if (from == From::generator) return std::move(shaped).stateful().shape(random_shape);
  if (from == From::seed) {
    return std::move(shaped).input("seed", kInts, 'S').on_host(1).shape(stateless_shape);
  }
  return std::move(shaped)
      .input("stream", dtype_set(DType::uint64), 'S')
      .on_host(1)
      .shape(stream_shape);
}

OpDef&& with_op_seed(OpDef&& op, From from) {
  if (from != From::generator) return std::move(op);
  return std::move(op).optional_attr("seed", AttrKind::integer);
}

OpDef&& normal(OpDef&& op, Distribution distribution, From from) {
  constexpr Literal kAll = "Normal numbers of the given mean and standard deviation.";
  constexpr Literal kNear =
      "Normal numbers of the given mean and standard deviation, none further than two standard "
      "deviations from the mean.";
  const Literal what = distribution == Distribution::normal ? kAll : kNear;
  return with_op_seed(of_shape(std::move(op), what, from)
                          .attr("mean", AttrKind::real, 0.0)
                          .attr("stddev", AttrKind::real, 1.0)
                          .attr("dtype", AttrKind::dtype, DType::float32),
                      from)
      .output("output", from_attr("dtype"))
      .draws(distribution)
      .no_gradient();
}

OpDef&& uniform(OpDef&& op, From from) {
  return with_op_seed(of_shape(std::move(op), "Uniform floats in [minval, maxval).", from)
                          .attr("minval", AttrKind::real, 0.0)
                          .attr("maxval", AttrKind::real, 1.0)
                          .attr("dtype", AttrKind::dtype, DType::float32),
                      from)
      .output("output", from_attr("dtype"))
      .draws(Distribution::uniform)
      .no_gradient();
}

OpDef&& uniform_int(OpDef&& op, From from) {
  return with_op_seed(of_shape(std::move(op),
                               "Integers in [minval, maxval), two scalars: minval + bits * (maxval "
                               "- minval) / 2^b with b = 32, or 64 for 64-bit integers.",
                               from)
                          .input("minval", kInts)
                          .input("maxval", kInts),
                      from)
      .on_host(from == From::generator ? 1 : 2, from == From::generator ? 2 : 3)
      .output("output", like("minval"))
      .may_fail()
      .no_gradient();
}

OpDef&& full_int(OpDef&& op, From from) {
  return with_op_seed(of_shape(std::move(op), "Integers over the whole range of `dtype`.", from)
                          .attr("dtype", AttrKind::dtype, DType::int32),
                      from)
      .output("output", from_attr("dtype"))
      .no_gradient();
}

/// The inputs from `parameter` on belong to the last dimensions of the result.
void check_parameters(InferContext& c, int parameter) {
  if (c.call().op.input_param(1).name == "seed") check_seed(c, 1);
  random_shape(c);
  const Shape& out = c.output(0).shape;
  if (!movement::holds_values(c.input(0))) return;  // sizes to be looked at when the graph runs
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

OpDef&& gamma(OpDef&& op, From from) {
  OpDef&& drawn = with_op_seed(of_shape(std::move(op),
                                        "Gamma-distributed numbers of scale 1. `alpha` holds the "
                                        "shape parameters for the last dimensions of the result.",
                                        from)
                                   .input("alpha", kFloats),
                               from)
                      .output("output", like("alpha"))
                      .shape(parameter_shape);
  if (from != From::generator) {
    return std::move(drawn).gradient([](Grad& g) { gamma_gradient(g, 2); }, keep_x(2) | keep_y(0));
  }
  return std::move(drawn).gradient([](Grad& g) { gamma_gradient(g, 1); }, keep_x(1) | keep_y(0));
}

OpDef&& poisson(OpDef&& op, From from) {
  return with_op_seed(of_shape(std::move(op),
                               "Poisson-distributed counts. `rate` holds the means for the last "
                               "dimensions of the result.",
                               from)
                          .input("rate", kFloats)
                          .attr("dtype", AttrKind::dtype, DType::float32),
                      from)
      .output("output", from_attr("dtype"))
      .shape(parameter_shape)
      .no_gradient();
}

OpDef&& binomial(OpDef&& op, From from) {
  return with_op_seed(of_shape(std::move(op),
                               "Binomially distributed numbers. `counts` and `probs` hold tries "
                               "and probabilities for the last dimensions of the result.",
                               from)
                          .input("counts", kFloats)
                          .input("probs", kFloats)
                          .attr("dtype", AttrKind::dtype, DType::int32),
                      from)
      .output("output", from_attr("dtype"))
      .shape(two_parameters_shape)
      .no_gradient();
}

constexpr Distribution kNormal = Distribution::normal, kTruncated = Distribution::truncated_normal;

}  // namespace

#define TIDEMARK_RANDOM_OP(name, definition) \
  [[maybe_unused]] static const detail::OpRegistrar tidemark_op_##name = definition

TIDEMARK_RANDOM_OP(random_normal, normal(OpDef("random_normal"), kNormal, From::generator));
TIDEMARK_RANDOM_OP(stateless_random_normal,
                   normal(OpDef("stateless_random_normal"), kNormal, From::seed));
TIDEMARK_RANDOM_OP(random_truncated_normal,
                   normal(OpDef("random_truncated_normal"), kTruncated, From::generator));
TIDEMARK_RANDOM_OP(stateless_random_truncated_normal,
                   normal(OpDef("stateless_random_truncated_normal"), kTruncated, From::seed));
TIDEMARK_RANDOM_OP(random_uniform, uniform(OpDef("random_uniform"), From::generator));
TIDEMARK_RANDOM_OP(stateless_random_uniform,
                   uniform(OpDef("stateless_random_uniform"), From::seed));
TIDEMARK_RANDOM_OP(random_uniform_int, uniform_int(OpDef("random_uniform_int"), From::generator));
TIDEMARK_RANDOM_OP(stateless_random_uniform_int,
                   uniform_int(OpDef("stateless_random_uniform_int"), From::seed));
TIDEMARK_RANDOM_OP(random_full_int, full_int(OpDef("random_full_int"), From::generator));
TIDEMARK_RANDOM_OP(stateless_random_full_int,
                   full_int(OpDef("stateless_random_full_int"), From::seed));

TIDEMARK_RANDOM_OP(random_gamma, gamma(OpDef("random_gamma"), From::generator));
TIDEMARK_RANDOM_OP(stateless_random_gamma, gamma(OpDef("stateless_random_gamma"), From::seed));
TIDEMARK_RANDOM_OP(random_poisson, poisson(OpDef("random_poisson"), From::generator));
TIDEMARK_RANDOM_OP(stateless_random_poisson,
                   poisson(OpDef("stateless_random_poisson"), From::seed));
TIDEMARK_RANDOM_OP(random_binomial, binomial(OpDef("random_binomial"), From::generator));
TIDEMARK_RANDOM_OP(stateless_random_binomial,
                   binomial(OpDef("stateless_random_binomial"), From::seed));

TIDEMARK_OP(random_stream)
    .doc(
        "Takes `blocks` blocks of 128 random bits from the process's generator, or from the stream "
        "of `seed`, and tells where they start: a key and a counter of two parts.")
    .attr("blocks", AttrKind::integer)
    .optional_attr("seed", AttrKind::integer)
    .output("stream", always(DType::uint64))
    .shape([](InferContext& c) {
      if (c.attr("blocks").as_int() < 0) {
        c.fail("blocks must not be negative: ", c.attr("blocks").as_int());
      }
      c.set(0, {3});
    })
    .stateful()
    .no_gradient();
TIDEMARK_RANDOM_OP(stream_random_normal,
                   normal(OpDef("stream_random_normal"), kNormal, From::stream));
TIDEMARK_RANDOM_OP(stream_random_truncated_normal,
                   normal(OpDef("stream_random_truncated_normal"), kTruncated, From::stream));
TIDEMARK_RANDOM_OP(stream_random_uniform, uniform(OpDef("stream_random_uniform"), From::stream));

TIDEMARK_OP(random_shuffle)
    .doc("The rows (along dimension 0) in random order. With `seed`, from a stream of its own.")
    .tensorflow("RandomShuffle", {}, "seed")
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
