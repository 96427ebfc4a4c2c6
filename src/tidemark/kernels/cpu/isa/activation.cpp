// Activation functions made of exponentials. No branches: a vector function has none to be in.

#include "tidemark/kernels/cpu/isa/loops.h"
#include "tidemark/kernels/cpu/isa/normal_lanes.h"
#include "tidemark/kernels/cpu/isa/stores.h"
#include "tidemark/kernels/cpu/isa/vector_math.h"

namespace tidemark::cpu::TIDEMARK_ISA {

template <class T>
[[gnu::always_inline]] inline T positive_part(T x) {
  return x < T(0) ? T(0) : x;
}
template <class T>
[[gnu::always_inline]] inline T negative_part(T x) {
  return x > T(0) ? T(0) : x;
}
/// log(1 + e^x) without overflow or loss.
template <class T>
[[gnu::always_inline]] inline T soft_positive(T x) {
  const T minus_magnitude = x > T(0) ? -x : x;
  return positive_part(x) + math::log1p(math::exp(minus_magnitude));
}
/// 1 / (1 + e^-x), from the exponential that cannot overflow.
template <class T>
[[gnu::always_inline]] inline T logistic(T x) {
  const T e = math::exp(x > T(0) ? -x : x);
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}
template <class T>
[[gnu::always_inline]] inline T gelu_exact(T x) {
  // By erfc rather than 1 + erf: nothing cancels for large negative x.
  return T(0.5) * x * math::erfc(x * T(-0.70710678118654752440));
}
template <class T>
[[gnu::always_inline]] inline T gelu_tanh(T x) {
  const T inner = T(0.79788456080286535588) * (x + T(0.044715) * x * x * x);
  return T(0.5) * x * (T(1) + math::tanh(inner));
}

TIDEMARK_UNARY_MATH(sigmoid, logistic(x))
TIDEMARK_UNARY_MATH(log_sigmoid, -soft_positive(-x))
TIDEMARK_UNARY_MATH(softplus, soft_positive(x))
TIDEMARK_UNARY_MATH(elu, positive_part(x) + math::expm1(negative_part(x)))
TIDEMARK_UNARY_MATH(selu, T(1.05070098735548049342) * positive_part(x) +
                              T(1.75809934084737685994) * math::expm1(negative_part(x)))
TIDEMARK_UNARY_MATH(swish, x* logistic(static_cast<T>(p.values[0]) * x))

template <class T>
[[gnu::always_inline]] inline T gelu_exact_slope(T x) {
  const T bell = T(0.39894228040143267794) * math::exp(x * x * T(-0.5));
  return T(0.5) * math::erfc(x * T(-0.70710678118654752440)) + x * bell;
}
template <class T>
[[gnu::always_inline]] inline T gelu_tanh_slope(T x) {
  const T root = T(0.79788456080286535588);
  const T t = math::tanh(root * (x + T(0.044715) * x * x * x));
  return T(0.5) * (T(1) + t) + T(0.5) * x * (T(1) - t * t) * root * (T(1) + T(0.134145) * x * x);
}

// Of floats, by vectors: the tail is 0 from kFarOut on.
[[gnu::always_inline]] inline Vec<float> gelu_lanes(Vec<float> x) {
  const Vec<float> t = distance_lanes(x);
  const Vec<float> below = t * density_lanes(t) * mills_ratio_lanes(t);
  return greater_of(x, Vec<float>{}) - (t == kFarOut ? Vec<float>{} : below);
}
[[gnu::always_inline]] inline Vec<float> gelu_slope_lanes(Vec<float> x) {
  const Vec<float> t = distance_lanes(x);
  const Vec<float> near = density_lanes(t) * (mills_ratio_lanes(t) - t);
  const Vec<float> below = t == kFarOut ? Vec<float>{} : near;
  return x > 0.f ? 1.f - below : below;
}

/// To where a vector may lie, past the caches.
[[gnu::always_inline]] inline void stream_vector(float* y, Vec<float> lanes) {
#if defined(__AVX512F__)
  _mm512_stream_ps(y, lanes);
#elif defined(__AVX__)
  _mm256_stream_ps(y, lanes);
#elif defined(__SSE2__)
  _mm_stream_ps(y, lanes);
#else
  store<float>(y, lanes);
#endif
}

/// Calls of(i) for every vector of n elements, a multiple of the longest vector; two at a time, so
/// that one waits while the other computes.
template <class Of>
[[gnu::always_inline]] inline void for_two_vectors(int64_t n, Of of) {
  constexpr int64_t kLane = kLanes<float>;
  int64_t i = 0;
  for (; i + 2 * kLane <= n; i += 2 * kLane) {
    of(i);
    of(i + kLane);
  }
  for (; i < n; i += kLane) of(i);
}

/// Two functions behind one op: its attribute chooses once, not an element at a time.
struct gelu_op {
  using Over = Floats;
  static constexpr const char* name = "gelu";
  static constexpr uint8_t arity = 1;
  static constexpr bool whole_vectors = true, heavy = true;
  template <class T>
  static T of(T x, LoopParams);
  template <class T>
  static LoopStatus loop(void* out, const void* const* in, int64_t n, const LoopParams& params) {
    const T* x = static_cast<const T*>(in[0]);
    T* y = static_cast<T*>(out);
    const int64_t count = count_of<gelu_op>(n);
    if (params.values[0] != 0) {
#pragma GCC ivdep
      for (int64_t i = 0; i < count; ++i) y[i] = gelu_tanh(x[i]);
    } else if constexpr (sizeof(T) == sizeof(float)) {
      for_two_vectors(
          count, [&](int64_t i) __attribute__((always_inline)) {
            store<float>(y + i, gelu_lanes(load<float>(x + i)));
          });
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < count; ++i) y[i] = gelu_exact(x[i]);
    }
    return LoopStatus::ok;
  }
  template <class T>
  static LoopStatus stream(void* out, const void* const* in, int64_t n, const LoopParams& params) {
    const T* x = static_cast<const T*>(in[0]);
    T* y = static_cast<T*>(out);
    const int64_t count = count_of<gelu_op>(n);
    if (params.values[0] != 0) {
      stream_elements<true>(
          y, count, [&](int64_t i) __attribute__((always_inline)) { return gelu_tanh(x[i]); });
    } else if constexpr (sizeof(T) == sizeof(float)) {
      for_two_vectors(
          count, [&](int64_t i) __attribute__((always_inline)) {
            stream_vector(y + i, gelu_lanes(load<float>(x + i)));
          });
    } else {
      stream_elements<true>(
          y, count, [&](int64_t i) __attribute__((always_inline)) { return gelu_exact(x[i]); });
    }
    return LoopStatus::ok;
  }
};

