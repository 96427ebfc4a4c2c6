// An op of a user's own: x where |x| is small, bounded by `limit` where it is not.
//
//   g++ -std=c++20 -O2 -shared -fPIC smooth_clip.cpp -o libsmooth_clip.so -I<include> -ltidemark
#include <tidemark/custom_op.h>

#include <cmath>

using namespace tidemark;

namespace {

TIDEMARK_OP(smooth_clip)
    .doc("limit * tanh(x / limit), elementwise.")
    .input("x", dtype_set(DType::float32, DType::float64))
    .attr("limit", AttrKind::real, 1.0)
    .output("y", like("x"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          // dy * (1 - (y / limit)^2)
          const Tensor ratio =
              g.y() / call("cast", {Tensor(g.attr("limit").as_real())}, {{"dtype", g.y().dtype()}});
          const Tensor one = call("cast", {Tensor(1.0)}, {{"dtype", g.y().dtype()}});
          g.dx(0) = g.dy() * (one - ratio * ratio);
        },
        keep_y(0));

template <class T>
struct SmoothClip {
  static void run(KernelContext& k) {
    const T limit = static_cast<T>(k.attr("limit").as_real());
    if (!(limit > 0)) k.fail("'limit' must be above 0; given ", double(limit));
    const T* x = k.in<T>(0);
    T* y = k.out<T>(0);
    for (int64_t i = 0; i < k.output(0).num_elements(); ++i) y[i] = limit * std::tanh(x[i] / limit);
  }
};

const TypedKernels<SmoothClip, float, double> kernels("smooth_clip");

}  // namespace
