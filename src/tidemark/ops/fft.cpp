// Discrete Fourier transforms.
#include <tidemark/call.h>

#include "tidemark/ops/gradients.h"
#include "tidemark/ops/movement.h"

namespace tidemark {

namespace {

void check_rank(const InferContext& c) {
  const Shape& s = c.shape(0);
  if (s.has_rank() && s.rank() < 1)
    c.fail("input must have at least one dimension; given a scalar");
}

void fft_rule(InferContext& c) {
  const Shape& s = c.shape(0);
  c.set(0, s);
  check_rank(c);
  if (!s.has_rank()) return;
  uint64_t seen[4] = {};
  for (int64_t axis : c.attr("axes").as_ints()) {
    const auto at = static_cast<unsigned>(normalize_axis(axis, s.rank(), "axes"));
    if ((seen[at / 64] >> (at % 64)) & 1u) c.fail("axes names dimension ", at, " twice");
    seen[at / 64] |= uint64_t{1} << (at % 64);
  }
}

Shape with_last(const Shape& s, int64_t size) {
  Shape out = s;
  out[s.rank() - 1] = size;
  return out;
}

void rfft_rule(InferContext& c) {
  check_rank(c);
  const Shape& s = c.shape(0);
  const DType dtype = c.dtype(0) == DType::float64 ? DType::complex128 : DType::complex64;
  if (!s.has_rank()) return c.set(0, s, dtype);
  const int64_t n = s.dim(-1);
  if (n == 0) c.fail("the last dimension must not be empty; given shape ", s.to_brackets());
  c.set(0, with_last(s, n == kUnknownDim ? n : n / 2 + 1), dtype);
}

void irfft_rule(InferContext& c) {
  check_rank(c);
  const Shape& s = c.shape(0);
  const DType dtype = c.dtype(0) == DType::complex128 ? DType::float64 : DType::float32;
  const int64_t length = c.attr("length").as_int();
  if (!s.has_rank()) return c.set(0, s, dtype);
  if (length < 1 || length > (int64_t{1} << 40)) {
    c.fail("length must be positive; given ", length);
  }
  if (s.dim(-1) != kUnknownDim && s.dim(-1) != length / 2 + 1) {
    c.fail("for ", length, " real numbers the last dimension must be ", length / 2 + 1,
           "; given shape ", s.to_brackets());
  }
  const Shape out = with_last(s, length);
  if (out.is_fully_known()) (void)out.num_elements();
  c.set(0, out, dtype);
}

double length_of(const Grad& g) {
  double n = 1;
  for (int64_t axis : g.attr("axes").as_ints()) {
    n *= static_cast<double>(g.shape(0).dim(static_cast<int>(axis)));
  }
  return n;
}

/// The adjoint of a transform is the inverse one but for its scale.
void fft_gradient(Grad& g) {
  const bool inverse = g.attr("inverse").as_bool();
  const Tensor back = call("fft", {g.dy()}, {{"axes", g.attr("axes")}, {"inverse", !inverse}});
  const double n = length_of(g);
  g.dx(0) = back * scalar_like(inverse ? 1 / n : n, back);
}

/// The missing half is zero on the way back: the real part of an inverse transform.
void rfft_gradient(Grad& g) {
  const int64_t n = g.shape(0).dim(-1), rank = g.shape(0).rank();
  Ints paddings(static_cast<size_t>(2 * rank), 0);
  paddings.back() = n - (n / 2 + 1);
  const Tensor pads = Tensor::of(std::span<const int64_t>(paddings), Shape{rank, 2});
  const Tensor whole = call("pad", {g.dy(), pads, scalar_like(0, g.dy())});
  const Tensor back = call("fft", {whole}, {{"axes", Ints{-1}}, {"inverse", true}});
  const Tensor real = call("real", {back});
  g.dx(0) = real * scalar_like(static_cast<double>(n), real);
}

/// Every number but the first (and the middle one of an even length) stands for its conjugate, too.
void irfft_gradient(Grad& g) {
  const int64_t n = g.attr("length").as_int(), half = n / 2 + 1;
  const Tensor spectrum = call("rfft", {g.dy()});
  std::vector<double> factors(static_cast<size_t>(half), 2.0 / static_cast<double>(n));
  factors.front() = 1.0 / static_cast<double>(n);
  if (n % 2 == 0) factors.back() = factors.front();
  const Tensor scale = Tensor::of(std::span<const double>(factors), Shape{half});
  g.dx(0) = spectrum * cast_to(scale, spectrum.dtype());
}

}  // namespace

TIDEMARK_OP(fft)
    .doc("Discrete Fourier transform along the given axes, or its inverse (divided by the length).")
    .input("input", kComplex)
    .attr("axes", AttrKind::ints, Ints{-1})
    .attr("inverse", AttrKind::boolean, false)
    .output("output", like("input"))
    .shape(fft_rule)
    .heavy()
    .gradient(fft_gradient);

TIDEMARK_OP(rfft)
    .doc("The first n / 2 + 1 numbers of the Fourier transform of n real ones (last dimension).")
    .input("input", dtype_set(DType::float32, DType::float64))
    .output("output", by_rule())
    .shape(rfft_rule)
    .heavy()
    .gradient(rfft_gradient);

TIDEMARK_OP(irfft)
    .doc("The `length` real numbers whose Fourier transform begins with the given ones.")
    .input("input", kComplex)
    .attr("length", AttrKind::integer)
    .output("output", by_rule())
    .shape(irfft_rule)
    .heavy()
    .gradient(irfft_gradient);

}  // namespace tidemark
