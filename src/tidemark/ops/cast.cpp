// From one dtype to another, by value or by bits.

#include "tidemark/ops/gradients.h"

namespace tidemark {

TIDEMARK_OP(cast)
    .doc(
        "The elements of x as another dtype. Towards an integer, fractions are cut off, what is "
        "too large becomes the nearest integer of the dtype, and NaN becomes 0; integers wrap "
        "around into narrower ones; towards bool, whatever differs from 0 is true; complex "
        "numbers lose their imaginary part first.")
    .python("tf.cast", "tf.dtypes.cast")
    .tensorflow("Cast", {}, "DstT=dtype")
    .onnx("Cast", {}, "to=dtype")
    .input("x", kPlain)
    .attr("dtype", AttrKind::dtype)
    .output("y", from_attr("dtype"))
    .elementwise()
    .gradient([](Grad& g) {
      const DType from = g.x(0).dtype();
      if (kInexact.contains(from) && kInexact.contains(g.dy().dtype())) {
        g.dx(0) = cast_to(g.dy(), from);
      }
    });

namespace {

/// The last dimension grows or shrinks by the ratio of the element sizes.
void bitcast_shape(InferContext& c) {
  const DType to = c.attr("type").as_dtype();
  const auto from_size = static_cast<int64_t>(size_of(c.dtype(0)));
  const auto to_size = static_cast<int64_t>(size_of(to));
  if (!kPlain.contains(to)) c.fail("cannot give elements of dtype ", name_of(to));
  Shape shape = c.shape(0);
  if (from_size > to_size) {
    shape.push_back(from_size / to_size);
  } else if (from_size < to_size) {
    const int64_t ratio = to_size / from_size;
    if (shape.rank() == 0 || shape.dim(-1) != ratio) {
      c.fail("Cannot bitcast from ", name_of(c.dtype(0)), " to ", name_of(to), ": the last of ",
             shape, " must be ", ratio);
    }
    shape.erase(shape.rank() - 1);
  }
  c.set(0, std::move(shape), to);
  // Elements that grow may start where none of the larger type may.
  if (from_size >= to_size) c.alias(0, 0);
}

}  // namespace

TIDEMARK_OP(bitcast)
    .doc(
        "The same bytes read as another dtype. Where its elements are smaller a last dimension is "
        "added, where they are larger the last one is used up.")
    .python("tf.bitcast")
    .tensorflow("Bitcast", {}, "type")
    .input("input", kPlain)
    .attr("type", AttrKind::dtype)
    .output("output", from_attr("type"))
    .shape(bitcast_shape)
    .no_gradient();

}  // namespace tidemark
