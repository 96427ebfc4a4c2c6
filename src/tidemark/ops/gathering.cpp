// Ops that pick elements by index. Their inverses are in scattering.cpp.

#include <tidemark/rows.h>

#include "tidemark/base/serial_for.h"
#include "tidemark/ops/movement.h"
#include "tidemark/ops/refused.h"
#include "tidemark/ops/strided_spec.h"

namespace tidemark {

namespace {

using namespace movement;

struct GatherAxes {
  int axis, batch_dims;
};

/// Both shapes have a rank.
GatherAxes gather_axes(const InferContext& c, const Shape& params, const Shape& indices) {
  const int64_t given = c.attr("batch_dims").as_int();
  if (given < -indices.rank() || given > indices.rank()) {
    c.fail("Expected batch_dims in the range [", -indices.rank(), ", ", indices.rank(),
           "], but got ", given);
  }
  const int batch = static_cast<int>(given < 0 ? given + indices.rank() : given);
  const Attr& attr = c.attr("axis");
  const int axis = normalize_axis(attr.is_none() ? batch : attr.as_int(), params.rank(),
                                  message("[", c.op_name(), "] axis"));
  if (batch > axis) {
    c.fail("batch_dims (", batch, ") must be less than or equal to axis (", axis, ")");
  }
  for (int i = 0; i < batch; ++i) {
    if (params[i] != indices[i] && params[i] != kUnknownDim && indices[i] != kUnknownDim) {
      c.fail("params.shape[", i, "]: ", params[i], " should be equal to indices.shape[", i,
             "]: ", indices[i]);
    }
  }
  return {axis, batch};
}

Shape gathered_shape(const Shape& params, const Shape& indices, GatherAxes axes) {
  Shape out;
  for (int i = 0; i < axes.axis; ++i) out.push_back(params[i]);
  for (int i = axes.batch_dims; i < indices.rank(); ++i) out.push_back(indices[i]);
  for (int i = axes.axis + 1; i < params.rank(); ++i) out.push_back(params[i]);
  return out;
}

void set_gathered_characters(InferContext& c, const Shape& out) {
  if (c.dtype(0) != DType::string || !out.is_fully_known()) return;
  const int64_t most = longest_string(c.input(0));
  c.set_string_bytes(0, checked_multiply(most, out.num_elements(), "characters"));
}

/// Characters of the slices along the first dimension that the indices name, exactly: one long
/// string among many must not count for all. Indices outside are left to the kernel's check.
int64_t characters_of_rows(const Tensor& params, const Tensor& indices) {
  const int64_t rows = params.dim(0);
  const int64_t inner = rows > 0 ? params.num_elements() / rows : 0;
  const auto* refs = static_cast<const StringRef*>(params.raw_data());
  int64_t characters = 0;
  for (int64_t i = 0; i < indices.num_elements(); ++i) {
    const int64_t row = int_at(indices, i);
    if (row < 0 || row >= rows) continue;
    for (int64_t j = row * inner; j < (row + 1) * inner; ++j) {
      characters += static_cast<int64_t>(refs[j].length);
    }
  }
  return characters;
}

void gather_rule(InferContext& c) {
  const Shape& params = c.shape(0);
  const Shape& indices = c.shape(1);
  if (!params.has_rank() || !indices.has_rank()) return c.set(0, Shape::unknown());
  const GatherAxes axes = gather_axes(c, params, indices);
  const Shape out = gathered_shape(params, indices, axes);
  c.set(0, out);
  const bool known = holds_values(c.input(0)) && holds_values(c.input(1));
  if (c.dtype(0) == DType::string && known && axes.axis == 0) {
    return c.set_string_bytes(0, characters_of_rows(c.input(0), c.input(1)));
  }
  set_gathered_characters(c, out);
}

void gather_grad_rule(InferContext& c) {
  if (!holds_values(c.input(2))) return c.set(0, unknown_dims_of(c, 2));
  const Shape params = read_shape(c, 2);
  c.set(0, params);
  if (!c.shape(0).has_rank() || !c.shape(1).is_fully_known()) return;
  const Shape taken = gathered_shape(params, c.shape(0), gather_axes(c, params, c.shape(0)));
  if (taken.is_fully_known() && !(taken == c.shape(1))) {
    c.fail("'dy' must have shape ", taken.to_brackets(), "; given ", c.shape(1).to_brackets());
  }
}

void gather_nd_rule(InferContext& c) {
  const Shape& params = c.shape(0);
  const Shape& indices = c.shape(1);
  if (!params.has_rank() || !indices.has_rank()) return c.set(0, Shape::unknown());
  if (indices.rank() < 1) c.fail("indices must be at least a vector");
  const int64_t batch = c.attr("batch_dims").as_int();
  if (batch < 0 || batch >= indices.rank() || batch > params.rank()) {
    c.fail("batch_dims must be in [0, ", indices.rank() - 1, "] and not above the rank ",
           params.rank(), " of params; given ", batch);
  }
  for (int i = 0; i < batch; ++i) {
    if (params[i] != indices[i] && params[i] != kUnknownDim && indices[i] != kUnknownDim) {
      c.fail("batch dimension ", i, " differs: params has ", params[i], ", indices ", indices[i]);
    }
  }
  const int64_t depth = indices.dim(-1);
  if (depth == kUnknownDim) return c.set(0, Shape::unknown());
  if (depth > params.rank() - batch) {
    c.fail("index innermost dimension length must be <= params rank; saw: ", depth, " vs. ",
           params.rank() - batch);
  }
  Shape out;
  for (int i = 0; i < indices.rank() - 1; ++i) out.push_back(indices[i]);
  for (int i = static_cast<int>(batch + depth); i < params.rank(); ++i) out.push_back(params[i]);
  c.set(0, out);
  set_gathered_characters(c, out);
}

// --- one_hot ----------------------------------------------------------------------------------

void one_hot_rule(InferContext& c) {
  for (int i : {1, 2, 3}) {
    if (c.shape(i).is_fully_known() && c.shape(i).rank() != 0) {
      c.fail("'", c.call().op.input_param(i).name, "' must be a scalar, but got shape ",
             c.shape(i).to_brackets());
    }
  }
  const Shape& indices = c.shape(0);
  if (!indices.has_rank()) return c.set(0, indices);
  const int axis = normalize_axis(c.attr("axis").as_int(), indices.rank() + 1, "[one_hot] axis");
  int64_t depth = kUnknownDim;
  if (holds_values(c.input(1))) {
    depth = c.scalar_int(1);
    if (depth < 0) c.fail("depth must be non-negative, got: ", depth);
  }
  Shape out = indices;
  out.insert(axis, depth);
  if (out.is_fully_known()) (void)out.num_elements();
  c.set(0, out);
}

// --- picking by condition ---------------------------------------------------------------------

/// How many elements are true; unknown while tracing, and on a device until they are counted there.
int64_t count_true(const Tensor& t) {
  if (!holds_values(t) || !t.device().is_cpu()) return kUnknownDim;
  int64_t count = 0;
  const auto values = t.values<bool>();
  serial_for(t.num_elements(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) count += values[static_cast<size_t>(i)];
  });
  return count;
}

void nonzero_rule(InferContext& c) {
  const Shape& in = c.shape(0);
  const int64_t rank = in.has_rank() ? in.rank() : kUnknownDim;
  c.set(0, Shape{count_true(c.input(0)), rank});
}

void boolean_mask_rule(InferContext& c) {
  const Shape& in = c.shape(0);
  const Shape& mask = c.shape(1);
  if (!in.has_rank() || !mask.has_rank()) return c.set(0, Shape::unknown());
  if (mask.rank() == 0) fail<RefusedValueError>("[boolean_mask] mask cannot be scalar.");
  const Attr& attr = c.attr("axis");
  const int axis =
      attr.is_none() ? 0 : normalize_axis(attr.as_int(), in.rank(), "[boolean_mask] axis");
  bool fits = axis + mask.rank() <= in.rank();
  for (int i = 0; fits && i < mask.rank(); ++i) {
    fits = in[axis + i] == mask[i] || in[axis + i] == kUnknownDim || mask[i] == kUnknownDim;
  }
  if (!fits) {
    fail<RefusedValueError>("[boolean_mask] Shapes ", in.to_string(), " from dimension ", axis,
                            " on and ", mask.to_string(),
                            " are incompatible: the mask's dimensions must be the tensor's");
  }
  Shape out;
  for (int i = 0; i < axis; ++i) out.push_back(in[i]);
  out.push_back(count_true(c.input(1)));
  for (int i = axis + mask.rank(); i < in.rank(); ++i) out.push_back(in[i]);
  c.set(0, out);
  c.set_string_bytes(0, characters_of(c.input(0)));
}

/// The masked elements' gradient goes back to where they came from; the others get zero.
void boolean_mask_gradient(Grad& g) {
  const Attr& attr = g.attr("axis");
  const int axis = attr.is_none() ? 0 : normalize_axis(attr.as_int(), g.shape(0).rank());
  const Tensor flat_mask = call("reshape", {g.x(1), ints_tensor({-1})});
  const Tensor rows = call("squeeze", {call("nonzero", {flat_mask})}, {{"axis", Ints{1}}});
  // The masked dimensions as one: the shape before them, -1, the shape after them.
  const Tensor whole = shape_tensor(g, 0);
  const int after = axis + g.shape(1).rank();
  const Tensor before = call("slice", {whole, ints_tensor({0}), ints_tensor({axis})});
  const Tensor behind = call("slice", {whole, ints_tensor({after}), ints_tensor({-1})});
  const Tensor masked = call("slice", {whole, ints_tensor({axis}), ints_tensor({after - axis})});
  const Tensor middle = call("prod", {masked}, {{"axis", Ints{0}}, {"keepdims", true}});
  const Tensor flat_shape = call("concat", {before, middle, behind}, {{"axis", 0}});
  const Tensor flat = call("gather_grad", {rows, g.dy(), flat_shape}, {{"axis", axis}});
  g.dx(0) = call("reshape", {flat, whole});
}

/// Short integers, too, where elements are picked; what adds to them wants the usual ones.
constexpr DTypeSet kPicking = dtype_set(DType::int16, DType::int32, DType::int64);

Tensor as_index(const Tensor& indices) {
  if (indices.dtype() != DType::int16) return indices;
  return call("cast", {indices}, {{"dtype", DType::int32}});
}

std::optional<RowRule> gather_rows(const RowQuestion& q) {
  const int64_t batch = q.attr("batch_dims").as_int();
  if (batch != 0) return batch > 0 ? rows::every_input(q) : std::nullopt;
  if (!q.attr("axis").is_none() && !q.names_first("axis", q.in(0).rank())) {
    return q.rows({RowRole::rows, RowRole::whole});
  }
  return q.in(1).rank() > 0 ? q.rows({RowRole::whole, RowRole::rows}) : std::nullopt;
}

std::optional<RowRule> gather_grad_rows(const RowQuestion& q) {
  const int64_t batch = q.attr("batch_dims").as_int();
  if (batch < 0) return std::nullopt;
  if (batch > 0) return q.rows({RowRole::rows, RowRole::rows, RowRole::sizes});
  if (!q.attr("axis").is_none() && !q.names_first("axis", q.out().rank())) {
    return q.rows({RowRole::whole, RowRole::rows, RowRole::sizes});
  }
  const Shape &indices = q.in(0), &dy = q.in(1);
  if (indices.rank() == 0 || dy.rank() == 0 || indices[0] != dy[0]) return std::nullopt;
  if (!q.can_add(1)) return std::nullopt;
  return RowRule{{RowRole::rows, RowRole::rows, RowRole::whole}, {RowResult::sum}};
}

}  // namespace

