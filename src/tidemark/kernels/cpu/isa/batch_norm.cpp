// Loops of batch_norm; compiled once per instruction-set level.

#include "tidemark/kernels/cpu/isa/batch_norm_loops.h"

#include "tidemark/kernels/cpu/isa/stores.h"

namespace tidemark::cpu::TIDEMARK_ISA {

namespace {

template <class T>
struct BatchNorm {
  using A = typename LaneOf<T>::type;
  using V = Vec<A>;
  static constexpr int64_t kLane = kLanes<A>;

  /// For every vector of a row, `count` lanes at place i, adds add(element, count) of all rows to
  /// two sums: all rows of a vector first, so that the sums stay in registers.
  template <class Add>
  [[gnu::always_inline]] static void add_rows(int64_t n, int64_t width, A* first, A* second,
                                              Add add) {
    const int64_t rows = n / width;
    for_vectors<A>(
        width, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
          V a = load_some<A>(first + i, count), b = load_some<A>(second + i, count);
          for (int64_t r = 0; r < rows; ++r) add(r * width + i, i, count, a, b);
          store_some<A>(first + i, a, count);
          store_some<A>(second + i, b, count);
        });
    for_vectors<A>(
        n - rows * width, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
          V a = load_some<A>(first + i, count), b = load_some<A>(second + i, count);
          add(rows * width + i, i, count, a, b);
          store_some<A>(first + i, a, count);
          store_some<A>(second + i, b, count);
        });
  }

  /// Calls fn(element, place in the row, count) for the vectors of all rows.
  template <class Fn>
  [[gnu::always_inline]] static void for_rows(int64_t n, int64_t width, Fn fn) {
    for (int64_t start = 0; start < n; start += width) {
      const int64_t size = n - start < width ? n - start : width;
      for_vectors<A>(
          size, [&](int64_t i, int64_t count)
                    __attribute__((always_inline)) { fn(start + i, i, count); });
    }
  }

  static void sums(const void* raw_x, int64_t n, int64_t width, const void* raw_shift, void* sum,
                   void* square) {
    const T* x = static_cast<const T*>(raw_x);
    const A* shift = static_cast<const A*>(raw_shift);
    add_rows(
        n, width, static_cast<A*>(sum), static_cast<A*>(square),
        [&](int64_t e, int64_t i, int64_t count, V & a, V & b) __attribute__((always_inline)) {
          const V d = load_some<A>(x + e, count) - load_some<A>(shift + i, count);
          a += d;
          b += d * d;
        });
  }

  static void affine(const void* raw_x, int64_t n, int64_t width, const void* raw_factor,
                     const void* raw_shift, void* raw_y) {
    const T* x = static_cast<const T*>(raw_x);
    const A *factor = static_cast<const A*>(raw_factor), *shift = static_cast<const A*>(raw_shift);
    T* y = static_cast<T*>(raw_y);
    for_rows(
        n, width, [&](int64_t e, int64_t i, int64_t count) __attribute__((always_inline)) {
          store_some<A>(y + e,
                        load_some<A>(x + e, count) * load_some<A>(factor + i, count) +
                            load_some<A>(shift + i, count),
                        count);
        });
  }

  static void gradient_sums(const void* raw_x, const void* raw_dy, int64_t n, int64_t width,
                            const void* raw_mean, void* sum, void* product) {
    const T *x = static_cast<const T*>(raw_x), *dy = static_cast<const T*>(raw_dy);
    const A* mean = static_cast<const A*>(raw_mean);
    add_rows(
        n, width, static_cast<A*>(sum), static_cast<A*>(product),
        [&](int64_t e, int64_t i, int64_t count, V & a, V & b) __attribute__((always_inline)) {
          const V g = load_some<A>(dy + e, count);
          a += g;
          b += g * (load_some<A>(x + e, count) - load_some<A>(mean + i, count));
        });
  }

  static void gradient(const void* raw_x, const void* raw_dy, int64_t n, int64_t width,
                       const void* raw_a, const void* raw_b, const void* raw_c, void* raw_dx) {
    const T *x = static_cast<const T*>(raw_x), *dy = static_cast<const T*>(raw_dy);
    const A *a = static_cast<const A*>(raw_a), *b = static_cast<const A*>(raw_b);
    const A* c = static_cast<const A*>(raw_c);
    T* dx = static_cast<T*>(raw_dx);
    for_rows(
        n, width, [&](int64_t e, int64_t i, int64_t count) __attribute__((always_inline)) {
          store_some<A>(dx + e,
                        load_some<A>(dy + e, count) * load_some<A>(a + i, count) +
                            (load_some<A>(x + e, count) * load_some<A>(b + i, count) +
                             load_some<A>(c + i, count)),
                        count);
        });
  }

  static constexpr BatchNormLoops loops() { return {sums, affine, gradient_sums, gradient}; }
};

template <class... T>
constexpr BatchNormTable make_table() {
  BatchNormTable t{};
  ((t.loops[static_cast<int>(dtype_of<T>())] = BatchNorm<T>::loops()), ...);
  return t;
}

}  // namespace

extern constinit const BatchNormTable batch_norm_table =
    make_table<Half, BFloat16, float, double>();

}  // namespace tidemark::cpu::TIDEMARK_ISA
