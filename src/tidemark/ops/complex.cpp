// Complex numbers and their parts.

#include "tidemark/ops/gradients.h"

namespace tidemark {

namespace {

DType complex_of(DType real) {
  return real == DType::float64 ? DType::complex128 : DType::complex64;
}

/// Real tensors are their own real part and conjugate.
void alias_if_real(InferContext& c) {
  c.set(0, c.shape(0));
  if (!is_complex(c.dtype(0))) c.alias(0, 0);
}

}  // namespace

TIDEMARK_OP(complex)
    .doc("Complex numbers from their real and imaginary parts.")
    .python("tf.complex", "tf.dtypes.complex")
    .tensorflow("Complex")
    .input("real", dtype_set(DType::float32, DType::float64))
    .input("imag", dtype_set(DType::float32, DType::float64))
    .output("z", by_rule())
    .shape([](InferContext& c) {
      c.set(0, broadcast_shapes(c.shape(0), c.shape(1)), complex_of(c.dtype(0)));
    })
    .each_element()
    .gradient([](Grad& g) {
      g.dx(0) = g.unbroadcast(call("real", {g.dy()}), 0);
      g.dx(1) = g.unbroadcast(call("imag", {g.dy()}), 1);
    });

TIDEMARK_OP(real)
    .doc("The real part.")
    .python("tf.math.real")
    .tensorflow("Real")
    .input("input", kNumeric)
    .output("y", real_of("input"))
    .shape(alias_if_real)
    .each_element()
    .gradient([](Grad& g) { g.dx(0) = cast_to(g.dy(), g.x(0).dtype()); });

TIDEMARK_OP(imag)
    .doc("The imaginary part: 0 for real numbers.")
    .python("tf.math.imag")
    .tensorflow("Imag")
    .input("input", kNumeric)
    .output("y", real_of("input"))
    .shape([](InferContext& c) { c.set(0, c.shape(0)); })
    .each_element()
    .gradient([](Grad& g) {
      if (is_complex(g.x(0).dtype())) {
        g.dx(0) = call("complex", {g.dy() * scalar_like(0, g.dy()), g.dy()});
      }
    });

TIDEMARK_OP(conj)
    .doc("The complex conjugate; real tensors as they are.")
    .python("tf.math.conj")
    .tensorflow("Conj")
    .input("x", kNumeric)
    .output("y", like("x"))
    .shape(alias_if_real)
    .in_place(0)
    .each_element()
    .gradient([](Grad& g) { g.dx(0) = conjugate(g.dy()); });

TIDEMARK_OP(angle)
    .doc("The angle in radians of complex numbers; of real numbers pi where they are negative.")
    .python("tf.math.angle")
    .tensorflow("Angle")
    .input("input", kInexact)
    .output("y", real_of("input"))
    .elementwise()
    .gradient(
        [](Grad& g) {
          const Tensor z = g.x(0);
          if (!is_complex(z.dtype())) {
            g.dx(0) = g.dy() * scalar_like(0, g.dy());
            return;
          }
          // The angle grows across the radius: along i z / |z|^2.
          const Tensor re = call("real", {z}), im = call("imag", {z});
          const Tensor by_radius = g.dy() / (re * re + im * im);
          g.dx(0) = call("complex", {-(im * by_radius), re * by_radius});
        },
        keep_x(0));

}  // namespace tidemark
