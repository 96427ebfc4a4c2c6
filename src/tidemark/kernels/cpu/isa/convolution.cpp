// Direct convolutions; compiled once per instruction-set level.

#include "tidemark/kernels/cpu/isa/convolution_loops.h"

#include "tidemark/kernels/cpu/isa/stores.h"

namespace tidemark::cpu::TIDEMARK_ISA {

namespace {

template <class T>
struct Convolution {
  using A = typename LaneOf<T>::type;
  using V = Vec<A>;
  using S = ConvolutionSizes;
  static constexpr int64_t kBlock = 4;  // vectors of output channels at a time

  /// Input position of an output and window position; -1: in the padding.
  static int64_t input_at(const S& s, int d, int64_t out, int64_t window) {
    const int64_t at = out * s.stride[d] - s.before[d] + window * s.dilation[d];
    return at < 0 || at >= s.in[d] ? -1 : at;
  }
  /// Output position whose window position reads the input position; -1: there is none.
  static int64_t output_at(const S& s, int d, int64_t in, int64_t window) {
    const int64_t at = in + s.before[d] - window * s.dilation[d];
    return at < 0 || at % s.stride[d] != 0 || at / s.stride[d] >= s.out[d] ? -1 : at / s.stride[d];
  }

  /// Calls each(a, b, c) for every position of a window.
  template <class Each>
  [[gnu::always_inline]] static void for_window(const S& s, Each each) {
    for (int64_t a = 0; a < s.kernel[0]; ++a) {
      for (int64_t b = 0; b < s.kernel[1]; ++b) {
        for (int64_t c = 0; c < s.kernel[2]; ++c) each(a, b, c);
      }
    }
  }
  static int64_t pixel(const int64_t* sizes, int64_t image, int64_t a, int64_t b, int64_t c) {
    return ((image * sizes[0] + a) * sizes[1] + b) * sizes[2] + c;
  }

  /// acc[...] += value * row[...], `count` elements.
  [[gnu::always_inline]] static void accumulate(V* acc, A value, const T* row, int64_t count) {
    for (int64_t v = 0; v * kLanes<A> < count; ++v) {
      const int64_t left = count - v * kLanes<A>;
      const V w = load_some<A>(row + v * kLanes<A>, left < kLanes<A> ? left : kLanes<A>);
      acc[v] += w * value;
    }
  }
  [[gnu::always_inline]] static void write(const V* acc, T* to, int64_t count) {
    for (int64_t v = 0; v * kLanes<A> < count; ++v) {
      const int64_t left = count - v * kLanes<A>;
      store_some<A>(to + v * kLanes<A>, acc[v], left < kLanes<A> ? left : kLanes<A>);
    }
  }
  static int64_t block_at(int64_t first, int64_t all) {
    return all - first < kBlock * kLanes<A> ? all - first : kBlock * kLanes<A>;
  }

  static void forward(const S& s, int64_t row, const void* raw_x, const void* raw_w, void* raw_y) {
    const T *x = static_cast<const T*>(raw_x), *w = static_cast<const T*>(raw_w);
    T* y = static_cast<T*>(raw_y);
    const int64_t b = row % s.out[1], a = row / s.out[1] % s.out[0];
    const int64_t image = row / s.out[1] / s.out[0];
    const int64_t taken = s.in_channels / s.groups, made = s.out_channels / s.groups;
    for (int64_t c = 0; c < s.out[2]; ++c) {
      T* to = y + pixel(s.out, image, a, b, c) * s.out_channels;
      for (int64_t g = 0; g < s.groups; ++g) {
        for (int64_t first = 0; first < made; first += kBlock * kLanes<A>) {
          const int64_t count = block_at(first, made);
          V acc[kBlock] = {};
          for_window(s, [&](int64_t i, int64_t j, int64_t k) {
            const int64_t p = input_at(s, 0, a, i), q = input_at(s, 1, b, j),
                          r = input_at(s, 2, c, k);
            if (p < 0 || q < 0 || r < 0) return;
            const T* from = x + pixel(s.in, image, p, q, r) * s.in_channels + g * taken;
            const T* filter = w + pixel(s.kernel, 0, i, j, k) * taken * s.out_channels;
            for (int64_t ci = 0; ci < taken; ++ci) {
              accumulate(acc, widened<A>(from[ci]), filter + ci * s.out_channels + g * made + first,
                         count);
            }
          });
          write(acc, to + g * made + first, count);
        }
      }
    }
  }