TIDEMARK_OP(gather)
    .doc(
        "The slices of `params` along `axis` that `indices` names; with batch_dims, the leading "
        "dimensions of both are walked together.")
    .python("tf.gather")
    .tensorflow("GatherV2", "params indices axis", "batch_dims")
    .onnx("Gather", "params indices", "axis")
    .input("params", kAny)
    .input("indices", kPicking, 'I')
    .optional_attr("validate_indices", AttrKind::boolean)
    .optional_attr("axis", AttrKind::integer)
    .attr("batch_dims", AttrKind::integer, 0)
    .output("output", like("params"))
    .may_fail()
    .shape(gather_rule)
    .rows(gather_rows)
    .gradient(
        [](Grad& g) {
          g.dx(0) = call("gather_grad", {as_index(g.x(1)), g.dy(), shape_tensor(g, 0)},
                         {{"axis", g.attr("axis")}, {"batch_dims", g.attr("batch_dims")}});
        },
        keep_x(1));

TIDEMARK_OP(gather_grad)
    .doc("Zeros of the given shape to which each slice of `dy` is added where gather took it from.")
    .input("indices", kIndex, 'I')
    .input("dy", kNumeric)
    .input("shape", kIndex, 'S')
    .optional_attr("axis", AttrKind::integer)
    .attr("batch_dims", AttrKind::integer, 0)
    .output("output", like("dy"))
    .may_fail()
    .on_host(2)
    .shape(gather_grad_rule)
    .rows(gather_grad_rows)
    .gradient(
        [](Grad& g) {
          g.dx(1) = call("gather", {g.dy(), g.x(0)},
                         {{"axis", g.attr("axis")}, {"batch_dims", g.attr("batch_dims")}});
        },
        keep_x(0));

