// Reductions over rows that share a segment number.
#include "tidemark/ops/gradients.h"
#include "tidemark/ops/movement.h"
#include "tidemark/ops/strided_spec.h"

namespace tidemark {

namespace {

using namespace movement;

/// Sorted ids: as many rows as the last one says. The kernel checks that they are sorted.
void segment_rule(InferContext& c) {
  const Shape& data = c.shape(0);
  const Shape& ids = c.shape(1);
  if (ids.has_rank() && ids.rank() != 1) c.fail("segment_ids should be a vector.");
  if (!data.has_rank()) return c.set(0, data);
  if (data.rank() < 1) c.fail("data must be at least a vector; given a scalar");
  if (ids.is_fully_known() && data[0] != kUnknownDim && ids[0] != data[0]) {
    c.fail("segment_ids should be the same size as dimension 0 of data: ", data[0], "; it has ",
           ids[0]);
  }
  Shape out = data;
  out[0] = kUnknownDim;
  if (holds_values(c.input(1))) {
    const int64_t last = ids[0] > 0 ? int_at(c.input(1), ids[0] - 1) : -1;
    if (last < -1) c.fail("segment ids must be >= 0; the last is ", last);
    out[0] = checked_add(last, 1, "the number of segments");
  }
  c.set(0, out);
}

void unsorted_segment_rule(InferContext& c) {
  const Shape& data = c.shape(0);
  const Shape& ids = c.shape(1);
  if (!data.has_rank() || !ids.has_rank()) return c.set(0, Shape::unknown());
  bool fits = ids.rank() <= data.rank();
  for (int i = 0; fits && i < ids.rank(); ++i) {
    fits = ids[i] == data[i] || ids[i] == kUnknownDim || data[i] == kUnknownDim;
  }
  if (!fits) {
    c.fail("data.shape = ", data.to_brackets(),
           " does not start with segment_ids.shape = ", ids.to_brackets());
  }
  int64_t segments = kUnknownDim;
  if (holds_values(c.input(2))) {
    segments = c.scalar_int(2);
    if (segments < 0) c.fail("Input num_segments == ", segments, " must not be negative.");
  }
  Shape out{segments};
  for (int i = ids.rank(); i < data.rank(); ++i) out.push_back(data[i]);
  c.set(0, out);
}

/// The rows of `t` at the ids; zeros for ids that are dropped because they are negative.
Tensor gather_or_zero(const Tensor& t, const Tensor& ids, int data_rank) {
  const Tensor zero = zero_of(ids.dtype());
  const Tensor rows = call("gather", {t, call("maximum", {ids, zero})}, {{"axis", 0}});
  Tensor counts = call("greater_equal", {ids, zero});
  for (int i = ids.rank(); i < data_rank; ++i)
    counts = call("expand_dims", {counts}, {{"axis", -1}});
  return zero_unless(counts, rows);
}

/// Elements that reach the extreme share their segment's gradient equally.
void extreme_gradient(Grad& g, const Tensor& segments, bool sorted) {
  const int rank = g.shape(0).rank();
  const Tensor reached = call("equal", {g.x(0), gather_or_zero(g.y(), g.x(1), rank)});
  const Tensor ones = call("cast", {reached}, {{"dtype", g.dy().dtype()}});
  const Tensor sharing = sorted ? call("segment_sum", {ones, g.x(1)})
                                : call("unsorted_segment_sum", {ones, g.x(1), segments});
  const Tensor share = call("divide_no_nan", {g.dy(), sharing});
  g.dx(0) = zero_unless(reached, gather_or_zero(share, g.x(1), rank));
}

void unsorted_extreme_gradient(Grad& g) { extreme_gradient(g, g.x(2), false); }
void sorted_extreme_gradient(Grad& g) { extreme_gradient(g, Tensor(), true); }

/// The product of the others in the segment: by division where nothing is zero, and for the only
/// zero of a segment the product of the rest.
void product_gradient(Grad& g, const Tensor& segments) {
  const int rank = g.shape(0).rank();
  const Tensor& x = g.x(0);
  const Tensor& ids = g.x(1);
  const Tensor is_zero = call("equal", {x, zero_of(x.dtype())});
  const Tensor zeros = call("cast", {is_zero}, {{"dtype", DType::int64}});
  const Tensor zero_count = call("unsorted_segment_sum", {zeros, ids, segments});
  const Tensor several = call("greater", {zero_count, Tensor(int64_t{1})});
  const Tensor dy = call("select", {several, zero_of(x.dtype()), g.dy()});
  const Tensor nonzero = call("select", {is_zero, scalar_like(1, x), x});
  const Tensor rest = call("unsorted_segment_prod", {nonzero, ids, segments});
  const Tensor by_division = call("divide_no_nan", {gather_or_zero(g.y(), ids, rank), x});
  const Tensor others = call("select", {is_zero, gather_or_zero(rest, ids, rank), by_division});
  g.dx(0) = gather_or_zero(dy, ids, rank) * others;
}

Tensor segment_count(const Grad& g) {
  const Shape& s = g.y().shape();
  if (s.has_rank() && s[0] != kUnknownDim) return Tensor(s[0]);
  const Tensor shape = call("shape", {g.y()}, {{"out_type", DType::int64}});
  return call("gather", {shape, Tensor(int64_t{0})});
}

void mean_gradient(Grad& g) {
  const Tensor one = scalar(1, g.dy().dtype());
  const Tensor ones = call("broadcast_to", {one, call("shape", {g.x(1)})});
  Tensor counts = call("segment_sum", {ones, g.x(1)});
  for (int i = 1; i < g.shape(0).rank(); ++i)
    counts = call("expand_dims", {counts}, {{"axis", -1}});
  g.dx(0) = call("gather", {call("divide_no_nan", {g.dy(), counts}), g.x(1)}, {{"axis", 0}});
}

}  // namespace

TIDEMARK_OP(unsorted_segment_sum)
    .doc(
        "Row i of the result is the sum of the data whose segment number is i; negative numbers "
        "drop their data.")
    .python("tf.math.unsorted_segment_sum")
    .tensorflow("UnsortedSegmentSum")
    .input("data", kNumeric)
    .input("segment_ids", kIndex, 'I')
    .input("num_segments", kIndex, 'N')
    .output("output", like("data"))
    .may_fail()
    .shape(unsorted_segment_rule)
    .on_host(2)
    .gradient([](Grad& g) { g.dx(0) = gather_or_zero(g.dy(), g.x(1), g.shape(0).rank()); },
              keep_x(1));

TIDEMARK_OP(unsorted_segment_prod)
    .doc("Row i of the result is the product of the data whose segment number is i, 1 for none.")
    .python("tf.math.unsorted_segment_prod")
    .tensorflow("UnsortedSegmentProd")
    .input("data", kNumeric)
    .input("segment_ids", kIndex, 'I')
    .input("num_segments", kIndex, 'N')
    .output("output", like("data"))
    .may_fail()
    .shape(unsorted_segment_rule)
    .on_host(2)
    .gradient([](Grad& g) { product_gradient(g, g.x(2)); }, keep_x(0, 1, 2) | keep_y(0));

TIDEMARK_OP(unsorted_segment_max)
    .doc(
        "Row i of the result is the largest of the data whose segment number is i; the lowest "
        "number there is for none.")
    .python("tf.math.unsorted_segment_max")
    .tensorflow("UnsortedSegmentMax")
    .input("data", kReal)
    .input("segment_ids", kIndex, 'I')
    .input("num_segments", kIndex, 'N')
    .output("output", like("data"))
    .may_fail()
    .shape(unsorted_segment_rule)
    .on_host(2)
    .gradient(unsorted_extreme_gradient, keep_x(0, 1, 2) | keep_y(0));

TIDEMARK_OP(unsorted_segment_min)
    .doc(
        "Row i of the result is the smallest of the data whose segment number is i; the highest "
        "number there is for none.")
    .python("tf.math.unsorted_segment_min")
    .tensorflow("UnsortedSegmentMin")
    .input("data", kReal)
    .input("segment_ids", kIndex, 'I')
    .input("num_segments", kIndex, 'N')
    .output("output", like("data"))
    .may_fail()
    .shape(unsorted_segment_rule)
    .on_host(2)
    .gradient(unsorted_extreme_gradient, keep_x(0, 1, 2) | keep_y(0));

TIDEMARK_OP(segment_sum)
    .doc("Sums of runs of rows with the same segment number; the numbers never decrease.")
    .python("tf.math.segment_sum")
    .tensorflow("SegmentSum")
    .input("data", kNumeric)
    .input("segment_ids", kIndex, 'I')
    .output("output", like("data"))
    .may_fail()
    .shape(segment_rule)
    .on_host(1)
    .gradient(
        [](Grad& g) {
          g.dx(0) = call("gather", {g.dy(), g.x(1)}, {{"axis", 0}});
        },
        keep_x(1));

TIDEMARK_OP(segment_mean)
    .doc("Means of runs of rows with the same segment number; the numbers never decrease.")
    .python("tf.math.segment_mean")
    .tensorflow("SegmentMean")
    .input("data", kNumeric)
    .input("segment_ids", kIndex, 'I')
    .output("output", like("data"))
    .may_fail()
    .shape(segment_rule)
    .on_host(1)
    .gradient(mean_gradient, keep_x(1));

TIDEMARK_OP(segment_prod)
    .doc("Products of runs of rows with the same segment number; the numbers never decrease.")
    .python("tf.math.segment_prod")
    .tensorflow("SegmentProd")
    .input("data", kNumeric)
    .input("segment_ids", kIndex, 'I')
    .output("output", like("data"))
    .may_fail()
    .shape(segment_rule)
    .on_host(1)
    .gradient([](Grad& g) { product_gradient(g, segment_count(g)); }, keep_x(0, 1) | keep_y(0));

TIDEMARK_OP(segment_max)
    .doc(
        "Largest elements of runs of rows with the same segment number, 0 for none; the numbers "
        "never decrease.")
    .python("tf.math.segment_max")
    .tensorflow("SegmentMax")
    .input("data", kReal)
    .input("segment_ids", kIndex, 'I')
    .output("output", like("data"))
    .may_fail()
    .shape(segment_rule)
    .on_host(1)
    .gradient(sorted_extreme_gradient, keep_x(0, 1) | keep_y(0));

TIDEMARK_OP(segment_min)
    .doc(
        "Smallest elements of runs of rows with the same segment number, 0 for none; the numbers "
        "never decrease.")
    .python("tf.math.segment_min")
    .tensorflow("SegmentMin")
    .input("data", kReal)
    .input("segment_ids", kIndex, 'I')
    .output("output", like("data"))
    .may_fail()
    .shape(segment_rule)
    .on_host(1)
    .gradient(sorted_extreme_gradient, keep_x(0, 1) | keep_y(0));

}  // namespace tidemark
