// From one dtype to another.

#include "tidemark/ops/gradients.h"

namespace tidemark {

TIDEMARK_OP(cast)
    .doc(
        "The elements of x as another dtype. Towards an integer, fractions are cut off, what is "
        "too large becomes the nearest integer of the dtype, and NaN becomes 0; towards bool, "
        "whatever differs from 0 is true; towards a real number, imaginary parts are dropped.")
    .input("x", kPlain)
    .attr("dtype", AttrKind::dtype)
    .output("y", from_attr("dtype"))
    .elementwise()
    .gradient([](Grad& g) {
      const DType from = g.x(0).dtype();
      if (kInexact.contains(from) && kInexact.contains(g.dy().dtype())) {
        g.dx(0) = call("cast", {g.dy()}, {{"dtype", from}});
      }
    });

}  // namespace tidemark
