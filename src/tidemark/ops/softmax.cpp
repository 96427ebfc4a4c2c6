// Softmax, and the cross entropies that take logits.
//
// The cross entropies give a second output, the logarithm of the sum of exp of each row. With it
// the gradient is one pass over the logits, and nothing as large as them has to be kept.

#include <tidemark/rows.h>

#include "tidemark/ops/gradients.h"

namespace tidemark {

namespace {

DType wide_of(DType d) { return d == DType::float64 ? d : DType::float32; }

int axis_of(InferContext& c, int rank) {
  const Attr& axis = c.attr("axis");
  const int64_t value = axis.is_none() ? -1 : axis.as_int();
  if (value < -rank || value >= rank) {
    c.fail("`dim` must be in the range [", -rank, ", ", rank, ") where ", rank,
           " is the number of dimensions in the input. Received: dim=", value);
  }
  return static_cast<int>(value < 0 ? value + rank : value);
}

void softmax_shape(InferContext& c) {
  if (c.shape(0).has_rank()) axis_of(c, c.shape(0).rank());
  c.set(0, c.shape(0));
}

void check_same(InferContext& c, int a, int b, const char* what) {
  const Shape &first = c.shape(a), &second = c.shape(b);
  if (!first.has_rank() || !second.has_rank()) return;
  bool fits = first.rank() == second.rank();
  for (int d = 0; fits && d < first.rank(); ++d) {
    fits = first[d] == second[d] || first[d] == kUnknownDim || second[d] == kUnknownDim;
  }
  if (!fits) c.fail(what, " must have the same shape. Received: ", first, " and ", second);
}

void softmax_grad_shape(InferContext& c) {
  check_same(c, 0, 1, "The softmax and its gradient");
  softmax_shape(c);
}

Shape rows_of(InferContext& c) {
  const Shape& logits = c.shape(0);
  if (!logits.has_rank()) return logits;
  if (logits.rank() == 0) c.fail("logits must have a dimension of classes. Received a scalar");
  Shape rows = logits;
  rows.erase(rows.rank() - 1);
  return rows;
}

/// The labels fit the logits, and so do the inputs after them, one value a row.
void check_rows(InferContext& c, bool sparse) {
  const Shape rows = rows_of(c);
  for (int i = 1; i < c.num_inputs(); ++i) {
    const bool whole = i == 1 && !sparse;
    const Shape& given = c.shape(i);
    const Shape& wanted = whole ? c.shape(0) : rows;
    bool fits = !given.has_rank() || !wanted.has_rank() || given.rank() == wanted.rank();
    for (int d = 0; fits && given.has_rank() && wanted.has_rank() && d < given.rank(); ++d) {
      fits = given[d] == wanted[d] || given[d] == kUnknownDim || wanted[d] == kUnknownDim;
    }
    if (!fits) {
      c.fail("logits of shape ", c.shape(0), " take ", i == 1 ? "labels" : "values", " of shape ",
             wanted, ". Received: ", given);
    }
  }
}

template <bool kSparse>
void cross_entropy_shape(InferContext& c) {
  check_rows(c, kSparse);
  c.set(0, rows_of(c));
  c.set(1, rows_of(c), wide_of(c.dtype(0)));
}

template <bool kSparse>
void cross_entropy_grad_shape(InferContext& c) {
  check_rows(c, kSparse);
  c.set(0, c.shape(0));
}

Tensor sum_last(const Tensor& t, bool keepdims) {
  return call("sum", {t}, {{"axis", Ints{-1}}, {"keepdims", keepdims}});
}
Tensor as_column(const Tensor& t, DType dtype) {
  return call("expand_dims", {cast_to(t, dtype)}, {{"axis", -1}});
}
/// exp(logits - lse): the softmax.
Tensor probabilities(const Tensor& logits, const Tensor& lse) {
  const DType wide = wide_of(logits.dtype());
  return cast_to(call("exp", {cast_to(logits, wide) - as_column(lse, wide)}), logits.dtype());
}

void softmax_grad_gradient(Grad& g) {
  const Tensor &y = g.x(0), &dy = g.x(1), &u = g.dy();
  const Attr axis = g.attr("axis").is_none() ? Attr(-1) : g.attr("axis");
  const auto sum = [&](const Tensor& t) {
    return call("sum", {t}, {{"axis", Ints{axis.as_int()}}, {"keepdims", true}});
  };
  g.dx(0) = u * (dy - sum(dy * y)) - dy * sum(u * y);
  g.dx(1) = call("softmax_grad", {y, u}, {{"axis", axis}});
}

void log_softmax_grad_gradient(Grad& g) {
  const Tensor &y = g.x(0), &dy = g.x(1), &u = g.dy();
  const Attr axis = g.attr("axis").is_none() ? Attr(-1) : g.attr("axis");
  const auto sum = [&](const Tensor& t) {
    return call("sum", {t}, {{"axis", Ints{axis.as_int()}}, {"keepdims", true}});
  };
  const Tensor p = call("exp", {y});
  g.dx(0) = -(u * p * sum(dy));
  g.dx(1) = u - sum(u * p);
}

template <bool kSparse>
void cross_entropy_gradient(Grad& g) {
  const Tensor &logits = g.x(0), &labels = g.x(1), &lse = g.y(1);
  Tensor dx;
  if (g.dy(0)) {
    dx = call(kSparse ? "sparse_softmax_cross_entropy_grad" : "softmax_cross_entropy_grad",
              {logits, labels, lse, g.dy(0)});
    if (!kSparse) {
      const DType wide = lse.dtype();
      const Tensor surprise = cast_to(as_column(lse, wide) - cast_to(logits, wide), logits.dtype());
      g.dx(1) = surprise * as_column(g.dy(0), logits.dtype());
    }
  }
  if (g.dy(1)) {
    const Tensor through = probabilities(logits, lse) * as_column(g.dy(1), logits.dtype());
    dx = dx ? dx + through : through;
  }
  g.dx(0) = dx;
}

/// Of (exp(logits - lse) - labels) * dloss.
template <bool kSparse>
void cross_entropy_grad_gradient(Grad& g) {
  const Tensor &logits = g.x(0), &labels = g.x(1), &lse = g.x(2), &u = g.dy();
  const Tensor p = probabilities(logits, lse), dloss = as_column(g.x(3), logits.dtype());
  const Tensor through = u * dloss * p;
  g.dx(0) = through;
  g.dx(2) = cast_to(-sum_last(through, false), lse.dtype());
  const Tensor taken =
      kSparse ? call("gather", {u, labels}, {{"axis", u.rank() - 1}, {"batch_dims", u.rank() - 1}})
              : sum_last(u * labels, false);
  g.dx(3) = sum_last(u * p, false) - taken;
  if (!kSparse) g.dx(1) = -(u * dloss);
}

}  // namespace

TIDEMARK_OP(softmax)
    .doc("exp divided by the sum of exp along an axis, the last unless given; without overflow.")
    .python("tf.nn.softmax", "tf.math.softmax")
    .tensorflow("Softmax")
    .onnx("Softmax", {}, "axis")
    .input("logits", kFloats)
    .optional_attr("axis", AttrKind::integer)
    .output("softmax", like("logits"))
    .shape(softmax_shape)
    .in_place(0)
    .cheap()
    .along_axis(-1)
    .rows(rows::along_axis)
    .gradient(
        [](Grad& g) {
          g.dx(0) = call("softmax_grad", {g.y(), g.dy()}, {{"axis", g.attr("axis")}});
        },
        keep_y(0));

TIDEMARK_OP(softmax_grad)
    .doc("The gradient of softmax from its result and the gradient that came in.")
    .input("softmax", kFloats)
    .input("dy", kFloats)
    .optional_attr("axis", AttrKind::integer)
    .output("dx", like("softmax"))
    .shape(softmax_grad_shape)
    .in_place(1)
    .along_axis(-1)
    .rows(rows::along_axis)
    .gradient(softmax_grad_gradient, keep_x(0, 1));

TIDEMARK_OP(log_softmax)
    .doc("The logarithm of softmax along an axis, the last unless given.")
    .python("tf.nn.log_softmax", "tf.math.log_softmax")
    .tensorflow("LogSoftmax")
    .onnx("LogSoftmax", {}, "axis")
    .input("logits", kFloats)
    .optional_attr("axis", AttrKind::integer)
    .output("logsoftmax", like("logits"))
    .shape(softmax_shape)
    .in_place(0)
    .along_axis(-1)
    .rows(rows::along_axis)
    .gradient(
        [](Grad& g) {
          g.dx(0) = call("log_softmax_grad", {g.y(), g.dy()}, {{"axis", g.attr("axis")}});
        },
        keep_y(0));

TIDEMARK_OP(log_softmax_grad)
    .doc("The gradient of log_softmax from its result and the gradient that came in.")
    .input("logsoftmax", kFloats)
    .input("dy", kFloats)
    .optional_attr("axis", AttrKind::integer)
    .output("dx", like("logsoftmax"))
    .shape(softmax_grad_shape)
    .in_place(1)
    .along_axis(-1)
    .rows(rows::along_axis)
    .gradient(log_softmax_grad_gradient, keep_x(0, 1));

TIDEMARK_OP(sparse_softmax_cross_entropy)
    .doc(
        "The cross entropy of one right class a row and the softmax of the logits in the last "
        "dimension; also the logarithm of the sum of exp of each row.")
    .tensorflow("SparseSoftmaxCrossEntropyWithLogits")
    .input("logits", kFloats)
    .input("labels", kIndex, 'L')
    .output("loss", like("logits"))
    .output("log_sum_exp", by_rule())
    .may_fail()
    .shape(cross_entropy_shape<true>)
    .rows(rows::every_input_of_matrices)
    .gradient(cross_entropy_gradient<true>, keep_x(0, 1) | keep_y(1));

TIDEMARK_OP(sparse_softmax_cross_entropy_grad)
    .doc("(softmax - 1 at the right class) * dloss.")
    .input("logits", kFloats)
    .input("labels", kIndex, 'L')
    .input("log_sum_exp", dtype_set(DType::float32, DType::float64), 'S')
    .input("dloss", kFloats)
    .output("dlogits", like("logits"))
    .in_place(0)
    .may_fail()
    .shape(cross_entropy_grad_shape<true>)
    .rows(rows::every_input_of_matrices)
    .gradient(cross_entropy_grad_gradient<true>, keep_x(0, 1, 2, 3));

TIDEMARK_OP(softmax_cross_entropy)
    .doc(
        "The cross entropy of a distribution of labels a row, whose sum is 1, and the softmax of "
        "the logits in the last dimension; also the logarithm of the sum of exp of each row.")
    .tensorflow("SoftmaxCrossEntropyWithLogits")
    .input("logits", kFloats)
    .input("labels", kFloats)
    .output("loss", like("logits"))
    .output("log_sum_exp", by_rule())
    .shape(cross_entropy_shape<false>)
    .rows(rows::every_input_of_matrices)
    .gradient(cross_entropy_gradient<false>, keep_x(0, 1) | keep_y(1));

TIDEMARK_OP(softmax_cross_entropy_grad)
    .doc("(softmax - labels) * dloss.")
    .input("logits", kFloats)
    .input("labels", kFloats)
    .input("log_sum_exp", dtype_set(DType::float32, DType::float64), 'S')
    .input("dloss", kFloats)
    .output("dlogits", like("logits"))
    .in_place(0)
    .shape(cross_entropy_grad_shape<false>)
    .rows(rows::every_input_of_matrices)
    .gradient(cross_entropy_grad_gradient<false>, keep_x(0, 1, 2, 3));

}  // namespace tidemark