TIDEMARK_OP(gather_nd)
    .doc("The slices of `params` at the positions in the last dimension of `indices`.")
    .python("tf.gather_nd")
    .tensorflow("GatherNd")
    .onnx("GatherND", {}, "batch_dims")
    .input("params", kAny)
    .input("indices", kPicking, 'I')
    .attr("batch_dims", AttrKind::integer, 0)
    .output("output", like("params"))
    .may_fail()
    .shape(gather_nd_rule)
    .gradient(
        [](Grad& g) {
          g.dx(0) = call("gather_nd_grad", {as_index(g.x(1)), g.dy(), shape_tensor(g, 0)},
                         {{"batch_dims", g.attr("batch_dims")}});
        },
        keep_x(1));

TIDEMARK_OP(one_hot)
    .doc(
        "on_value at each index along a new dimension of size `depth`, off_value elsewhere; "
        "nothing but off_value for an index outside of it.")
    .tensorflow("OneHot", {}, "axis", "one_hot")
    .input("indices", dtype_set(DType::uint8, DType::int8, DType::int32, DType::int64), 'I')
    .input("depth", kIndex, 'D')
    .input("on_value", kPlain)
    .input("off_value", kPlain)
    .attr("axis", AttrKind::integer, -1)
    .output("output", like("on_value"))
    .shape(one_hot_rule)
    .on_host(1)
    .rows(rows::along_axis_of_output)
    .no_gradient();

TIDEMARK_OP(nonzero)
    .doc("The positions of the true elements, in row-major order: [count, rank].")
    .tensorflow("Where")
    .input("condition", kBool)
    .output("output", always(DType::int64))
    .shape(nonzero_rule)
    .rows_from_values(0)
    .no_gradient();

TIDEMARK_OP(boolean_mask)
    .doc("The slices of `tensor` at which `mask` is true, in order.")
    .python("tf.boolean_mask")
    .input("tensor", kAny)
    .input("mask", kBool, 'M')
    .optional_attr("axis", AttrKind::integer)
    .output("output", like("tensor"))
    .shape(boolean_mask_rule)
    .rows_from_values(0)
    .gradient(boolean_mask_gradient, keep_x(1));

}  // namespace tidemark
