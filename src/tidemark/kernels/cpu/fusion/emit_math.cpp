// Functions as polynomials, within 2.5 ulp of the exact value (gelu: 6, as its loop).

#if TIDEMARK_WITH_XBYAK
#include "tidemark/kernels/cpu/fusion/emitter.h"

namespace tidemark::fusion {

namespace {

constexpr float kLog2e = 1.44269504f;
// ln 2 in two parts; multiples of the first by exponents are exact.
constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
constexpr float kLogHigh = 0.693145751953125f, kLogLow = 1.42860677e-6f;
constexpr float kFarOut = 13.f;

}  // namespace

/// p = the polynomial at x, coefficients from the highest power down. p and x differ.
void Emitter::polynomial(const Vec& p, const Vec& x, std::initializer_list<float> falling) {
  auto next = falling.begin();
  splat(p, *next++);
  for (; next != falling.end(); ++next) vfmadd213ps(p, x, c(*next));
}

/// mode: 0 nearest even, 1 down, 2 up, 3 towards zero.
void Emitter::round(const Vec& out, const Vec& x, int mode) {
  const auto how = static_cast<uint8_t>(mode);
  if (wide_) {
    long_ ? vrndscalepd(out, x, how) : vrndscaleps(out, x, how);
  } else {
    long_ ? vroundpd(out, x, how) : vroundps(out, x, how);
  }
}

void Emitter::exp(const Vec& out, const Vec& x) {
  const Vec n = temp(), r = temp();
  // Operands in this order: NaN comes through.
  splat(r, 89.f);
  vminps(r, r, x);
  splat(n, -104.f);
  vmaxps(r, n, r);
  vmulps(n, r, c(kLog2e));
  round(n, n, 0);
  vfmadd231ps(r, n, c(-kLn2High));
  vfmadd231ps(r, n, c(-kLn2Low));
  polynomial(out, r,
             {0.0013950725551694632f, 0.008369024842977524f, 0.04166620224714279f,
              0.166665181517601f, 0.5f, 1.f, 1.f});
  if (wide_) {
    vscalefps(out, out, n);
    return;
  }
  // Two factors, so that neither leaves the range of exponents.
  vcvtps2dq(n, n);
  vpsrad(r, n, 1);
  vpsubd(n, n, r);
  vpaddd(r, r, ci(127));
  vpslld(r, r, 23);
  vmulps(out, out, r);
  vpaddd(n, n, ci(127));
  vpslld(n, n, 23);
  vmulps(out, out, n);
}

void Emitter::expm1_small(const Vec& out, const Vec& x) {
  const Vec n = temp(), r = temp();
  splat(n, -40.f);
  vmaxps(r, n, x);
  vmulps(n, r, c(kLog2e));
  round(n, n, 0);
  vfmadd231ps(r, n, c(-kLn2High));
  vfmadd231ps(r, n, c(-kLn2Low));
  // e^r - 1 = r + r^2 q(r)
  polynomial(out, r,
             {0.0013882496859878302f, 0.00836664717644453f, 0.04166720435023308f,
              0.16666541993618011f, 0.4999999701976776f});
  vmulps(out, out, r);
  vfmadd213ps(out, r, r);
  // 2^n (e^r - 1) + (2^n - 1)
  vcvtps2dq(n, n);
  vpaddd(n, n, ci(127));
  vpslld(n, n, 23);
  vsubps(r, n, c(1.f));
  vfmadd213ps(out, n, r);
}

void Emitter::tanh(const Vec& out, const Vec& x) {
  const Vec e = temp(), t = temp();
  // -2|x|, so that nothing overflows: tanh |x| = -e / (2 + e) with e = exp(-2|x|) - 1.
  const Vec magnitude = temp();
  wide_ ? vpandd(magnitude, x, ci(0x7fffffff)) : vpand(magnitude, x, ci(0x7fffffff));
  vmulps(t, magnitude, c(-2.f));
  expm1_small(e, t);
  vaddps(t, e, c(2.f));
  vdivps(out, e, t);
  // The sign of x.
  if (wide_) {
    vpternlogd(out, x, ci(0x80000000), 0xd8);
    return;
  }
  vpand(out, out, ci(0x7fffffff));
  vpand(t, x, ci(0x80000000));
  vpor(out, out, t);
}

void Emitter::sigmoid(const Vec& out, const Vec& x) {
  const Vec e = temp(), t = temp(), top = temp(), mask = temp();
  wide_ ? vpord(t, x, ci(0x80000000)) : vpor(t, x, ci(0x80000000));
  exp(e, t);
  splat(t, 1.f);
  compare(mask, x, c(0.f), 0x11);
  choose(top, mask, e, t);
  vaddps(t, t, e);
  vdivps(out, top, t);
}

/// AVX-512 only.
void Emitter::log(const Vec& out, const Vec& x) {
  const Vec e = temp(), f = temp(), square = temp();
  vgetexpps(e, x);
  vgetmantps(f, x, 8);  // in [1, 2); NaN below 0
  splat(out, 1.41421356f);
  vcmpps(k2, out, f, 0x11);
  vmulps(f | k2, f, c(0.5f));
  vaddps(e | k2, e, c(1.f));
  vsubps(f, f, c(1.f));
  polynomial(
      out, f,
      {-0.0763438418507576f, 0.1276542693376541f, -0.13162004947662354f, 0.14201368391513824f,
       -0.1662314385175705f, 0.20001235604286194f, -0.2500082552433014f, 0.3333333134651184f});
  vmulps(square, f, f);
  vmulps(out, out, f);
  vsubps(out, out, c(0.5f));
  vmulps(out, out, square);  // -f^2 / 2 + f^3 p(f)
  vfmadd231ps(out, e, c(kLogLow));
  vaddps(out, out, f);
  vfmadd231ps(out, e, c(kLogHigh));
}

/// exp(-t^2 / 2) for 0 <= t <= kFarOut; see kernels/cpu/isa/normal_lanes.h.
void Emitter::bell(const Vec& out, const Vec& t) {
  const Vec high = temp(), square = temp(), shifted = temp(), n = temp(), sum = temp();
  wide_ ? vpandd(high, t, ci(0xfffff000)) : vpand(high, t, ci(0xfffff000));
  vmulps(square, high, high);
  splat(shifted, 12582912.f);
  vfnmadd231ps(shifted, square, c(0.72134752f));
  vsubps(n, shifted, c(12582912.f));
  vaddps(sum, t, high);
  vsubps(high, t, high);
  vmulps(n, n, c(-1.f));
  // -t^2 - 2 n ln 2, in parts
  vmulps(square, square, c(-1.f));
  vfmadd231ps(square, n, c(1.38671875f));
  vfmadd231ps(square, n, c(-4.2438880e-4f));
  vfnmadd231ps(square, high, sum);
  polynomial(out, square,
             {2.159304312954191e-05f, 0.0002615216071717441f, 0.0026042675599455833f,
              0.020833151414990425f, 0.1249999850988388f, 0.5f, 1.f});
  vpslld(shifted, shifted, 23);
  vpaddd(out, out, shifted);
}

void Emitter::tail_over_bell(const Vec& out, const Vec& t) {
  const Vec u = temp(), below = temp();
  vsubps(u, t, c(2.8284270763397217f));
  vaddps(below, t, c(2.8284270763397217f));
  vdivps(u, u, below);
  polynomial(
      out, u,
      {5.278049502521753e-05f, 2.969873821712099e-05f, -0.0004635666264221072f,
       -0.0004256618267390877f, 0.003489729017019272f, 0.0018669056007638574f,
       -0.03948814421892166f, 0.1208290383219719f, -0.21359296143054962f, 0.12769784033298492f});
}

/// `part`: what gelu_grad of the same x left.
void Emitter::gelu(const Vec& out, const Vec& x, const Vec* part) {
  const Vec t = temp(), b = temp(), far = temp(), zero = temp();
  wide_ ? vpandd(t, x, ci(0x7fffffff)) : vpand(t, x, ci(0x7fffffff));
  splat(far, kFarOut);
  vminps(t, far, t);
  if (!part) {
    bell(b, t);
    tail_over_bell(out, t);
    vmulps(b, b, t);
    vmulps(b, b, out);
  }
  splat_bits(zero, 0);
  compare(far, t, c(kFarOut), 0);
  choose(out, far, zero, part ? *part : b);
  vmaxps(zero, x, zero);
  vsubps(out, zero, out);
}

void Emitter::gelu_grad(const Vec& out, const Vec& dy, const Vec& x, const Vec* part) {
  const Vec t = temp(), b = temp(), far = temp(), zero = temp();
  wide_ ? vpandd(t, x, ci(0x7fffffff)) : vpand(t, x, ci(0x7fffffff));
  splat(far, kFarOut);
  vminps(t, far, t);
  bell(b, t);
  tail_over_bell(out, t);
  if (part) {
    vmulps(*part, b, t);
    vmulps(*part, *part, out);
  }
  vfnmadd231ps(out, t, c(0.39894228f));
  vmulps(b, b, out);
  splat_bits(zero, 0);
  compare(far, t, c(kFarOut), 0);
  choose(out, far, zero, b);
  splat(b, 1.f);
  vsubps(b, b, out);
  compare(far, x, zero, 0x1e);
  choose(t, far, b, out);
  vmulps(out, dy, t);
}

bool Emitter::is_gelu_ahead(const Instruction& grad) const {
  // Calls leave no register alone, and half as many registers are needed.
  if (!wide_ || has_calls_ || !list_ || gelu_part_ >= 0) return false;
  for (size_t s = now_ + 1; s < list_->size(); ++s) {
    const Instruction& i = p_.code[(*list_)[s].value];
    if ((*list_)[s].kind == PassStep::Kind::compute && i.code == Code::map &&
        i.op->name() == "gelu" && i.args[0] == grad.args[1]) {
      return true;
    }
  }
  return false;
}

void Emitter::gelu_or_grad(const Instruction& i, const Vec& out, const Vec* in) {
  if (i.op->name() == "gelu_grad") {
    if (!is_gelu_ahead(i)) return gelu_grad(out, in[0], in[1], nullptr);
    const int r = take_register();
    pin(r);
    const Vec part = vec(r);
    gelu_part_ = r;
    gelu_part_of_ = i.args[1];
    return gelu_grad(out, in[0], in[1], &part);
  }
  if (gelu_part_ < 0 || gelu_part_of_ != i.args[0]) return gelu(out, in[0], nullptr);
  const Vec part = vec(gelu_part_);
  gelu(out, in[0], &part);
  unpin(gelu_part_);
  gelu_part_ = -1;
}

}  // namespace tidemark::fusion
#endif
