// Poolings over one to three spatial dimensions, channels last.

#include <tidemark/rows.h>

#include "tidemark/ops/movement.h"
#include "tidemark/ops/windows.h"

namespace tidemark {

namespace {

using movement::shape_tensor;

constexpr DTypeSet kPooled = kFloats | dtype_set(DType::int32, DType::int64);

/// The shape of the result for images of this shape.
Shape pooled(const OpCall& call, const Shape& images) {
  const Ints& ksize = call.attr("ksize").as_ints();
  for (const int64_t size : ksize) {
    if (size < 1) {
      fail<InvalidArgumentError>(
          "[", call.op.name(),
          "] Sliding window ksize must be positive. Received: ", call.attr("ksize"));
    }
  }
  const Windows w = read_windows(call, images, ksize);
  return shape_of_windows(w, images.has_rank() ? images[0] : kUnknownDim,
                          images.has_rank() ? images.dim(-1) : kUnknownDim);
}

void pool_shape(InferContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set(i, pooled(c.call(), c.shape(0)));
}

/// Inputs: images, their pooling, and a gradient of the shape of one of the two.
template <bool kBack>
void max_pool_grad_shape(InferContext& c) {
  const Shape windows = pooled(c.call(), c.shape(0));
  const Shape& third = kBack ? windows : c.shape(0);
  if (!may_equal(c.shape(1), windows) || !may_equal(c.shape(2), third)) {
    c.fail("images of shape ", c.shape(0), " are pooled to ", windows, ". Received: ", c.shape(1),
           " for the result and ", c.shape(2), " for the gradient, which must be ", third);
  }
  c.set(0, kBack ? c.shape(0) : windows);
}

void avg_pool_grad_shape(InferContext& c) {
  movement::check_vector(c, 0);
  if (!movement::holds_values(c.input(0))) return c.set(0, movement::unknown_dims_of(c, 0));
  const Shape images = movement::read_shape(c, 0);
  const Shape windows = pooled(c.call(), images);
  if (!may_equal(c.shape(1), windows)) {
    c.fail("images of shape ", images, " are pooled to ", windows, ". Received: ", c.shape(1));
  }
  c.set(0, images);
}

Tensor like_this(const Grad& g, const char* op, std::initializer_list<Tensor> inputs) {
  return call(op, inputs,
              {{"ksize", g.attr("ksize")},
               {"strides", g.attr("strides")},
               {"padding", g.attr("padding")},
               {"explicit_paddings", g.attr("explicit_paddings")},
               {"dilations", g.attr("dilations")}});
}

void max_pool_gradient(Grad& g) {
  g.dx(0) = like_this(g, "max_pool_grad", {g.x(0), g.y(), g.dy()});
}

std::optional<RowRule> pool_with_argmax_rows(const RowQuestion& q) {
  return q.flag("include_batch_in_index") ? std::nullopt : rows::first_input(q);
}

}  // namespace

#define TIDEMARK_POOLING_ATTRS                           \
  attr("ksize", AttrKind::ints)                          \
      .attr("strides", AttrKind::ints, Ints{})           \
      .attr("padding", AttrKind::string, "VALID")        \
      .attr("explicit_paddings", AttrKind::ints, Ints{}) \
      .attr("dilations", AttrKind::ints, Ints{})

TIDEMARK_OP(max_pool)
    .doc("The greatest element of each window. Images are [batch, spatial..., channels].")
    .input("input", kPooled)
    .TIDEMARK_POOLING_ATTRS.output("output", like("input"))
    .shape(pool_shape)
    .rows(rows::every_input)
    .gradient(max_pool_gradient, keep_x(0) | keep_y(0));

TIDEMARK_OP(max_pool_with_argmax)
    .doc(
        "The greatest element of each window, and where it lies: (row * width + column) * channels "
        "+ channel in its image, or counted through the batch.")
    .input("input", kPooled)
    .TIDEMARK_POOLING_ATTRS.attr("include_batch_in_index", AttrKind::boolean, false)
    .output("output", like("input"))
    .output("argmax", always(DType::int64))
    .shape(pool_shape)
    .rows(pool_with_argmax_rows)
    .gradient(max_pool_gradient, keep_x(0) | keep_y(0));

TIDEMARK_OP(max_pool_grad)
    .doc("The gradient of max_pool: each window's goes to its first greatest element.")
    .input("input", kPooled)
    .input("output", kPooled)
    .input("dy", kPooled)
    .TIDEMARK_POOLING_ATTRS.output("dx", like("input"))
    .shape(max_pool_grad_shape<true>)
    .rows(rows::every_input)
    .gradient(
        [](Grad& g) {
          g.dx(2) = like_this(g, "max_pool_take", {g.x(0), g.x(1), g.dy()});
        },
        keep_x(0, 1));

TIDEMARK_OP(max_pool_take)
    .doc("The elements of `values` at which max_pool found the greatest of its windows.")
    .input("input", kPooled)
    .input("output", kPooled)
    .input("values", kPooled)
    .TIDEMARK_POOLING_ATTRS.output("taken", like("input"))
    .shape(max_pool_grad_shape<false>)
    .rows(rows::every_input)
    .gradient(
        [](Grad& g) {
          g.dx(2) = like_this(g, "max_pool_grad", {g.x(0), g.x(1), g.dy()});
        },
        keep_x(0, 1));

TIDEMARK_OP(avg_pool)
    .doc("The mean of each window; padding does not count.")
    .input("input", kFloats)
    .TIDEMARK_POOLING_ATTRS.output("output", like("input"))
    .shape(pool_shape)
    .rows(rows::every_input)
    .gradient([](Grad& g) {
      g.dx(0) = like_this(g, "avg_pool_grad", {shape_tensor(g, 0), g.dy()});
    });

TIDEMARK_OP(avg_pool_grad)
    .doc("The gradient of avg_pool with respect to its input of the given shape.")
    .input("input_sizes", kIndex, 'S')
    .input("dy", kFloats)
    .TIDEMARK_POOLING_ATTRS.output("dx", like("dy"))
    .shape(avg_pool_grad_shape)
    .rows([](const RowQuestion& q) {
      return q.rows({RowRole::sizes, RowRole::rows});
    })
    .gradient([](Grad& g) { g.dx(1) = like_this(g, "avg_pool", {g.dy()}); });

}  // namespace tidemark
