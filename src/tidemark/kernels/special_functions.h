// Special functions of one number in double precision: the CPU's, and as text
// (kernels/cuda/texts.h) those of GPUs. Compilers for GPUs get it without headers, so it includes
// nothing: whoever includes it has included <math.h>.

namespace special_functions {

constexpr double kPi = 3.14159265358979323846;
inline double infinity() { return -::log(0.0); }
inline double not_a_number() { return infinity() - infinity(); }

/// Coefficients from the lowest power up.
template <int N>
inline double polynomial(const double (&c)[N], double x) {
  double sum = 0;
  for (int i = N; i-- > 0;) sum = sum * x + c[i];
  return sum;
}

/// The normal quantile of 0.5 + q, where `tail` is 0.5 - |q| given exactly (Wichura's AS 241).
inline double normal_quantile(double q, double tail) {
  static constexpr double kCentre[2][8] = {
      {3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
       1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
       3.3430575583588128105e+4, 2.5090809287301226727e+3},
      {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
       2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4,
       5.2264952788528545610e+3}};
  static constexpr double kMiddle[2][8] = {
      {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
       3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
       2.27238449892691845833e-2, 7.74545014278341407640e-4},
      {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
       1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
       1.05075007164441684324e-9}};
  static constexpr double kFar[2][8] = {
      {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
       2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
       2.71155556874348757815e-5, 2.01033439929228813265e-7},
      {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
       7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
       2.04426310338993978564e-15}};
  if (!(tail >= 0)) return not_a_number();
  if (tail == 0) return ::copysign(infinity(), q);
  if (::fabs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(kCentre[0], r) / polynomial(kCentre[1], r);
  }
  const double r = ::sqrt(-::log(tail));
  const double z = r <= 5 ? polynomial(kMiddle[0], r - 1.6) / polynomial(kMiddle[1], r - 1.6)
                          : polynomial(kFar[0], r - 5) / polynomial(kFar[1], r - 5);
  return ::copysign(z, q);
}

inline double inverse_erf(double x) {
  return normal_quantile(x / 2, (1 - ::fabs(x)) / 2) / ::sqrt(2.0);
}
inline double normal_quantile(double p) { return normal_quantile(p - 0.5, p < 0.5 ? p : 1 - p); }

inline double log_gamma(double x) {
#ifdef __CUDA_ARCH__
  return ::lgamma(x);
#else
  int sign;
  return ::lgamma_r(x, &sign);  // the host's lgamma writes a global
#endif
}

/// The logarithmic derivative of gamma: upwards by psi(x) = psi(x + 1) - 1/x, then its series.
inline double digamma_of(double x) {
  if (x != x || x == -infinity()) return not_a_number();
  if (x == infinity()) return infinity();
  double result = 0;
  if (x <= 0) {
    if (x == ::floor(x)) return not_a_number();  // a pole
    // cot(pi x) has period 1: the fraction keeps its accuracy far from 0.
    result = -kPi / ::tan(kPi * (x - ::floor(x)));
    x = 1 - x;
  }
  for (; x < 12; ++x) result -= 1 / x;
  static constexpr double kSeries[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                       1.0 / 132, -691.0 / 32760, 1.0 / 12};
  const double r = 1 / (x * x);
  return result + ::log(x) - 0.5 / x - r * polynomial(kSeries, r);
}

/// The derivative of digamma, likewise.
inline double trigamma_of(double x) {
  if (x != x || x == -infinity()) return not_a_number();
  double reflected = 0, sign = 1;
  if (x <= 0) {
    const double fraction = x - ::floor(x);
    if (fraction == 0) return infinity();  // a pole
    const double s = ::sin(kPi * fraction) / kPi;
    reflected = 1 / (s * s);
    sign = -1;
    x = 1 - x;
  }
  double result = 0;
  for (; x < 15; ++x) result += 1 / (x * x);
  static constexpr double kBernoulli[] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                                          5.0 / 66, -691.0 / 2730, 7.0 / 6};
  const double r = 1 / (x * x);
  return reflected + sign * (result + 1 / x + r / 2 + polynomial(kBernoulli, r) * r / x);
}

/// e^-|x| I_n(x) for n = 0, 1 and x >= 0: its power series, all terms positive, or far out its
/// asymptotic one.
inline double scaled_bessel_i(int n, double x) {
  if (x != x) return x;
  if (x < 30) {
    const double square = x * x / 4;
    double term = n == 0 ? 1 : x / 2, sum = term;
    for (int k = 1; term > sum * 1e-17; ++k) {
      term *= square / (static_cast<double>(k) * (k + n));
      sum += term;
    }
    return sum * ::exp(-x);
  }
  double term = 1, sum = 1;
  for (int k = 1; k < 40 && ::fabs(term) > 1e-17; ++k) {
    const double odd = 2 * k - 1;
    term *= -(4.0 * n * n - odd * odd) / (8.0 * k * x);
    sum += term;
  }
  return sum / ::sqrt(2 * kPi * x);
}

}  // namespace special_functions
