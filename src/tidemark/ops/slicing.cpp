// Slices. What lies one after another in the input is a view; the rest is copied.

#include <tidemark/rows.h>

#include "tidemark/ops/movement.h"
#include "tidemark/ops/strided_spec.h"

namespace tidemark {

namespace {

using namespace movement;

/// A view where the elements taken lie together; else room for the characters of a copy.
void alias_or_copy(InferContext& c, const StridedSpec& spec) {
  const Shape out = spec.out_shape();
  c.set(0, out);
  if (!out.is_fully_known() || !c.shape(0).is_fully_known()) return;
  int64_t offset = 0;
  const bool empty = out.num_elements() == 0;  // a view would keep the input alive for nothing
  if (!empty && spec.is_contiguous(c.shape(0), offset)) return c.alias(0, 0, offset);
  if (!empty) c.set_string_bytes(0, characters_of(c.input(0)));
}

/// What is known of the sizes taken where a run alone can tell where they begin, or the sizes.
Shape sizes_taken(const InferContext& c) {
  const Shape& in = c.shape(0);
  Shape out = in.has_rank() ? Shape::filled(in.rank(), kUnknownDim) : unknown_dims_of(c, 1);
  if (!holds_values(c.input(2)) || !out.has_rank()) return out;
  const Ints sizes = c.input(2).to_ints();
  if (static_cast<int>(sizes.size()) != out.rank()) return out;
  for (int i = 0; i < out.rank(); ++i) {
    const int64_t size = sizes[static_cast<size_t>(i)];
    if (size >= 0) out[i] = size;  // -1: all that is left
  }
  return out;
}

void slice_rule(InferContext& c) {
  check_vector(c, 1);
  check_vector(c, 2);
  const Shape& in = c.shape(0);
  if (!holds_values(c.input(1)) || !holds_values(c.input(2))) {
    return c.set(0, sizes_taken(c));
  }
  if (!in.has_rank()) return c.set(0, unknown_dims_of(c, 1));
  if (c.shape(1)[0] != in.rank() || c.shape(2)[0] != in.rank()) {
    c.fail("Expected begin and size arguments to be 1-D tensors of size ", in.rank(),
           ", but got shapes ", c.shape(1).to_brackets(), " and ", c.shape(2).to_brackets(),
           " instead");
  }
  StridedSpec spec;
  spec.rank = spec.out_rank = in.rank();
  for (int i = 0; i < in.rank(); ++i) {
    const int64_t begin = int_at(c.input(1), i);
    int64_t size = int_at(c.input(2), i);
    if (in[i] != kUnknownDim) {
      if (begin < 0 || begin > in[i]) {
        c.fail("Expected begin[", i, "] in [0, ", in[i], "], but got ", begin);
      }
      if (size == -1) size = in[i] - begin;
      if (size < 0 || size > in[i] - begin) {
        c.fail("Expected size[", i, "] in [0, ", in[i] - begin, "], but got ", size);
      }
    }
    spec.dims[i] = {begin, 1, size};
    spec.out[i] = size;
  }
  alias_or_copy(c, spec);
}

void slice_gradient(Grad& g) {
  const Tensor begin = call("cast", {g.x(1)}, {{"dtype", DType::int64}});
  const Shape& taken = g.dy().shape();
  const Tensor size = taken.is_fully_known()
                          ? ints_tensor(Ints(taken.begin(), taken.end()))
                          : call("shape", {g.dy()}, {{"out_type", DType::int64}});
  const Tensor after = shape_tensor(g, 0) - begin - size;
  const Tensor paddings = call("stack", {begin, after}, {{"axis", 1}});
  g.dx(0) = call("pad", {g.dy(), paddings, zero_of(g.dy().dtype())});
}

void strided_slice_rule(InferContext& c) {
  if (!c.shape(0).has_rank() || !c.shape(1).is_fully_known()) return c.set(0, Shape::unknown());
  StridedSpec spec;
  resolve_strided_slice(spec, c.op_name(), c.shape(0), c.input(1), c.input(2), c.input(3),
                        SliceMasks::of(c.call()));
  alias_or_copy(c, spec);
}

/// The masks of the op whose gradient this is, for a call of a sibling.
Tensor call_with_masks(const Grad& g, std::string_view op, std::initializer_list<Tensor> inputs) {
  return call(op, inputs,
              {{"begin_mask", g.attr("begin_mask")},
               {"end_mask", g.attr("end_mask")},
               {"ellipsis_mask", g.attr("ellipsis_mask")},
               {"new_axis_mask", g.attr("new_axis_mask")},
               {"shrink_axis_mask", g.attr("shrink_axis_mask")}});
}

/// The spec of the op whose first input is the sliced shape or tensor and whose input 4 is a value.
void check_value(const InferContext& c, const Shape& sliced) {
  StridedSpec spec;
  resolve_strided_slice(spec, c.op_name(), sliced, c.input(1), c.input(2), c.input(3),
                        SliceMasks::of(c.call()));
  const Shape taken = spec.out_shape();
  if (!taken.is_fully_known() || !c.shape(4).is_fully_known() || taken == c.shape(4)) return;
  c.fail("the slice has shape ", taken.to_brackets(), ", but '", c.call().op.input_param(4).name,
         "' has shape ", c.shape(4).to_brackets());
}

void strided_slice_grad_rule(InferContext& c) {
  if (!holds_values(c.input(0))) return c.set(0, unknown_dims_of(c, 0));
  const Shape out = read_shape(c, 0);
  check_value(c, out);
  c.set(0, out);
}

void slice_update_rule(InferContext& c) {
  if (c.shape(0).has_rank()) check_value(c, c.shape(0));
  c.set(0, c.shape(0));
}

std::optional<RowRule> slice_rows(const RowQuestion& q) {
  const auto begin = q.known(1);
  if (!begin || begin->empty() || (*begin)[0] != 0) return std::nullopt;
  return q.rows({RowRole::rows, RowRole::whole, RowRole::sizes});
}

/// The first dimension is taken whole: an end at or behind its last row is one for parts too.
bool takes_all_rows(const RowQuestion& q, int64_t rows) {
  const auto begin = q.known(1), end = q.known(2), by = q.known(3);
  if (!begin || !end || !by || begin->empty()) return false;
  const auto bit = [&](const char* mask) { return (q.attr(mask).as_int() & 1) != 0; };
  if (bit("ellipsis_mask") || bit("new_axis_mask") || bit("shrink_axis_mask")) return false;
  return (bit("begin_mask") || (*begin)[0] == 0) && (bit("end_mask") || (*end)[0] >= rows) &&
         (*by)[0] == 1;
}
std::optional<RowRule> strided_slice_rows(const RowQuestion& q) {
  const bool all = q.in(0).rank() > 0 && takes_all_rows(q, q.in(0)[0]);
  return all ? rows::first_input(q) : std::nullopt;
}
std::optional<RowRule> strided_slice_grad_rows(const RowQuestion& q) {
  if (!takes_all_rows(q, q.num_rows())) return std::nullopt;
  return q.rows({RowRole::sizes, RowRole::whole, RowRole::whole, RowRole::whole, RowRole::rows});
}

}  // namespace

TIDEMARK_OP(slice)
    .doc("The box of `size` elements from `begin` on; a size of -1 takes all that is left.")
    .python("tf.slice")
    .tensorflow("Slice")
    .input("input_", kAny)
    .input("begin", kIndex, 'I')
    .input("size", kIndex, 'I')
    .output("output", like("input_"))
    .shape(slice_rule)
    .on_host(1, 2)
    .rows(slice_rows)
    .gradient(slice_gradient, keep_x(1));

TIDEMARK_OP(strided_slice)
    .doc(
        "Python's slices: begin, end and stride along each dimension; the masks say which bounds "
        "were left out and where an ellipsis, a new axis or a single index stands.")
    .tensorflow("StridedSlice", {},
                "begin_mask end_mask ellipsis_mask new_axis_mask shrink_axis_mask", "strided_slice")
    .input("input_", kAny)
    .input("begin", kIndex, 'I')
    .input("end", kIndex, 'I')
    .input("strides", kIndex, 'I')
    .attr("begin_mask", AttrKind::integer, 0)
    .attr("end_mask", AttrKind::integer, 0)
    .attr("ellipsis_mask", AttrKind::integer, 0)
    .attr("new_axis_mask", AttrKind::integer, 0)
    .attr("shrink_axis_mask", AttrKind::integer, 0)
    .output("output", like("input_"))
    .shape(strided_slice_rule)
    .on_host(1, 2, 3)
    .rows(strided_slice_rows)
    .gradient(
        [](Grad& g) {
          g.dx(0) = call_with_masks(g, "strided_slice_grad",
                                    {shape_tensor(g, 0), g.x(1), g.x(2), g.x(3), g.dy()});
        },
        keep_x(1, 2, 3));

TIDEMARK_OP(strided_slice_grad)
    .doc("Zeros of the given shape with `dy` at the elements that the strided slice takes.")
    .tensorflow("StridedSliceGrad", {},
                "begin_mask end_mask ellipsis_mask new_axis_mask shrink_axis_mask")
    .input("shape", kIndex, 'I')
    .input("begin", kIndex, 'I')
    .input("end", kIndex, 'I')
    .input("strides", kIndex, 'I')
    .input("dy", kPlain)
    .attr("begin_mask", AttrKind::integer, 0)
    .attr("end_mask", AttrKind::integer, 0)
    .attr("ellipsis_mask", AttrKind::integer, 0)
    .attr("new_axis_mask", AttrKind::integer, 0)
    .attr("shrink_axis_mask", AttrKind::integer, 0)
    .output("output", like("dy"))
    .shape(strided_slice_grad_rule)
    .on_host(0, 1, 2, 3)
    .rows(strided_slice_grad_rows)
    .gradient(
        [](Grad& g) {
          g.dx(4) = call_with_masks(g, "strided_slice", {g.dy(), g.x(1), g.x(2), g.x(3)});
        },
        keep_x(1, 2, 3));

TIDEMARK_OP(tensor_strided_slice_update)
    .doc("`input` with `value` at the elements that the strided slice takes.")
    .tensorflow("TensorStridedSliceUpdate", {},
                "begin_mask end_mask ellipsis_mask new_axis_mask shrink_axis_mask")
    .input("input", kPlain)
    .input("begin", kIndex, 'I')
    .input("end", kIndex, 'I')
    .input("strides", kIndex, 'I')
    .input("value", kPlain)
    .attr("begin_mask", AttrKind::integer, 0)
    .attr("end_mask", AttrKind::integer, 0)
    .attr("ellipsis_mask", AttrKind::integer, 0)
    .attr("new_axis_mask", AttrKind::integer, 0)
    .attr("shrink_axis_mask", AttrKind::integer, 0)
    .output("output", like("input"))
    .shape(slice_update_rule)
    .on_host(1, 2, 3)
    .in_place(0)
    .gradient(
        [](Grad& g) {
          const Tensor taken =
              call_with_masks(g, "strided_slice", {g.dy(), g.x(1), g.x(2), g.x(3)});
          g.dx(4) = taken;
          const Tensor zeros = zeros_of_shape(taken);
          g.dx(0) = call_with_masks(g, "tensor_strided_slice_update",
                                    {g.dy(), g.x(1), g.x(2), g.x(3), zeros});
        },
        keep_x(1, 2, 3));

}  // namespace tidemark
