// Loops of softmax and the cross entropies; compiled once per instruction-set level.

#include "tidemark/kernels/cpu/isa/softmax_loops.h"

#include "tidemark/kernels/cpu/isa/exp_lanes.h"
#include "tidemark/kernels/cpu/isa/stores.h"
#include "tidemark/kernels/cpu/isa/vector_math.h"

namespace tidemark::cpu::TIDEMARK_ISA {

namespace {

template <class A>
[[gnu::always_inline]] inline Vec<A> greater_of(Vec<A> a, Vec<A> b) {
  return b > a ? b : a;
}

template <class A>
[[gnu::always_inline]] inline Vec<A> log_of(Vec<A> x) {
  alignas(64) A lanes[kLanes<A>];
  __builtin_memcpy(lanes, &x, sizeof(x));
  for (int64_t l = 0; l < kLanes<A>; ++l) lanes[l] = math::log(lanes[l]);
  __builtin_memcpy(&x, lanes, sizeof(x));
  return x;
}

template <class T>
struct Softmax {
  using A = typename LaneOf<T>::type;
  using V = Vec<A>;
  static constexpr int64_t kLane = kLanes<A>;
  static constexpr A kLowest = static_cast<A>(-__builtin_inf());

  // --- rows -------------------------------------------------------------------------------------

  static A greatest(const T* x, int64_t n) {
    V a = broadcast(kLowest), b = a, c = a, d = a;
    int64_t i = 0;
    for (; i + 4 * kLane <= n; i += 4 * kLane) {
      a = greater_of<A>(a, load<A>(x + i));
      b = greater_of<A>(b, load<A>(x + i + kLane));
      c = greater_of<A>(c, load<A>(x + i + 2 * kLane));
      d = greater_of<A>(d, load<A>(x + i + 3 * kLane));
    }
    for (; i + kLane <= n; i += kLane) a = greater_of<A>(a, load<A>(x + i));
    if (i < n) {
      const V last = load_part<A>(x + i, n - i);
      b = greater_of<A>(b, lanes_below<A>(n - i) ? last : broadcast(kLowest));
    }
    return max_of_lanes<A>(greater_of<A>(greater_of<A>(a, b), greater_of<A>(c, d)));
  }

  /// sum(exp(x - shift)); the terms go to y where it is given.
  template <bool kStore>
  [[gnu::always_inline]] static A sum_exp(const T* x, int64_t n, A shift, T* y) {
    constexpr int64_t kWide = kWideLanes<A>;
    Wide<A> a, b;
    int64_t i = 0;
    for (; i + 2 * kWide <= n; i += 2 * kWide) {
#pragma GCC unroll 4
      for (int p = 0; p < kParts; ++p) {
        const int64_t at = i + p * kLane;
        const V e = exp_lanes(load<A>(x + at) - shift);
        const V f = exp_lanes(load<A>(x + at + kWide) - shift);
        if constexpr (kStore) {
          store<A>(y + at, e);
          store<A>(y + at + kWide, f);
        }
        a.part[p] += e;
        b.part[p] += f;
      }
    }
    for_parts<A>(
        n - i, [&](int64_t j, int64_t count, int p) __attribute__((always_inline)) {
          const V e = exp_lanes(load_some<A>(x + i + j, count) - shift);
          if constexpr (kStore) store_some<A>(y + i + j, e, count);
          a.part[p] += lanes_below<A>(count) ? e : V{};
        });
    return sum_of_lanes<A>(a + b);
  }

  static void softmax_row(const T* x, int64_t n, T* y) {
    const A shift = greatest(x, n);
    // Half types would lose digits on the way through y, so their terms are computed twice.
    constexpr bool kKeep = __is_same(T, A);
    const A factor = A{1} / sum_exp<kKeep>(x, n, shift, y);
    for_vectors<A>(
        n, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
          const V e =
              kKeep ? load_some<A>(y + i, count) : exp_lanes(load_some<A>(x + i, count) - shift);
          store_some<A>(y + i, e * factor, count);
        });
  }

  static void log_softmax_row(const T* x, int64_t n, T* y) {
    const A shift = greatest(x, n);
    const A log_sum = log_of<A>(broadcast(sum_exp<false>(x, n, shift, y)))[0];
    for_vectors<A>(
        n, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
          store_some<A>(y + i, load_some<A>(x + i, count) - shift - log_sum, count);
        });
  }

  static double log_sum_exp(const void* raw, int64_t n) {
    const T* x = static_cast<const T*>(raw);
    if (n == 0) return -__builtin_inf();
    const A shift = greatest(x, n);
    const A sum = sum_exp<false>(x, n, shift, static_cast<T*>(nullptr));
    return static_cast<double>(shift) + static_cast<double>(log_of<A>(broadcast(sum))[0]);
  }