  static void input_gradient(const S& s, int64_t row, const void* raw_dy, const void* raw_w,
                             void* raw_dx) {
    const T *dy = static_cast<const T*>(raw_dy), *w = static_cast<const T*>(raw_w);
    T* dx = static_cast<T*>(raw_dx);
    const int64_t b = row % s.in[1], a = row / s.in[1] % s.in[0];
    const int64_t image = row / s.in[1] / s.in[0];
    const int64_t taken = s.in_channels / s.groups, made = s.out_channels / s.groups;
    for (int64_t c = 0; c < s.in[2]; ++c) {
      T* to = dx + pixel(s.in, image, a, b, c) * s.in_channels;
      for (int64_t channel = 0; channel < s.in_channels; ++channel) {
        const int64_t g = channel / taken, ci = channel % taken;
        Wide<A> acc;
        for_window(s, [&](int64_t i, int64_t j, int64_t k) {
          const int64_t p = output_at(s, 0, a, i), q = output_at(s, 1, b, j),
                        r = output_at(s, 2, c, k);
          if (p < 0 || q < 0 || r < 0) return;
          const T* from = dy + pixel(s.out, image, p, q, r) * s.out_channels + g * made;
          const T* filter =
              w + (pixel(s.kernel, 0, i, j, k) * taken + ci) * s.out_channels + g * made;
          for_parts<A>(
              made, [&](int64_t o, int64_t count, int part) __attribute__((always_inline)) {
                acc.part[part] += load_some<A>(from + o, count) * load_some<A>(filter + o, count);
              });
        });
        narrow(sum_of_lanes<A>(acc), to[channel]);
      }
    }
  }

  /// The sum over all positions for one block of output channels of one group.
  static void filter_block(const S& s, const int64_t* window, int64_t channel, const T* x,
                           const T* dy, int64_t first, int64_t count, T* to) {
    V acc[kBlock] = {};
    for (int64_t image = 0; image < s.batch; ++image) {
      for (int64_t a = 0; a < s.out[0]; ++a) {
        const int64_t p = input_at(s, 0, a, window[0]);
        for (int64_t b = 0; p >= 0 && b < s.out[1]; ++b) {
          const int64_t q = input_at(s, 1, b, window[1]);
          for (int64_t c = 0; q >= 0 && c < s.out[2]; ++c) {
            const int64_t r = input_at(s, 2, c, window[2]);
            if (r < 0) continue;
            const T value = x[pixel(s.in, image, p, q, r) * s.in_channels + channel];
            accumulate(acc, widened<A>(value),
                       dy + pixel(s.out, image, a, b, c) * s.out_channels + first, count);
          }
        }
      }
    }
    write(acc, to, count);
  }

  static void filter_gradient(const S& s, int64_t row, const void* raw_x, const void* raw_dy,
                              void* raw_dw) {
    const T *x = static_cast<const T*>(raw_x), *dy = static_cast<const T*>(raw_dy);
    T* to = static_cast<T*>(raw_dw) + row * s.out_channels;
    const int64_t taken = s.in_channels / s.groups, made = s.out_channels / s.groups;
    const int64_t at = row / taken;
    const int64_t window[3] = {at / s.kernel[2] / s.kernel[1], at / s.kernel[2] % s.kernel[1],
                               at % s.kernel[2]};
    for (int64_t g = 0; g < s.groups; ++g) {
      for (int64_t first = 0; first < made; first += kBlock * kLanes<A>) {
        filter_block(s, window, g * taken + row % taken, x, dy, g * made + first,
                     block_at(first, made), to + g * made + first);
      }
    }
  }

  static constexpr ConvolutionLoops loops() { return {forward, input_gradient, filter_gradient}; }
};

template <class... T>
constexpr ConvolutionTable make_table() {
  ConvolutionTable t{};
  ((t.loops[static_cast<int>(dtype_of<T>())] = Convolution<T>::loops()), ...);
  return t;
}

}  // namespace

extern constinit const ConvolutionTable convolution_table =
    make_table<Half, BFloat16, float, double>();

}  // namespace tidemark::cpu::TIDEMARK_ISA
