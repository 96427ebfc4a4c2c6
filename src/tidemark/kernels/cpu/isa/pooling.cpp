// Loops of the poolings; compiled once per instruction-set level.

#include "tidemark/kernels/cpu/isa/pooling_loops.h"

#include "tidemark/kernels/cpu/isa/stores.h"

namespace tidemark::cpu::TIDEMARK_ISA {

namespace {

using S = ConvolutionSizes;

int64_t pixel(const int64_t* sizes, int64_t image, int64_t a, int64_t b, int64_t c) {
  return ((image * sizes[0] + a) * sizes[1] + b) * sizes[2] + c;
}

/// Positions of the window at `out` that lie inside the image: [begin, end).
struct Range {
  int64_t first, begin, end;
  Range(const S& s, int d, int64_t out) : first(out * s.stride[d] - s.before[d]) {
    begin = first >= 0 ? 0 : (-first + s.dilation[d] - 1) / s.dilation[d];
    const int64_t room = s.in[d] - first;
    end = room <= 0 ? 0 : (room + s.dilation[d] - 1) / s.dilation[d];
    if (end > s.kernel[d]) end = s.kernel[d];
    if (end < begin) end = begin;
  }
  int64_t count() const { return end - begin; }
};

template <class T>
struct Pooling {
  using A = typename LaneOf<T>::type;
  using V = Vec<A>;
  static constexpr bool kReal = __is_same(A, float) || __is_same(A, double);

  static constexpr A lowest() {
    if constexpr (kReal) {
      return static_cast<A>(-__builtin_inf());
    } else {
      return static_cast<A>(A{1} << (sizeof(A) * 8 - 1));
    }
  }

  /// Calls each(pixel index in the tensor) for the window's pixels, in order.
  template <class Each>
  [[gnu::always_inline]] static void for_window(const S& s, int64_t image, const Range& a,
                                                const Range& b, const Range& c, Each each) {
    for (int64_t i = a.begin; i < a.end; ++i) {
      for (int64_t j = b.begin; j < b.end; ++j) {
        for (int64_t k = c.begin; k < c.end; ++k) {
          each(pixel(s.in, image, a.first + i * s.dilation[0], b.first + j * s.dilation[1],
                     c.first + k * s.dilation[2]));
        }
      }
    }
  }

  template <bool kMax>
  static void forward(const S& s, int64_t row, const void* raw_x, void* raw_y) {
    const T* x = static_cast<const T*>(raw_x);
    T* y = static_cast<T*>(raw_y);
    const int64_t image = row / s.out[1] / s.out[0];
    const Range a(s, 0, row / s.out[1] % s.out[0]), b(s, 1, row % s.out[1]);
    for (int64_t o = 0; o < s.out[2]; ++o) {
      const Range c(s, 2, o);
      const int64_t count = a.count() * b.count() * c.count();
      const A share = A{1} / static_cast<A>(count > 0 ? count : 1);
      T* to = y + (row * s.out[2] + o) * s.out_channels;
      for_vectors<A>(
          s.out_channels, [&](int64_t channel, int64_t lanes) __attribute__((always_inline)) {
            V acc = kMax ? broadcast(lowest()) : V{};
            for_window(s, image, a, b, c, [&](int64_t at) {
              const V v = load_some<A>(x + at * s.out_channels + channel, lanes);
              if constexpr (kMax) {
                acc = ((v > acc) | (v != v)) ? v : acc;
              } else {
                acc += v;
              }
            });
            store_some<A>(to + channel, kMax ? acc : acc * share, lanes);
          });
    }
  }

  static void arg_max(const S& s, int64_t row, const void* raw_x, const void* raw_y, int64_t begin,
                      int64_t end, int64_t* pixels) {
    const T *x = static_cast<const T*>(raw_x), *y = static_cast<const T*>(raw_y);
    const int64_t image = row / s.out[1] / s.out[0];
    const int64_t start = pixel(s.in, image, 0, 0, 0);
    const Range a(s, 0, row / s.out[1] % s.out[0]), b(s, 1, row % s.out[1]);
    for (int64_t o = 0; o < s.out[2]; ++o) {
      const Range c(s, 2, o);
      const T* greatest = y + (row * s.out[2] + o) * s.out_channels;
      int64_t* to = pixels + o * (end - begin);
      for (int64_t channel = begin; channel < end; ++channel) to[channel - begin] = -1;
      for_window(s, image, a, b, c, [&](int64_t at) {
        for (int64_t channel = begin; channel < end; ++channel) {
          const A v = widened<A>(x[at * s.out_channels + channel]);
          const bool found = v == widened<A>(greatest[channel]) || v != v;
          int64_t& found_at = to[channel - begin];
          found_at = found && found_at < 0 ? at - start : found_at;
        }
      });
    }
  }

