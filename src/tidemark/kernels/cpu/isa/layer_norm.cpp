// Loops of layer_norm and rms_norm; compiled once per instruction-set level.

#include "tidemark/kernels/cpu/isa/layer_norm_loops.h"

#include "tidemark/kernels/cpu/isa/stores.h"

namespace tidemark::cpu::TIDEMARK_ISA {

namespace {

template <class T>
struct LayerNorm {
  using A = typename LaneOf<T>::type;
  using V = Vec<A>;
  static constexpr int64_t kLane = kLanes<A>;

  /// Sum of step(vector) over the row; step gets whole vectors, the last one masked to zero.
  template <class Step>
  [[gnu::always_inline]] static A sum_over(int64_t n, Step step) {
    constexpr int64_t kWide = kWideLanes<A>;
    Wide<A> a, b, c, d;
    int64_t i = 0;
    for (; i + 4 * kWide <= n; i += 4 * kWide) {
#pragma GCC unroll 4
      for (int p = 0; p < kParts; ++p) {
        const int64_t at = i + p * kLane;
        a.part[p] += step(at, kLane);
        b.part[p] += step(at + kWide, kLane);
        c.part[p] += step(at + 2 * kWide, kLane);
        d.part[p] += step(at + 3 * kWide, kLane);
      }
    }
    for (; i + kWide <= n; i += kWide) {
#pragma GCC unroll 4
      for (int p = 0; p < kParts; ++p) a.part[p] += step(i + p * kLane, kLane);
    }
    for_parts<A>(
        n - i, [&](int64_t j, int64_t count, int p) __attribute__((always_inline)) {
          b.part[p] += lanes_below<A>(count) ? step(i + j, count) : V{};
        });
    return sum_of_lanes<A>((a + b) + (c + d));
  }

  static A root(A x) {
    if constexpr (sizeof(A) == 4) return __builtin_sqrtf(x);
    return static_cast<A>(__builtin_sqrt(x));
  }

  static void forward(const void* raw_x, const void* raw_scale, const void* raw_offset, int64_t n,
                      double epsilon, bool centred, void* raw_y, void* raw_mean, void* raw_rstd) {
    const T *x = static_cast<const T*>(raw_x), *scale = static_cast<const T*>(raw_scale);
    const T* offset = static_cast<const T*>(raw_offset);
    T* y = static_cast<T*>(raw_y);
    const A count = static_cast<A>(n);
    A mean{};
    if (centred) {
      mean = sum_over(
                 n, [&](int64_t i, int64_t c)
                        __attribute__((always_inline)) { return load_some<A>(x + i, c); }) /
             count;
      *static_cast<A*>(raw_mean) = mean;
    }
    const A squares = sum_over(
        n, [&](int64_t i, int64_t c) __attribute__((always_inline)) {
          const V d = load_some<A>(x + i, c) - mean;
          return d * d;
        });
    const A rstd = A{1} / root(squares / count + static_cast<A>(epsilon));
    *static_cast<A*>(raw_rstd) = rstd;
    if (centred) {
      for_vectors<A>(
          n, [&](int64_t i, int64_t c) __attribute__((always_inline)) {
            const V normal = (load_some<A>(x + i, c) - mean) * rstd;
            store_some<A>(y + i, normal * load_some<A>(scale + i, c) + load_some<A>(offset + i, c),
                          c);
          });
    } else {
      for_vectors<A>(
          n, [&](int64_t i, int64_t c) __attribute__((always_inline)) {
            store_some<A>(y + i, load_some<A>(x + i, c) * rstd * load_some<A>(scale + i, c), c);
          });
    }
  }

  static void backward(const void* raw_x, const void* raw_dy, const void* raw_scale, int64_t n,
                       bool centred, const void* raw_mean, const void* raw_rstd, void* raw_dx,
                       void* raw_dscale, void* raw_doffset) {
    const T *x = static_cast<const T*>(raw_x), *dy = static_cast<const T*>(raw_dy);
    const T* scale = static_cast<const T*>(raw_scale);
    T* dx = static_cast<T*>(raw_dx);
    A *dscale = static_cast<A*>(raw_dscale), *doffset = static_cast<A*>(raw_doffset);
    const A mean = centred ? *static_cast<const A*>(raw_mean) : A{};
    const A rstd = *static_cast<const A*>(raw_rstd);
    Wide<A> sum, product;
    for_parts<A>(
        n, [&](int64_t i, int64_t c,
               int p) __attribute__((always_inline)) {  // lanes of dy behind the end are zero
          const V g = load_some<A>(dy + i, c), normal = (load_some<A>(x + i, c) - mean) * rstd;
          const V scaled = g * load_some<A>(scale + i, c);
          sum.part[p] += scaled;
          product.part[p] += scaled * normal;
          store_some<A>(dscale + i, load_some<A>(dscale + i, c) + g * normal, c);
          if (centred) store_some<A>(doffset + i, load_some<A>(doffset + i, c) + g, c);
        });
    const A count = static_cast<A>(n);
    const A shift = centred ? sum_of_lanes<A>(sum) / count : A{};
    const A slope = sum_of_lanes<A>(product) / count;
    for_vectors<A>(
        n, [&](int64_t i, int64_t c) __attribute__((always_inline)) {
          const V normal = (load_some<A>(x + i, c) - mean) * rstd;
          const V scaled = load_some<A>(dy + i, c) * load_some<A>(scale + i, c);
          store_some<A>(dx + i, (scaled - shift - normal * slope) * rstd, c);
        });
  }

  static void add_up(const void* raw_sums, int64_t count, int64_t stride, int64_t begin,
                     int64_t end, void* raw_out) {
    const A* sums = static_cast<const A*>(raw_sums) + begin;
    T* out = static_cast<T*>(raw_out) + begin;
    for_vectors<A>(
        end - begin, [&](int64_t i, int64_t c) __attribute__((always_inline)) {
          V total{};
          for (int64_t r = 0; r < count; ++r) total += load_some<A>(sums + r * stride + i, c);
          store_some<A>(out + i, total, c);
        });
  }

  static constexpr LayerNormLoops loops() { return {forward, backward, add_up}; }
};

template <class... T>
constexpr LayerNormTable make_table() {
  LayerNormTable t{};
  ((t.loops[static_cast<int>(dtype_of<T>())] = LayerNorm<T>::loops()), ...);
  return t;
}

}  // namespace

extern constinit const LayerNormTable layer_norm_table =
    make_table<Half, BFloat16, float, double>();

}  // namespace tidemark::cpu::TIDEMARK_ISA