  static void gradient_row(const T* y, const T* dy, int64_t n, T* dx, bool logarithm) {
    Wide<A> a;
    for_parts<A>(
        n, [&](int64_t i, int64_t count, int p)
               __attribute__((always_inline)) {  // lanes behind the end are zero
                 const V g = load_some<A>(dy + i, count);
                 a.part[p] += logarithm ? g : g * load_some<A>(y + i, count);
               });
    const A sum = sum_of_lanes<A>(a);
    for_vectors<A>(
        n, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
          const V g = load_some<A>(dy + i, count), p = load_some<A>(y + i, count);
          store_some<A>(dx + i, logarithm ? g - exp_lanes(p) * sum : (g - sum) * p, count);
        });
  }

  // --- columns ----------------------------------------------------------------------------------

  static void softmax_column(const SoftmaxLine& l, const T* x, int64_t count, T* y, bool log) {
    V top = broadcast(kLowest), sum{};
    for (int64_t r = 0; r < l.n; ++r) {
      top = greater_of<A>(top, load_some<A>(x + r * l.stride, count));
    }
    for (int64_t r = 0; r < l.n; ++r) {
      sum += exp_lanes(load_some<A>(x + r * l.stride, count) - top);
    }
    const V last = log ? log_of<A>(sum) : A{1} / sum;
    for (int64_t r = 0; r < l.n; ++r) {
      const V shifted = load_some<A>(x + r * l.stride, count) - top;
      store_some<A>(y + r * l.stride, log ? shifted - last : exp_lanes(shifted) * last, count);
    }
  }

  static void gradient_column(const SoftmaxLine& l, const T* y, const T* dy, int64_t count, T* dx,
                              bool log) {
    V sum{};
    for (int64_t r = 0; r < l.n; ++r) {
      const V g = load_some<A>(dy + r * l.stride, count);
      sum += log ? g : g * load_some<A>(y + r * l.stride, count);
    }
    for (int64_t r = 0; r < l.n; ++r) {
      const V g = load_some<A>(dy + r * l.stride, count);
      const V p = load_some<A>(y + r * l.stride, count);
      store_some<A>(dx + r * l.stride, log ? g - exp_lanes(p) * sum : (g - sum) * p, count);
    }
  }

  static void softmax(const SoftmaxLine& line, const void* x, void* y, bool logarithm) {
    const T* from = static_cast<const T*>(x);
    T* to = static_cast<T*>(y);
    if (line.stride == 1) {
      return logarithm ? log_softmax_row(from, line.n, to) : softmax_row(from, line.n, to);
    }
    for_vectors<A>(
        line.width, [&](int64_t j, int64_t count) __attribute__((always_inline)) {
          softmax_column(line, from + j, count, to + j, logarithm);
        });
  }

  static void gradient(const SoftmaxLine& line, const void* y, const void* dy, void* dx,
                       bool logarithm) {
    const T *p = static_cast<const T*>(y), *g = static_cast<const T*>(dy);
    T* to = static_cast<T*>(dx);
    if (line.stride == 1) return gradient_row(p, g, line.n, to, logarithm);
    for_vectors<A>(
        line.width, [&](int64_t j, int64_t count) __attribute__((always_inline)) {
          gradient_column(line, p + j, g + j, count, to + j, logarithm);
        });
  }

  // --- cross entropies --------------------------------------------------------------------------

  static double cross_entropy(const void* raw_labels, const void* raw_x, int64_t n, double lse) {
    const T *labels = static_cast<const T*>(raw_labels), *x = static_cast<const T*>(raw_x);
    const A shift = static_cast<A>(lse);
    Wide<A> sum;
    for_parts<A>(
        n, [&](int64_t i, int64_t count, int p) __attribute__((always_inline)) {
          sum.part[p] += load_some<A>(labels + i, count) * (shift - load_some<A>(x + i, count));
        });
    return static_cast<double>(sum_of_lanes<A>(sum));
  }

  static void cross_entropy_gradient(const void* raw_x, const void* raw_labels, int64_t hot,
                                     int64_t n, double lse, double factor, void* raw_dx) {
    const T *x = static_cast<const T*>(raw_x), *labels = static_cast<const T*>(raw_labels);
    T* dx = static_cast<T*>(raw_dx);
    const A shift = static_cast<A>(lse), scale = static_cast<A>(factor);
    if (labels) {
      for_vectors<A>(
          n, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
            const V p = exp_lanes(load_some<A>(x + i, count) - shift);
            store_some<A>(dx + i, (p - load_some<A>(labels + i, count)) * scale, count);
          });
      return;
    }
    // Read first: dx may lie where x does.
    const V p = exp_lanes(broadcast(widened<A>(x[hot])) - shift);
    for_vectors<A>(
        n, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
          store_some<A>(dx + i, exp_lanes(load_some<A>(x + i, count) - shift) * scale, count);
        });
    narrow((p[0] - A{1}) * scale, dx[hot]);
  }

  static constexpr SoftmaxLoops loops() {
    return {softmax, gradient, log_sum_exp, cross_entropy, cross_entropy_gradient};
  }
};

template <class... T>
constexpr SoftmaxTable make_table() {
  SoftmaxTable t{};
  ((t.loops[static_cast<int>(dtype_of<T>())] = Softmax<T>::loops()), ...);
  return t;
}

}  // namespace

extern constinit const SoftmaxTable softmax_table = make_table<Half, BFloat16, float, double>();

}  // namespace tidemark::cpu::TIDEMARK_ISA
