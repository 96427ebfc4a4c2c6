// Cumulative ops, and the places of extremes.

#include <tidemark/call.h>
#include <tidemark/rows.h>

#include <limits>

namespace tidemark {

namespace {

int axis_of(InferContext& c, const char* what) {
  const int rank = c.shape(0).rank();
  const Attr& given = c.attr("axis");
  const int64_t axis = given.is_none() ? 0 : given.as_int();
  if (axis < -rank || axis >= rank) {
    c.fail(what, " in the range [", -rank, ", ", rank, "), but got ", axis);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

void scan_shape(InferContext& c) {
  if (c.shape(0).has_rank()) axis_of(c, "ScanOp: Expected scan axis");
  c.set(0, c.shape(0));
}

void arg_shape(InferContext& c) {
  const DType index = c.attr("output_type").as_dtype();
  if (!dtype_set(DType::int16, DType::uint16, DType::int32, DType::int64).contains(index)) {
    c.fail("output_type can be int16, uint16, int32 or int64, not ", name_of(index));
  }
  if (!c.shape(0).has_rank()) return c.set(0, Shape::unknown());
  const int axis = axis_of(c, "Expected dimension");
  Shape out = c.shape(0);
  out.erase(axis);
  if (c.shape(0)[axis] == 0 && out.is_fully_known() && out.num_elements() > 0) {
    c.fail("Reduction axis ", axis, " is empty in shape ", c.shape(0).to_brackets());
  }
  c.set(0, std::move(out));
}

/// The same scan the other way round.
Tensor reversed_scan(const Grad& g, const char* op, const Tensor& x) {
  return call(op, {x},
              {{"axis", g.attr("axis")},
               {"exclusive", g.attr("exclusive")},
               {"reverse", !g.attr("reverse").as_bool()}});
}

void cumsum_gradient(Grad& g) { g.dx(0) = reversed_scan(g, "cumsum", g.dy()); }

/// As TensorFlow's: not defined where x is zero.
void cumprod_gradient(Grad& g) { g.dx(0) = reversed_scan(g, "cumsum", g.y() * g.dy()) / g.x(); }

/// Positive and negative parts of dy apart, each through logarithms.
void cumulative_logsumexp_gradient(Grad& g) {
  const Tensor zero = call("zeros_like", {g.dy()});
  const double least = g.dy().dtype() == DType::float64   ? std::numeric_limits<double>::lowest()
                       : g.dy().dtype() == DType::float16 ? -65504.0
                                                          : -3.3895e38;
  const Tensor lowest = call("cast", {Tensor(least)}, {{"dtype", g.dy().dtype()}});
  const auto part = [&](const Tensor& dy) {
    const Tensor logs = call("select", {call("greater", {dy, zero}), call("log", {dy}), lowest});
    return call("exp", {reversed_scan(g, "cumulative_logsumexp", logs - g.y()) + g.x()});
  };
  g.dx(0) = part(g.dy()) - part(-g.dy());
}

OpDef&& scan(OpDef&& op, Literal what, DTypeSet dtypes) {
  return std::move(op)
      .doc(
          what,
          " along `axis`. `exclusive` leaves each element itself out; `reverse` starts at the end.")
      .input("x", dtypes)
      .attr("axis", AttrKind::integer, 0)
      .attr("exclusive", AttrKind::boolean, false)
      .attr("reverse", AttrKind::boolean, false)
      .output("out", like("x"))
      .shape(scan_shape)
      .along_axis()
      .rows(rows::along_axis);
}

OpDef&& arg_extreme(OpDef&& op, Literal what) {
  return std::move(op)
      .doc(what, " along `axis` (0 when it is None); NaN never wins unless there is nothing else.")
      .input("input", kReal | kBool)
      .optional_attr("axis", AttrKind::integer)
      .attr("output_type", AttrKind::dtype, DType::int64)
      .output("output", from_attr("output_type"))
      .shape(arg_shape)
      .along_axis()
      .rows(rows::along_axis)
      .no_gradient();
}

}  // namespace

#define TIDEMARK_AXIS_OP(name) [[maybe_unused]] static const detail::OpRegistrar tidemark_op_##name

TIDEMARK_AXIS_OP(cumsum) = scan(OpDef("cumsum"), "Running sum", kNumeric)
                               .python("tf.cumsum", "tf.math.cumsum")
                               .tensorflow("Cumsum", "x axis", "exclusive reverse")
                               .onnx("CumSum", "x axis", "exclusive reverse")
                               .in_place(0)
                               .gradient(cumsum_gradient);
TIDEMARK_AXIS_OP(cumprod) = scan(OpDef("cumprod"), "Running product", kNumeric)
                                .python("tf.math.cumprod")
                                .tensorflow("Cumprod", "x axis", "exclusive reverse")
                                .in_place(0)
                                .gradient(cumprod_gradient, keep_x(0) | keep_y(0));
TIDEMARK_AXIS_OP(cumulative_logsumexp) =
    scan(OpDef("cumulative_logsumexp"), "Running log(sum(exp(x)))", kFloats)
        .python("tf.math.cumulative_logsumexp")
        .tensorflow("CumulativeLogsumexp", "x axis", "exclusive reverse")
        .in_place(0)
        .gradient(cumulative_logsumexp_gradient, keep_x(0) | keep_y(0));
TIDEMARK_AXIS_OP(argmax) = arg_extreme(OpDef("argmax"), "Index of the first greatest element")
                               .python("tf.argmax", "tf.math.argmax")
                               .tensorflow("ArgMax", "input axis", "output_type");
TIDEMARK_AXIS_OP(argmin) = arg_extreme(OpDef("argmin"), "Index of the first least element")
                               .python("tf.argmin", "tf.math.argmin")
                               .tensorflow("ArgMin", "input axis", "output_type");

}  // namespace tidemark
