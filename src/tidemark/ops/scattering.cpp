// Ops that put slices at positions: the inverses of gather_nd.
#include "tidemark/ops/gradients.h"
#include "tidemark/ops/movement.h"

namespace tidemark {

namespace {

using namespace movement;

/// Throws unless `updates` is one slice of `whole` for each position in `indices`.
void check_updates(const InferContext& c, const Shape& whole, const Shape& indices,
                   const Shape& updates, int batch_dims = 0) {
  if (!whole.has_rank() || !indices.has_rank()) return;
  if (indices.rank() < 1) c.fail("indices must be at least a vector");
  const int64_t depth = indices.dim(-1);
  if (depth == kUnknownDim) return;
  if (depth > whole.rank() - batch_dims) {
    c.fail("the last dimension of indices, ", depth, ", must not be above the rank of ",
           whole.to_brackets());
  }
  Shape wanted;
  for (int i = 0; i < indices.rank() - 1; ++i) wanted.push_back(indices[i]);
  for (int i = batch_dims + static_cast<int>(depth); i < whole.rank(); ++i) {
    wanted.push_back(whole[i]);
  }
  if (!wanted.is_fully_known() || !updates.is_fully_known() || wanted == updates) return;
  c.fail("updates must have shape ", wanted.to_brackets(), ", one slice of ", whole.to_brackets(),
         " for each position in indices of shape ", indices.to_brackets(), "; given ",
         updates.to_brackets());
}

void check_policy(const InferContext& c) {
  const std::string& policy = c.attr("bad_indices_policy").as_string();
  if (policy.empty() || policy == "DEFAULT" || policy == "ERROR" || policy == "IGNORE") return;
  c.fail("bad_indices_policy must be '', 'DEFAULT', 'ERROR' or 'IGNORE'; given '", policy, "'");
}

void scatter_nd_rule(InferContext& c) {
  check_policy(c);
  if (!holds_values(c.input(2))) return c.set(0, unknown_dims_of(c, 2));
  const Shape out = read_shape(c, 2);
  check_updates(c, out, c.shape(0), c.shape(1));
  c.set(0, out);
}

void gather_nd_grad_rule(InferContext& c) {
  if (!holds_values(c.input(2))) return c.set(0, unknown_dims_of(c, 2));
  const Shape out = read_shape(c, 2);
  c.set(0, out);
  const Shape& indices = c.shape(0);
  if (!indices.has_rank()) return;
  const int64_t batch_dims = c.attr("batch_dims").as_int();
  if (batch_dims < 0 || batch_dims >= indices.rank() || batch_dims > out.rank()) {
    c.fail("batch_dims must be in [0, ", indices.rank() - 1, "] and not above the rank ",
           out.rank(), " of the result; given ", batch_dims);
  }
  for (int i = 0; i < batch_dims; ++i) {
    if (out[i] != indices[i] && indices[i] != kUnknownDim) {
      c.fail("batch dimension ", i, " differs: the result has ", out[i], ", indices ", indices[i]);
    }
  }
  check_updates(c, out, indices, c.shape(1), static_cast<int>(batch_dims));
}

void tensor_scatter_rule(InferContext& c) {
  check_policy(c);
  check_updates(c, c.shape(0), c.shape(1), c.shape(2));
  c.set(0, c.shape(0));
}

Tensor one_where(const Tensor& condition, DType dtype) {
  return call("cast", {condition}, {{"dtype", dtype}});
}

/// An element that several values reach shares its gradient equally among them.
void scatter_extreme_gradient(Grad& g) {
  const DType dtype = g.dy().dtype();
  const Tensor kept = one_where(call("equal", {g.x(0), g.y()}), dtype);
  const Tensor here = call("gather_nd", {g.y(), g.x(1)});
  const Tensor updated = one_where(call("equal", {g.x(2), here}), dtype);
  const Tensor sharing = kept + call("scatter_nd", {g.x(1), updated, shape_tensor(g, 0)});
  const Tensor share = g.dy() / sharing;
  g.dx(0) = share * kept;
  g.dx(2) = call("gather_nd", {share, g.x(1)}) * updated;
}

}  // namespace

TIDEMARK_OP(scatter_nd)
    .doc("Zeros of the given shape to which each slice of `updates` is added at its position.")
    .python("tf.scatter_nd")
    .tensorflow("ScatterNd")
    .input("indices", kIndex, 'I')
    .input("updates", kPlain)
    .input("shape", kIndex, 'S')
    .attr("bad_indices_policy", AttrKind::string, "")
    .output("output", like("updates"))
    .may_fail()
    .on_host(2)
    .shape(scatter_nd_rule)
    .gradient(
        [](Grad& g) {
          g.dx(1) = call("gather_nd", {g.dy(), g.x(0)});
        },
        keep_x(0));

TIDEMARK_OP(gather_nd_grad)
    .doc("Zeros of the given shape to which each slice of `dy` is added where gather_nd took it.")
    .input("indices", kIndex, 'I')
    .input("dy", kNumeric)
    .input("shape", kIndex, 'S')
    .attr("batch_dims", AttrKind::integer, 0)
    .output("output", like("dy"))
    .may_fail()
    .on_host(2)
    .shape(gather_nd_grad_rule)
    .gradient(
        [](Grad& g) {
          g.dx(1) = call("gather_nd", {g.dy(), g.x(0)}, {{"batch_dims", g.attr("batch_dims")}});
        },
        keep_x(0));

TIDEMARK_OP(tensor_scatter_nd_update)
    .doc("`tensor` with the slices of `updates` at their positions; the last of several wins.")
    .python("tf.tensor_scatter_nd_update")
    .tensorflow("TensorScatterUpdate")
    .onnx("ScatterND")
    .input("tensor", kPlain)
    .input("indices", kIndex, 'I')
    .input("updates", kPlain)
    .attr("bad_indices_policy", AttrKind::string, "")
    .output("output", like("tensor"))
    .may_fail()
    .shape(tensor_scatter_rule)
    .in_place(0)
    .gradient(
        [](Grad& g) {
          const Tensor taken = call("gather_nd", {g.dy(), g.x(1)});
          g.dx(0) = call("tensor_scatter_nd_update", {g.dy(), g.x(1), zeros_of_shape(taken)});
          g.dx(2) = taken;
        },
        keep_x(1));

TIDEMARK_OP(tensor_scatter_nd_add)
    .doc("`tensor` with the slices of `updates` added at their positions.")
    .python("tf.tensor_scatter_nd_add")
    .tensorflow("TensorScatterAdd")
    .input("tensor", kNumeric)
    .input("indices", kIndex, 'I')
    .input("updates", kNumeric)
    .attr("bad_indices_policy", AttrKind::string, "")
    .output("output", like("tensor"))
    .may_fail()
    .shape(tensor_scatter_rule)
    .in_place(0)
    .gradient(
        [](Grad& g) {
          g.dx(0) = g.dy();
          g.dx(2) = call("gather_nd", {g.dy(), g.x(1)});
        },
        keep_x(1));

TIDEMARK_OP(tensor_scatter_nd_sub)
    .doc("`tensor` with the slices of `updates` subtracted at their positions.")
    .python("tf.tensor_scatter_nd_sub")
    .tensorflow("TensorScatterSub")
    .input("tensor", kNumeric)
    .input("indices", kIndex, 'I')
    .input("updates", kNumeric)
    .attr("bad_indices_policy", AttrKind::string, "")
    .output("output", like("tensor"))
    .may_fail()
    .shape(tensor_scatter_rule)
    .in_place(0)
    .gradient(
        [](Grad& g) {
          g.dx(0) = g.dy();
          g.dx(2) = -call("gather_nd", {g.dy(), g.x(1)});
        },
        keep_x(1));

TIDEMARK_OP(tensor_scatter_nd_min)
    .doc("`tensor`, at each position the smaller of its element and those of `updates`.")
    .python("tf.tensor_scatter_nd_min")
    .tensorflow("TensorScatterMin")
    .input("tensor", kReal)
    .input("indices", kIndex, 'I')
    .input("updates", kReal)
    .attr("bad_indices_policy", AttrKind::string, "")
    .output("output", like("tensor"))
    .may_fail()
    .shape(tensor_scatter_rule)
    .in_place(0)
    .gradient(scatter_extreme_gradient, keep_x(0, 1, 2) | keep_y(0));

TIDEMARK_OP(tensor_scatter_nd_max)
    .doc("`tensor`, at each position the larger of its element and those of `updates`.")
    .python("tf.tensor_scatter_nd_max")
    .tensorflow("TensorScatterMax")
    .input("tensor", kReal)
    .input("indices", kIndex, 'I')
    .input("updates", kReal)
    .attr("bad_indices_policy", AttrKind::string, "")
    .output("output", like("tensor"))
    .may_fail()
    .shape(tensor_scatter_rule)
    .in_place(0)
    .gradient(scatter_extreme_gradient, keep_x(0, 1, 2) | keep_y(0));

}  // namespace tidemark
