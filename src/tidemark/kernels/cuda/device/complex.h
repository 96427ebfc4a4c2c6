// What ops do to one complex number, behind elements.h, for single ops: no fused program has any.

namespace tm {

// As C's annex G has it: infinite numbers stay infinite where a part of a product is NaN.
template <class R>
bool is_finite_part(R x) {
  return x - x == R(0);
}
template <class R>
bool is_infinite(R x) {
  return x == x && !is_finite_part(x);
}
/// 1 or 0, with the sign of x.
template <class R>
R boxed(R x, bool is_one) {
  const R one = is_one ? R(1) : R(0);
  return x < R(0) || (x == R(0) && R(1) / x < R(0)) ? -one : one;
}
template <class R>
R zero_if_nan(R x) {
  return x == x ? x : boxed(x, false);
}

template <class R>
Complex<R> product_of(Complex<R> x, Complex<R> y) {
  const R ac = x.re * y.re, bd = x.im * y.im, ad = x.re * y.im, bc = x.im * y.re;
  const R re = ac - bd, im = ad + bc;
  if (re == re || im == im) return {re, im};
  bool is_infinite_product = false;
  if (is_infinite(x.re) || is_infinite(x.im)) {
    x = {boxed(x.re, is_infinite(x.re)), boxed(x.im, is_infinite(x.im))};
    y = {zero_if_nan(y.re), zero_if_nan(y.im)};
    is_infinite_product = true;
  }
  if (is_infinite(y.re) || is_infinite(y.im)) {
    y = {boxed(y.re, is_infinite(y.re)), boxed(y.im, is_infinite(y.im))};
    x = {zero_if_nan(x.re), zero_if_nan(x.im)};
    is_infinite_product = true;
  }
  if (!is_infinite_product &&
      (is_infinite(ac) || is_infinite(bd) || is_infinite(ad) || is_infinite(bc))) {
    x = {zero_if_nan(x.re), zero_if_nan(x.im)};
    y = {zero_if_nan(y.re), zero_if_nan(y.im)};
    is_infinite_product = true;
  }
  if (!is_infinite_product) return {re, im};
  const R infinity = R(1) / R(0);
  return {infinity * (x.re * y.re - x.im * y.im), infinity * (x.re * y.im + x.im * y.re)};
}

/// By the larger part of the divisor first, so that nothing overflows on the way.
template <class R>
Complex<R> quotient_of(Complex<R> x, Complex<R> y) {
  R re, im;
  if (math::fabs(y.re) < math::fabs(y.im)) {
    const R ratio = y.re / y.im, under = y.re * ratio + y.im;
    re = (x.re * ratio + x.im) / under;
    im = (x.im * ratio - x.re) / under;
  } else {
    const R ratio = y.im / y.re, under = y.im * ratio + y.re;
    re = (x.im * ratio + x.re) / under;
    im = (x.im - x.re * ratio) / under;
  }
  if (re == re || im == im) return {re, im};
  const R infinity = R(1) / R(0);
  if (y.re == R(0) && y.im == R(0) && (x.re == x.re || x.im == x.im)) {
    const R signed_infinity = boxed(y.re, true) * infinity;
    return {signed_infinity * x.re, signed_infinity * x.im};
  }
  if ((is_infinite(x.re) || is_infinite(x.im)) && is_finite_part(y.re) && is_finite_part(y.im)) {
    const R a = boxed(x.re, is_infinite(x.re)), b = boxed(x.im, is_infinite(x.im));
    return {infinity * (a * y.re + b * y.im), infinity * (b * y.re - a * y.im)};
  }
  if ((is_infinite(y.re) || is_infinite(y.im)) && is_finite_part(x.re) && is_finite_part(x.im)) {
    const R c = boxed(y.re, is_infinite(y.re)), d = boxed(y.im, is_infinite(y.im));
    return {R(0) * (x.re * c + x.im * d), R(0) * (x.im * c - x.re * d)};
  }
  return {re, im};
}

/// |x|, whose square may be too large or too small for the type.
template <class R>
R length_of(Complex<R> x) {
  const R a = math::fabs(x.re), b = math::fabs(x.im);
  if (is_infinite(a) || is_infinite(b)) return R(1) / R(0);
  const R most = a > b || a != a ? a : b, least = a > b || a != a ? b : a;
  if (most == R(0) || most != most) return most;
  const R ratio = least / most;
  return most * math::sqrt(R(1) + ratio * ratio);
}
template <class R>
bool is_zero(Complex<R> x) {
  return x.re == R(0) && x.im == R(0);
}

#define TIDEMARK_COMPLEX_UNARY(name, ...)       \
  template <class R>                            \
  auto op_##name(Complex<R> x, const double*) { \
    return __VA_ARGS__;                         \
  }
#define TIDEMARK_COMPLEX_BINARY(name, ...)                    \
  template <class R>                                          \
  auto op_##name(Complex<R> x, Complex<R> y, const double*) { \
    return __VA_ARGS__;                                       \
  }
TIDEMARK_COMPLEX_UNARY(negative, Complex<R>{-x.re, -x.im})
TIDEMARK_COMPLEX_UNARY(conj, Complex<R>{x.re, -x.im})
TIDEMARK_COMPLEX_UNARY(square, product_of(x, x))
TIDEMARK_COMPLEX_UNARY(reciprocal, quotient_of(Complex<R>{R(1), R(0)}, x))
TIDEMARK_COMPLEX_UNARY(real, x.re)
TIDEMARK_COMPLEX_UNARY(imag, x.im)
TIDEMARK_COMPLEX_UNARY(abs, length_of(x))
TIDEMARK_COMPLEX_UNARY(angle, math::atan2(x.im, x.re))
TIDEMARK_COMPLEX_BINARY(add, Complex<R>{x.re + y.re, x.im + y.im})
TIDEMARK_COMPLEX_BINARY(subtract, Complex<R>{x.re - y.re, x.im - y.im})
TIDEMARK_COMPLEX_BINARY(multiply, product_of(x, y))
TIDEMARK_COMPLEX_BINARY(truediv, quotient_of(x, y))
TIDEMARK_COMPLEX_BINARY(divide_no_nan, is_zero(y) ? Complex<R>{} : quotient_of(x, y))
TIDEMARK_COMPLEX_BINARY(multiply_no_nan, is_zero(y) ? Complex<R>{} : product_of(x, y))
TIDEMARK_COMPLEX_BINARY(xdivy, is_zero(x) ? Complex<R>{} : quotient_of(x, y))
TIDEMARK_COMPLEX_BINARY(equal, x.re == y.re && x.im == y.im)
TIDEMARK_COMPLEX_BINARY(not_equal, !(x.re == y.re && x.im == y.im))
#undef TIDEMARK_COMPLEX_UNARY
#undef TIDEMARK_COMPLEX_BINARY

// Two real numbers make a complex one, and real ones have an angle, too.
template <class R>
Complex<R> op_complex(R x, R y, const double*) {
  return {x, y};
}
template <class R>
R op_angle(R x, const double*) {
  return x < R(0) ? R(3.14159265358979323846) : R(0);
}

}  // namespace tm
