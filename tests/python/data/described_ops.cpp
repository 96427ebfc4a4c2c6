// Two ops whose definitions say all there is to know of them; test_custom_op.py uses it.
#include <tidemark/custom_op.h>

#include <algorithm>
#include <cmath>

using namespace tidemark;

namespace {

TIDEMARK_OP(soft_threshold)
    .doc("x moved towards 0 by `by`, and 0 where that would go past it.")
    .tensorflow("SoftThreshold", "x", "lambda=by")
    .input("x", kFloats)
    .attr("by", AttrKind::real, 0.5)
    .output("y", like("x"))
    .elementwise()
    .no_gradient();

template <class T>
struct SoftThreshold {
  static T of(T x, const cpu::LoopParams& attrs) {
    const T size = std::max(std::abs(x) - static_cast<T>(attrs.values[0]), T(0));
    return std::copysign(size, x);
  }
};
const ElementwiseKernels<SoftThreshold, float, double> soft_threshold_kernels("soft_threshold");

/// The axis, counted from the first.
int axis_of(const Attr& axis, int rank) {
  const int64_t given = axis.is_none() ? -1 : axis.as_int();
  return static_cast<int>(given < 0 ? given + rank : given);
}

TIDEMARK_OP(centre)
    .doc(
        "x less the middle between the least and the greatest along `axis`, the last unless given.")
    .tensorflow("Centre", "x axis")
    .input("x", dtype_set(DType::float32))
    .optional_attr("axis", AttrKind::integer)
    .output("y", like("x"))
    .shape([](InferContext& c) {
      const int rank = c.shape(0).rank(), axis = axis_of(c.attr("axis"), rank);
      if (axis < 0 || axis >= rank) c.fail("axis ", axis, " is not one of ", rank);
      c.set(0, c.shape(0));
    })
    .along_axis(-1)
    .cheap()
    .rows(rows::along_axis)
    .no_gradient();

void centre(KernelContext& k) {
  const Shape& shape = k.output(0).shape();
  const int axis = axis_of(k.attr("axis"), shape.rank());
  int64_t inner = 1;
  for (int d = axis + 1; d < shape.rank(); ++d) inner *= shape[d];
  const int64_t length = shape[axis],
                lines = k.output(0).num_elements() / std::max<int64_t>(length, 1);
  for (int64_t line = 0; line < lines; ++line) {
    const int64_t start = line / inner * length * inner + line % inner;
    const float* x = k.in<float>(0) + start;
    float* y = k.out<float>(0) + start;
    float least = x[0], greatest = x[0];
    for (int64_t i = 0; i < length; ++i) {
      least = std::min(least, x[i * inner]);
      greatest = std::max(greatest, x[i * inner]);
    }
    for (int64_t i = 0; i < length; ++i) y[i * inner] = x[i * inner] - (least + greatest) / 2;
  }
}
TIDEMARK_KERNEL(centre, dtype_set(DType::float32), centre);

}  // namespace
