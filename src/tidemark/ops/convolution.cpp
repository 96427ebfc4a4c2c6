// Convolutions over one to three spatial dimensions, channels last.
//
// A filter [window..., input channels / groups, output channels] cuts the channels into groups by
// itself; with one input channel a group this is a depthwise convolution. The gradient with respect
// to the input is the transposed convolution.

#include <tidemark/rows.h>

#include "tidemark/ops/movement.h"
#include "tidemark/ops/windows.h"

namespace tidemark {

namespace {

using movement::holds_values;
using movement::shape_tensor;

/// Sizes of a filter, which must have rank 3 to 5.
std::span<const int64_t> window_of(const OpCall& call, const Shape& filter) {
  if (filter.rank() < 3 || filter.rank() > 5) {
    fail<InvalidArgumentError>("[", call.op.name(),
                               "] a filter has rank 3, 4 or 5: [window..., in_channels, "
                               "out_channels]. Received shape: ",
                               filter);
  }
  return filter.dims().first(static_cast<size_t>(filter.rank() - 2));
}

/// The shape of the result for these images and this filter.
Shape convolved(const OpCall& call, const Shape& images, const Shape& filter) {
  if (!filter.has_rank()) return Shape::unknown();
  const Windows w = read_windows(call, images, window_of(call, filter));
  const int64_t given = images.has_rank() ? images.dim(-1) : kUnknownDim;
  const int64_t taken = filter.dim(-2), made = filter.dim(-1);
  if (taken == 0) fail<InvalidArgumentError>("[", call.op.name(), "] filter depth must not be 0");
  if (given != kUnknownDim && taken != kUnknownDim) {
    const bool divides = given % taken == 0 && given > 0;
    if (!divides || (made != kUnknownDim && made % (given / taken) != 0)) {
      fail<InvalidArgumentError>(
          "[", call.op.name(), "] input depth must be evenly divisible by filter depth: ", given,
          " vs ", taken, ", and the ", made, " output channels by the number of groups that makes");
    }
  }
  return shape_of_windows(w, images.has_rank() ? images[0] : kUnknownDim, made);
}

void convolution_shape(InferContext& c) { c.set(0, convolved(c.call(), c.shape(0), c.shape(1))); }

/// Reads the shape given as input i; all unknown while it holds no values.
Shape given_shape(InferContext& c, int i) {
  movement::check_vector(c, i);
  return holds_values(c.input(i)) ? movement::read_shape(c, i) : movement::unknown_dims_of(c, i);
}

void check_gradient(InferContext& c, const Shape& images, const Shape& filter, int dy) {
  if (!images.has_rank() || !filter.has_rank()) return;
  const Shape wanted = convolved(c.call(), images, filter);
  if (!may_equal(c.shape(dy), wanted)) {
    c.fail("images of shape ", images, " and a filter of ", filter, " make ", wanted,
           ". Received for it: ", c.shape(dy));
  }
}

void input_grad_shape(InferContext& c) {
  const Shape images = given_shape(c, 0);
  check_gradient(c, images, c.shape(1), 2);
  c.set(0, images);
}

void filter_grad_shape(InferContext& c) {
  const Shape filter = given_shape(c, 1);
  check_gradient(c, c.shape(0), filter, 2);
  c.set(0, filter);
}

Tensor with_attrs_of(const Grad& g, const char* op, const Tensor& a, const Tensor& b) {
  return call(op, {a, b},
              {{"strides", g.attr("strides")},
               {"padding", g.attr("padding")},
               {"explicit_paddings", g.attr("explicit_paddings")},
               {"dilations", g.attr("dilations")}});
}
Tensor with_attrs_of(const Grad& g, const char* op, const Tensor& a, const Tensor& b,
                     const Tensor& c) {
  return call(op, {a, b, c},
              {{"strides", g.attr("strides")},
               {"padding", g.attr("padding")},
               {"explicit_paddings", g.attr("explicit_paddings")},
               {"dilations", g.attr("dilations")}});
}

std::optional<RowRule> filter_grad_rows(const RowQuestion& q) {
  if (!q.can_add()) return std::nullopt;
  return RowRule{{RowRole::rows, RowRole::whole, RowRole::rows}, {RowResult::sum}};
}

}  // namespace

TIDEMARK_OP(convolution)
    .doc(
        "Each output channel: the sum over its window and its group of input channels of image "
        "times filter. Images are [batch, spatial..., channels].")
    .input("input", kFloats)
    .input("filters", kFloats)
    .attr("strides", AttrKind::ints, Ints{})
    .attr("padding", AttrKind::string, "VALID")
    .attr("explicit_paddings", AttrKind::ints, Ints{})
    .attr("dilations", AttrKind::ints, Ints{})
    .output("output", like("input"))
    .shape(convolution_shape)
    .heavy()
    .rows(rows::first_input)
    .gradient(
        [](Grad& g) {
          if (g.wants(0)) {
            g.dx(0) =
                with_attrs_of(g, "convolution_input_grad", shape_tensor(g, 0), g.x(1), g.dy());
          }
          if (g.wants(1)) {
            g.dx(1) =
                with_attrs_of(g, "convolution_filter_grad", g.x(0), shape_tensor(g, 1), g.dy());
          }
        },
        keep_x(0, 1));

TIDEMARK_OP(convolution_input_grad)
    .doc(
        "The gradient of convolution with respect to its input of the given shape; also the "
        "transposed convolution of `dy`.")
    .input("input_sizes", kIndex, 'S')
    .input("filters", kFloats)
    .input("dy", kFloats)
    .attr("strides", AttrKind::ints, Ints{})
    .attr("padding", AttrKind::string, "VALID")
    .attr("explicit_paddings", AttrKind::ints, Ints{})
    .attr("dilations", AttrKind::ints, Ints{})
    .output("output", like("filters"))
    .shape(input_grad_shape)
    .heavy()
    .rows([](const RowQuestion& q) {
      return q.rows({RowRole::sizes, RowRole::whole, RowRole::rows});
    })
    .gradient(
        [](Grad& g) {
          g.dx(1) = with_attrs_of(g, "convolution_filter_grad", g.dy(), shape_tensor(g, 1), g.x(2));
          g.dx(2) = with_attrs_of(g, "convolution", g.dy(), g.x(1));
        },
        keep_x(1, 2));

TIDEMARK_OP(convolution_filter_grad)
    .doc("The gradient of convolution with respect to its filter of the given shape.")
    .input("input", kFloats)
    .input("filter_sizes", kIndex, 'S')
    .input("dy", kFloats)
    .attr("strides", AttrKind::ints, Ints{})
    .attr("padding", AttrKind::string, "VALID")
    .attr("explicit_paddings", AttrKind::ints, Ints{})
    .attr("dilations", AttrKind::ints, Ints{})
    .output("output", like("input"))
    .shape(filter_grad_shape)
    .heavy()
    .rows(filter_grad_rows)
    .gradient(
        [](Grad& g) {
          g.dx(0) = with_attrs_of(g, "convolution_input_grad", shape_tensor(g, 0), g.dy(), g.x(2));
          g.dx(2) = with_attrs_of(g, "convolution", g.x(0), g.dy());
        },
        keep_x(0, 2));

}  // namespace tidemark