  static void mean_gradient(const S& s, int64_t row, const void* raw_dy, void* raw_dx) {
    const T* dy = static_cast<const T*>(raw_dy);
    T* dx = static_cast<T*>(raw_dx);
    const int64_t image = row / s.in[1] / s.in[0];
    const int64_t at[2] = {row / s.in[1] % s.in[0], row % s.in[1]};
    for (int64_t i = 0; i < s.in[2]; ++i) {
      T* to = dx + (row * s.in[2] + i) * s.out_channels;
      for_vectors<A>(
          s.out_channels, [&](int64_t channel, int64_t lanes) __attribute__((always_inline)) {
            V acc{};
            for (int64_t p = 0; p < s.kernel[0] * s.kernel[1] * s.kernel[2]; ++p) {
              const int64_t w[3] = {p / s.kernel[2] / s.kernel[1], p / s.kernel[2] % s.kernel[1],
                                    p % s.kernel[2]};
              int64_t out[3], count = 1;
              for (int d = 0; d < 3 && count > 0; ++d) {
                const int64_t shifted = (d < 2 ? at[d] : i) + s.before[d] - w[d] * s.dilation[d];
                out[d] = shifted / s.stride[d];
                const bool none = shifted < 0 || shifted % s.stride[d] != 0 || out[d] >= s.out[d];
                count = none ? 0 : count * Range(s, d, out[d]).count();
              }
              if (count == 0) continue;
              const T* from = dy + pixel(s.out, image, out[0], out[1], out[2]) * s.out_channels;
              acc += load_some<A>(from + channel, lanes) * (A{1} / static_cast<A>(count));
            }
            store_some<A>(to + channel, acc, lanes);
          });
    }
  }

  /// What to do at the greatest elements: see PoolingLoops.
  enum class At { add, write, take };

  /// The first pixel whose element equals the window's greatest, or is NaN, is the one.
  template <At kAt>
  static void at_greatest(const S& s, int64_t row, const void* raw_x, const void* raw_y,
                          const void* raw_third, int64_t begin, int64_t end, void* raw_out) {
    const T *x = static_cast<const T*>(raw_x), *y = static_cast<const T*>(raw_y);
    const T* third = static_cast<const T*>(raw_third);
    T* out = static_cast<T*>(raw_out);
    const int64_t image = row / s.out[1] / s.out[0];
    const Range a(s, 0, row / s.out[1] % s.out[0]), b(s, 1, row % s.out[1]);
    for (int64_t o = 0; o < s.out[2]; ++o) {
      const Range c(s, 2, o);
      const int64_t window = (row * s.out[2] + o) * s.out_channels + begin;
      for_vectors<A>(
          end - begin, [&](int64_t channel, int64_t lanes) __attribute__((always_inline)) {
            const V greatest = load_some<A>(y + window + channel, lanes);
            const V given = kAt == At::take ? V{} : load_some<A>(third + window + channel, lanes);
            auto open = greatest == greatest;
            open |= ~open;  // all lanes, NaN too
            V taken{};
            for_window(
                s, image, a, b, c, [&](int64_t pixel_at) __attribute__((always_inline)) {
                  const int64_t at = pixel_at * s.out_channels + begin + channel;
                  const V v = load_some<A>(x + at, lanes);
                  const auto found = open & ((v == greatest) | (v != v));
                  open &= ~found;
                  if constexpr (kAt == At::write) {
                    store_some<A>(out + at, found ? V{} + given : V{}, lanes);
                  } else if constexpr (kAt == At::add) {
                    const V there = load_some<A>(out + at, lanes);
                    store_some<A>(out + at, found ? there + given : there, lanes);
                  } else {
                    taken = found ? load_some<A>(third + at, lanes) : taken;
                  }
                });
            if constexpr (kAt == At::take) store_some<A>(out + window + channel, taken, lanes);
          });
    }
  }

  static constexpr PoolingLoops loops() {
    if constexpr (kReal) {
      return {forward<true>,        forward<false>,       arg_max,
              mean_gradient,        at_greatest<At::add>, at_greatest<At::write>,
              at_greatest<At::take>};
    } else {
      return {forward<true>,
              nullptr,
              arg_max,
              nullptr,
              at_greatest<At::add>,
              at_greatest<At::write>,
              at_greatest<At::take>};
    }
  }
};

template <class... T>
constexpr PoolingTable make_table() {
  PoolingTable t{};
  ((t.loops[static_cast<int>(dtype_of<T>())] = Pooling<T>::loops()), ...);
  return t;
}

}  // namespace

extern constinit const PoolingTable pooling_table =
    make_table<Half, BFloat16, float, double, int32_t, int64_t>();

}  // namespace tidemark::cpu::TIDEMARK_ISA
