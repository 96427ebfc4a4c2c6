// Evenly spaced numbers.
#include <cmath>

#include "tidemark/ops/movement.h"

namespace tidemark {

namespace {

using namespace movement;

template <class T>
double scalar_as_double(const Tensor& t) {
  return static_cast<double>(*static_cast<const T*>(t.raw_data()));
}

double real_scalar(const Tensor& t) {
  switch (t.dtype()) {
    case DType::float16:
      return static_cast<float>(*static_cast<const Half*>(t.raw_data()));
    case DType::bfloat16:
      return static_cast<float>(*static_cast<const BFloat16*>(t.raw_data()));
    case DType::float32:
      return scalar_as_double<float>(t);
    default:
      return scalar_as_double<double>(t);
  }
}

/// Both differ by less than 2^64: counted without overflow.
int64_t count_ints(const InferContext& c, int64_t start, int64_t limit, int64_t delta) {
  if (delta == 0) c.fail("Requires delta != 0: 0");
  if (delta > 0 && start > limit) {
    c.fail("Requires start <= limit when delta > 0: ", start, "/", limit);
  }
  if (delta < 0 && start < limit) {
    c.fail("Requires start >= limit when delta < 0: ", start, "/", limit);
  }
  const auto first = static_cast<uint64_t>(start), last = static_cast<uint64_t>(limit);
  const uint64_t distance = delta > 0 ? last - first : first - last;
  const auto wide = static_cast<uint64_t>(delta);
  const uint64_t step = delta > 0 ? wide : uint64_t{0} - wide;
  const uint64_t count = distance / step + (distance % step != 0);
  if (count >> 62) c.fail("the range would have ", count, " elements, more than 2^62");
  return static_cast<int64_t>(count);
}

int64_t count_reals(const InferContext& c, double start, double limit, double delta) {
  if (delta == 0) c.fail("Requires delta != 0: ", delta);
  if (!std::isfinite(start) || !std::isfinite(limit) || std::isnan(delta)) {
    c.fail("start and limit must be finite and delta a number; given ", start, ", ", limit, ", ",
           delta);
  }
  if (delta > 0 && start > limit) {
    c.fail("Requires start <= limit when delta > 0: ", start, "/", limit);
  }
  if (delta < 0 && start < limit) {
    c.fail("Requires start >= limit when delta < 0: ", start, "/", limit);
  }
  // In the precision of the dtype, so that 0.3 / 0.1 counts as the caller sees it.
  const double count =
      c.dtype(0) == DType::float64
          ? std::ceil(std::abs((limit - start) / delta))
          : std::ceil(std::abs((static_cast<float>(limit) - static_cast<float>(start)) /
                               static_cast<float>(delta)));
  if (!(count < 4.6e18)) c.fail("the range would have ", count, " elements, more than 2^62");
  return static_cast<int64_t>(count);
}

void range_rule(InferContext& c) {
  for (int i = 0; i < 3; ++i) {
    if (c.shape(i).is_fully_known() && c.shape(i).rank() != 0) {
      c.fail("'", c.call().op.input_param(i).name, "' must be a scalar, not shape ",
             c.shape(i).to_brackets());
    }
    if (!holds_values(c.input(i))) return c.set(0, Shape{kUnknownDim});
  }
  const int64_t count = is_integer(c.dtype(0))
                            ? count_ints(c, c.scalar_int(0), c.scalar_int(1), c.scalar_int(2))
                            : count_reals(c, real_scalar(c.input(0)), real_scalar(c.input(1)),
                                          real_scalar(c.input(2)));
  c.set(0, Shape{count});
}

void linspace_rule(InferContext& c) {
  Shape out = broadcast_shapes(c.shape(0), c.shape(1));
  if (!out.has_rank()) return c.set(0, out);
  int64_t num = kUnknownDim;
  if (holds_values(c.input(2))) {
    num = c.scalar_int(2);
    if (num < 0) c.fail("Requires num >= 0: ", num);
  }
  out.insert(normalize_axis(c.attr("axis").as_int(), out.rank() + 1, "[linspace] axis"), num);
  c.set(0, out);
}

/// Each element is start * (1 - t) + stop * t with t from 0 to 1.
void linspace_gradient(Grad& g) {
  const int rank = g.dy().rank();
  const int axis = normalize_axis(g.attr("axis").as_int(), rank);
  const DType dtype = g.dy().dtype();
  const Tensor zero = zero_of(dtype);
  const Tensor one = call("cast", {Tensor(1.f)}, {{"dtype", dtype}});
  const Tensor t = call("linspace", {zero, one, g.x(2)});
  Ints column(static_cast<size_t>(rank), 1);
  column[static_cast<size_t>(axis)] = -1;
  const Tensor weight = call("reshape", {t, ints_tensor(column)});
  const Ints along{axis};
  g.dx(1) = g.unbroadcast(call("sum", {g.dy() * weight}, {{"axis", along}}), 1);
  g.dx(0) = g.unbroadcast(call("sum", {g.dy() * (one - weight)}, {{"axis", along}}), 0);
}

}  // namespace

TIDEMARK_OP(range)
    .doc("start, start + delta, … up to but not with limit.")
    .tensorflow("Range", {}, {}, "range")
    .onnx("Range")
    .input("start", kReal)
    .input("limit", kReal)
    .input("delta", kReal)
    .output("output", like("start"))
    .shape(range_rule)
    .on_host(0, 1, 2)
    .no_gradient();

TIDEMARK_OP(linspace)
    .doc("`num` evenly spaced values from start to stop, both included, along a new dimension.")
    .input("start", kFloats)
    .input("stop", kFloats)
    .input("num", kIndex, 'N')
    .attr("axis", AttrKind::integer, 0)
    .output("output", like("start"))
    .shape(linspace_rule)
    .on_host(2)
    .gradient(linspace_gradient, keep_x(2));

}  // namespace tidemark