struct gelu_grad_op {
  using Over = Floats;
  static constexpr const char* name = "gelu_grad";
  static constexpr uint8_t arity = 2;
  static constexpr bool whole_vectors = true, heavy = true;
  template <class T>
  static T of(T dy, T x, LoopParams);
  template <class T>
  static LoopStatus loop(void* out, const void* const* in, int64_t n, const LoopParams& params) {
    const T *dy = static_cast<const T*>(in[0]), *x = static_cast<const T*>(in[1]);
    T* dx = static_cast<T*>(out);
    const int64_t count = count_of<gelu_grad_op>(n);
    if (params.values[0] != 0) {
#pragma GCC ivdep
      for (int64_t i = 0; i < count; ++i) dx[i] = dy[i] * gelu_tanh_slope(x[i]);
    } else if constexpr (sizeof(T) == sizeof(float)) {
      for_two_vectors(
          count, [&](int64_t i) __attribute__((always_inline)) {
            store<float>(dx + i, load<float>(dy + i) * gelu_slope_lanes(load<float>(x + i)));
          });
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < count; ++i) dx[i] = dy[i] * gelu_exact_slope(x[i]);
    }
    return LoopStatus::ok;
  }
};

TIDEMARK_LOOPS(activation, sigmoid_op, log_sigmoid_op, softplus_op, elu_op, selu_op, swish_op,
               gelu_op, gelu_grad_op);

}  // namespace tidemark::cpu::TIDEMARK_ISA
