// Ops about order: sorting, the largest, distinct values, where a value belongs.

#include <tidemark/rows.h>

#include "tidemark/ops/movement.h"

namespace tidemark {

namespace {

using namespace movement;

void check_direction(const InferContext& c) {
  const std::string& direction = c.attr("direction").as_string();
  if (direction == "ASCENDING" || direction == "DESCENDING") return;
  c.fail("Direction must be one of ASCENDING or DESCENDING; given '", direction, "'");
}

void sort_rule(InferContext& c) {
  check_direction(c);
  const Shape& in = c.shape(0);
  c.set(0, in);
  if (!in.has_rank()) return;
  if (in.rank() == 0) c.fail("values must have at least one dimension; given a scalar");
  normalize_axis(c.attr("axis").as_int(), in.rank(), message("[", c.op_name(), "] axis"));
}

void argsort_rule(InferContext& c) {
  sort_rule(c);
  const Shape& in = c.shape(0);
  if (!in.has_rank()) return;
  const int64_t size = in.dim(static_cast<int>(c.attr("axis").as_int()));
  if (size > INT32_MAX) c.fail("positions up to ", size, " do not fit in the int32 result");
}

/// dy is put back along the last dimension where `positions` says it came from.
Tensor put_back_last(const Tensor& positions, const Tensor& dy, const Tensor& shape) {
  return call("gather_grad", {positions, dy, shape}, {{"axis", -1}, {"batch_dims", dy.rank() - 1}});
}

void sort_gradient(Grad& g) {
  const Attr& direction = g.attr("direction");
  const int rank = g.dy().rank();
  const int axis = normalize_axis(g.attr("axis").as_int(), rank);
  const Tensor positions = call("argsort", {g.x(0)}, {{"axis", axis}, {"direction", direction}});
  if (axis == rank - 1) {
    g.dx(0) = put_back_last(positions, g.dy(), shape_tensor(g, 0));
    return;
  }
  Ints swap;
  for (int i = 0; i < rank; ++i) swap.push_back(i);
  std::swap(swap[static_cast<size_t>(axis)], swap.back());
  auto swapped = [&](const Tensor& t) { return call("transpose", {t}, {{"perm", swap}}); };
  const Tensor shape = call("gather", {shape_tensor(g, 0), ints_tensor(swap)});
  g.dx(0) = swapped(put_back_last(swapped(positions), swapped(g.dy()), shape));
}

void top_k_rule(InferContext& c) {
  const Shape& in = c.shape(0);
  const DType index_type = c.attr("index_type").as_dtype();
  if (!in.has_rank()) {
    c.set(0, in);
    return c.set(1, in, index_type);
  }
  if (in.rank() < 1) c.fail("input must be >= 1-D, got shape ", in.to_brackets());
  Shape out = in;
  int64_t& last = out[in.rank() - 1];
  const int64_t columns = last;
  last = kUnknownDim;
  if (holds_values(c.input(1))) {
    last = c.scalar_int(1);
    if (last < 0) c.fail("Need k >= 0, got ", last);
    if (columns != kUnknownDim && last > columns) {
      c.fail("input must have at least k columns. Had ", columns, ", needed ", last);
    }
  }
  if (!dtype_set(DType::int16, DType::int32, DType::int64).contains(index_type)) {
    c.fail("index_type must be int16, int32 or int64; given ", name_of(index_type));
  }
  if (index_type == DType::int16 ? columns > INT16_MAX
                                 : index_type == DType::int32 && columns > INT32_MAX) {
    c.fail("positions up to ", columns, " do not fit in ", name_of(index_type));
  }
  c.set(0, out);
  c.set(1, out, index_type);
}

void in_top_k_rule(InferContext& c) {
  const Shape& targets = c.shape(0);
  const Shape& predictions = c.shape(1);
  c.set(0, targets);
  if (!targets.has_rank() || !predictions.has_rank()) return;
  if (targets.rank() != 1) c.fail("targets must be 1-dimensional");
  if (predictions.rank() != 2) c.fail("predictions must be 2-dimensional");
  if (targets[0] != predictions[0] && targets[0] != kUnknownDim && predictions[0] != kUnknownDim) {
    c.fail("First dimension of predictions ", predictions[0], " must match length of targets ",
           targets[0]);
  }
}

void unique_rule(InferContext& c) {
  const Shape& in = c.shape(0);
  if (in.has_rank() && in.rank() != 1) c.fail("unique expects a 1D vector.");
  const DType index_type = c.attr("out_idx").as_dtype();
  if (!kIndex.contains(index_type)) {
    c.fail("out_idx must be int32 or int64; given ", name_of(index_type));
  }
  // While tracing nobody knows how many there will be; in a run there are at most as many as given.
  const int64_t size = in.has_rank() ? in[0] : kUnknownDim;
  const int64_t most = holds_values(c.input(0)) ? size : kUnknownDim;
  c.set(0, Shape{most});
  c.set_string_bytes(0, characters_of(c.input(0)));
  c.set(1, Shape{size}, index_type);
  if (c.num_outputs() == 3) c.set(2, Shape{most}, index_type);
}

void searchsorted_rule(InferContext& c) {
  const Shape& sequence = c.shape(0);
  const Shape& values = c.shape(1);
  const std::string& side = c.attr("side").as_string();
  if (side != "left" && side != "right") {
    c.fail("side must be either 'right' or 'left'.  Saw: ", side, ".");
  }
  const DType out_type = c.attr("out_type").as_dtype();
  if (!kIndex.contains(out_type)) c.fail("out_type must be int32 or int64");
  c.set(0, values);
  if (!sequence.has_rank() || !values.has_rank()) return;
  if (sequence.rank() == 0) c.fail("sorted_sequence must have at least one dimension");
  bool fits = values.rank() == sequence.rank() || sequence.rank() == 1;
  for (int i = 0; fits && sequence.rank() > 1 && i < sequence.rank() - 1; ++i) {
    fits = sequence[i] == values[i] || sequence[i] == kUnknownDim || values[i] == kUnknownDim;
  }
  if (!fits) {
    c.fail("Leading dim_size of both tensors must match: ", sequence.to_brackets(), " and ",
           values.to_brackets());
  }
}

void invert_permutation_rule(InferContext& c) {
  check_vector(c, 0);
  c.set(0, c.shape(0));
}

void bincount_rule(InferContext& c) {
  const Shape& arr = c.shape(0);
  const Shape& weights = c.shape(2);
  if (arr.has_rank() && arr.rank() > 2) {
    c.fail("arr must be at most 2-dimensional; given shape ", arr.to_brackets());
  }
  if (weights.is_fully_known() && arr.is_fully_known() && !(weights == arr) &&
      weights.num_elements() != 0) {
    c.fail("weights must be empty or have the shape of arr, ", arr.to_brackets(), "; given ",
           weights.to_brackets());
  }
  int64_t size = kUnknownDim;
  if (holds_values(c.input(1))) {
    size = c.scalar_int(1);
    if (size < 0) c.fail("size (", size, ") must be non-negative");
  }
  if (!arr.has_rank()) return c.set(0, Shape::unknown());
  c.set(0, arr.rank() == 2 ? Shape{arr[0], size} : Shape{size});
}

}  // namespace

TIDEMARK_OP(sort)
    .doc("The values in order along `axis`; NaN comes last.")
    .python("tf.sort")
    .input("values", kReal)
    .attr("axis", AttrKind::integer, -1)
    .attr("direction", AttrKind::string, "ASCENDING")
    .output("output", like("values"))
    .shape(sort_rule)
    .heavy()
    .along_axis(-1)
    .rows(rows::along_axis)
    .gradient(sort_gradient, keep_x(0));

TIDEMARK_OP(argsort)
    .doc("The positions that sort the values along `axis`; equal values keep their order.")
    .python("tf.argsort")
    .input("values", kReal)
    .attr("axis", AttrKind::integer, -1)
    .attr("direction", AttrKind::string, "ASCENDING")
    .attr("stable", AttrKind::boolean, false)
    .output("output", always(DType::int32))
    .shape(argsort_rule)
    .heavy()
    .along_axis(-1)
    .rows(rows::along_axis)
    .no_gradient();

TIDEMARK_OP(top_k)
    .doc("The k largest of each row and their positions, largest first; of equal ones the first.")
    .tensorflow("TopKV2", {}, "sorted")
    .input("input", kReal)
    .input("k", kIndex, 'K')
    .attr("sorted", AttrKind::boolean, true)
    .attr("index_type", AttrKind::dtype, DType::int32)
    .output("values", like("input"))
    .output("indices", from_attr("index_type"))
    .shape(top_k_rule)
    .on_host(1)
    .heavy()
    .rows(rows::first_input_of_matrices)
    .gradient(
        [](Grad& g) {
          if (!g.dy(0)) return;
          const Tensor positions = call("cast", {g.y(1)}, {{"dtype", DType::int64}});
          g.dx(0) = put_back_last(positions, g.dy(0), shape_tensor(g, 0));
        },
        keep_y(1));

TIDEMARK_OP(in_top_k)
    .doc("Whether each target's prediction is among the k largest of its row; ties count as in.")
    .python("tf.math.in_top_k", "tf.nn.in_top_k")
    .tensorflow("InTopKV2", "predictions targets k")
    .input("targets", kIndex, 'I')
    .input("predictions", dtype_set(DType::float32))
    .attr("k", AttrKind::integer)
    .output("output", always(DType::bool_))
    .shape(in_top_k_rule)
    .rows(rows::every_input)
    .no_gradient();

TIDEMARK_OP(unique)
    .doc(
        "The distinct elements in order of their first appearance, and for each element its "
        "number among them.")
    .python("tf.unique")
    .tensorflow("Unique", {}, "out_idx")
    .input("x", kAny)
    .attr("out_idx", AttrKind::dtype, DType::int32)
    .output("y", like("x"))
    .output("idx", from_attr("out_idx"))
    .shape(unique_rule)
    .rows_from_values(0)
    .no_gradient();

TIDEMARK_OP(unique_with_counts)
    .doc(
        "The distinct elements in order of their first appearance, for each element its number "
        "among them, and how often each comes up.")
    .python("tf.unique_with_counts")
    .tensorflow("UniqueWithCounts", {}, "out_idx")
    .input("x", kAny)
    .attr("out_idx", AttrKind::dtype, DType::int32)
    .output("y", like("x"))
    .output("idx", from_attr("out_idx"))
    .output("count", from_attr("out_idx"))
    .shape(unique_rule)
    .rows_from_values(0, 2)
    .no_gradient();

TIDEMARK_OP(searchsorted)
    .doc(
        "Where each value would have to be inserted to keep the sequence sorted: before equal "
        "ones (left) or after them (right).")
    .python("tf.searchsorted")
    .input("sorted_sequence", kReal)
    .input("values", kReal)
    .attr("side", AttrKind::string, "left")
    .attr("out_type", AttrKind::dtype, DType::int32)
    .output("output", from_attr("out_type"))
    .shape(searchsorted_rule)
    .no_gradient();

TIDEMARK_OP(invert_permutation)
    .doc("y with y[x[i]] = i.")
    .python("tf.math.invert_permutation")
    .tensorflow("InvertPermutation")
    .input("x", kIndex)
    .output("y", like("x"))
    .may_fail()
    .shape(invert_permutation_rule)
    .no_gradient();

TIDEMARK_OP(bincount)
    .doc(
        "How often each number in [0, size) comes up, or the sum of its weights where there are "
        "any; one row for each row of a matrix. Larger numbers are not counted.")
    .input("arr", kIndex, 'I')
    .input("size", kIndex, 'S')
    .input("weights", kReal)
    .attr("binary_output", AttrKind::boolean, false)
    .output("output", like("weights"))
    .may_fail()
    .shape(bincount_rule)
    .on_host(1)
    .no_gradient();

}  // namespace tidemark
