// Resampling of images.
#include <tidemark/call.h>
#include <tidemark/rows.h>

#include "tidemark/ops/movement.h"
#include "tidemark/ops/resize.h"

namespace tidemark {

namespace {

void check_images(const InferContext& c, int input) {
  const Shape& s = c.shape(input);
  if (s.has_rank() && s.rank() != 4) {
    c.fail("images must have shape [batch, height, width, channels]; given ", s.to_brackets());
  }
}

Shape resized(const InferContext& c, const Tensor& size) {
  const Shape& s = c.shape(0);
  if (!s.has_rank()) return Shape::unknown();
  Shape out = s;
  out[1] = out[2] = kUnknownDim;
  if (!movement::holds_values(size)) return out;
  const Ints wanted = size.to_ints();
  if (wanted.size() != 2) c.fail("size must be [height, width]; given ", wanted.size(), " numbers");
  for (int i = 0; i < 2; ++i) {
    if (wanted[static_cast<size_t>(i)] < 0) c.fail("size must not be negative");
    out[i + 1] = wanted[static_cast<size_t>(i)];
  }
  return out;
}

void check_sources(const InferContext& c, const Shape& from, const Shape& to) {
  if (!from.is_fully_known() || !to.is_fully_known()) return;
  (void)to.num_elements();
  const bool empty = from[1] == 0 || from[2] == 0;
  if (empty && to.num_elements() > 0) {
    c.fail("input image must be of non-zero size; given shape ", from.to_brackets());
  }
}

void check_method(const InferContext& c) {
  const std::string& method = c.attr("method").as_string();
  if (resampling_kernel(method).weight == nullptr) {
    c.fail(
        "method must be one of bilinear, bicubic, area, lanczos3, lanczos5, gaussian, "
        "mitchellcubic; given ",
        method);
  }
}

void resize_rule(InferContext& c) {
  check_images(c, 0);
  check_method(c);
  const Shape out = resized(c, c.input(1));
  check_sources(c, c.shape(0), out);
  c.set(0, out);
}

void resize_grad_rule(InferContext& c) {
  check_images(c, 0);
  check_method(c);
  const Shape out = resized(c, c.input(1));
  check_sources(c, out, c.shape(0));
  c.set(0, out);
}

Tensor size_of_images(const Shape& s) { return movement::ints_tensor({s[1], s[2]}); }

}  // namespace

TIDEMARK_OP(resize_images)
    .doc(
        "Images [batch, height, width, channels] of another size: every new pixel a weighted sum "
        "of old ones around its center. With antialias the weights widen when images shrink.")
    .input("images", dtype_set(DType::float32, DType::float64))
    .input("size", kIndex, 'I')
    .attr("method", AttrKind::string, "bilinear")
    .attr("antialias", AttrKind::boolean, false)
    .output("output", like("images"))
    .shape(resize_rule)
    .on_host(1)
    .heavy()
    .rows(rows::first_input)
    .gradient([](Grad& g) {
      g.dx(0) = call("resize_images_grad", {g.dy(), size_of_images(g.shape(0))},
                     {{"method", g.attr("method")}, {"antialias", g.attr("antialias")}});
    });

TIDEMARK_OP(resize_images_grad)
    .doc("The gradient of resize_images for images of the given size.")
    .input("gradient", dtype_set(DType::float32, DType::float64))
    .input("size", kIndex, 'I')
    .attr("method", AttrKind::string, "bilinear")
    .attr("antialias", AttrKind::boolean, false)
    .output("output", like("gradient"))
    .shape(resize_grad_rule)
    .on_host(1)
    .heavy()
    .rows(rows::first_input)
    .gradient([](Grad& g) {
      g.dx(0) = call("resize_images", {g.dy(), size_of_images(g.shape(0))},
                     {{"method", g.attr("method")}, {"antialias", g.attr("antialias")}});
    });

}  // namespace tidemark
