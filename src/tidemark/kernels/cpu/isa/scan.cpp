// Loops along one axis; compiled once per instruction-set level.

#include "tidemark/kernels/cpu/isa/scan_loops.h"

#include <cmath>

#include "tidemark/kernels/cpu/isa/lanes.h"
#include "tidemark/kernels/cpu/isa/narrow.h"

namespace tidemark::cpu::TIDEMARK_ISA {

namespace {

template <class P>
struct ComplexOf {
  P re, im;
};

template <class A>
struct Add {
  static constexpr A start() { return A{}; }
  [[gnu::always_inline]] static A join(A a, A b) { return static_cast<A>(a + b); }
};
template <class A>
struct Multiply {
  static constexpr A start() { return A{1}; }
  [[gnu::always_inline]] static A join(A a, A b) { return static_cast<A>(a * b); }
};
struct MultiplyComplex {
  using A = ComplexOf<double>;
  static constexpr A start() { return {1, 0}; }
  [[gnu::always_inline]] static A join(A a, A b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};
/// log(exp(a) + exp(b)), right for infinities and NaN.
struct LogAddExp {
  static constexpr double start() { return -__builtin_inf(); }
  static double join(double a, double b) {
    const double high = a > b || a != a ? a : b;
    if (high == -__builtin_inf() || high == __builtin_inf()) return high;
    const double low = a > b || a != a ? b : a;
    return high + log1p(exp(low - high));
  }
};

template <class T, class A>
[[gnu::always_inline]] inline A lane_of(T value) {
  if constexpr (__is_same(A, ComplexOf<double>)) {
    return {value.re, value.im};
  } else if constexpr (__is_same(T, Half) || __is_same(T, BFloat16)) {
    return static_cast<A>(widened<float>(value));
  } else {
    return static_cast<A>(value);
  }
}
template <class T, class A>
[[gnu::always_inline]] inline void element_of(A lane, T& out) {
  if constexpr (__is_same(A, ComplexOf<double>)) {
    out = {static_cast<decltype(out.re)>(lane.re), static_cast<decltype(out.re)>(lane.im)};
  } else if constexpr (__is_same(T, Half) || __is_same(T, BFloat16)) {
    narrow(static_cast<float>(lane), out);
  } else {
    out = static_cast<T>(lane);
  }
}

template <class T, class A, class Op>
void scan(const void* raw, int64_t n, int64_t stride, int64_t width, bool exclusive, void* raw_out,
          ScanState* state) {
  static_assert(sizeof(A) <= ScanState::kMostBytes);
  const T* x = static_cast<const T*>(raw);
  T* out = static_cast<T*>(raw_out);
  const bool goes_on = state && state->is_begun;
  if (state) state->is_begun = true;
  if (width == 1) {
    A first = Op::start();
    if (goes_on) __builtin_memcpy(&first, state->values, sizeof first);
    A acc = first;
    for (int64_t i = 0; i < n; ++i) {
      const A next = Op::join(acc, lane_of<T, A>(x[i * stride]));
      element_of(exclusive ? acc : next, out[i * stride]);
      acc = next;
    }
    const A last = acc;
    if (state) __builtin_memcpy(state->values, &last, sizeof last);
    return;
  }
  A acc[kScanColumns];
  for (int64_t j = 0; j < width; ++j) acc[j] = Op::start();
  if (goes_on) __builtin_memcpy(acc, state->values, sizeof acc);
  for (int64_t i = 0; i < n; ++i, x += stride, out += stride) {
    if (exclusive) {
      for (int64_t j = 0; j < width; ++j) {
        const A old = acc[j];
        acc[j] = Op::join(old, lane_of<T, A>(x[j]));
        element_of(old, out[j]);
      }
    } else {
      for (int64_t j = 0; j < width; ++j) {
        acc[j] = Op::join(acc[j], lane_of<T, A>(x[j]));
        element_of(acc[j], out[j]);
      }
    }
  }
  if (state) __builtin_memcpy(state->values, acc, sizeof acc);
}

template <class T, class A, bool kMax>
struct Arg {
  [[gnu::always_inline]] static bool better(A a, A b) { return kMax ? a > b : a < b; }

  /// Contiguous elements: the best value of each block first, its place only when it wins.
  static int64_t row(const T* x, int64_t n) {
    constexpr int64_t kBlock = 16 * kLanes<A>;
    int64_t index = 0;
    bool found = false;
    A best{};
    int64_t i = 0;
    for (; i + kBlock <= n; i += kBlock) {
      Vec<A> lanes[4];
      for (int v = 0; v < 4; ++v) lanes[v] = load<A>(x + i + v * kLanes<A>);
      for (int64_t b = 4 * kLanes<A>; b < kBlock; b += 4 * kLanes<A>) {
        for (int v = 0; v < 4; ++v) {
          const Vec<A> y = load<A>(x + i + b + v * kLanes<A>);
          // NaN in the lanes gives way to anything.
          lanes[v] = (kMax ? lanes[v] >= y : lanes[v] <= y) ? lanes[v] : y;
        }
      }
      // A block with NaN, or one that may hold something better, is looked at one by one.
      bool look = !found;
      for (int v = 0; v < 4; ++v) {
        const auto wins = (kMax ? lanes[v] > best : lanes[v] < best) | (lanes[v] != lanes[v]);
        for (int64_t l = 0; l < kLanes<A>; ++l) look |= wins[l] != 0;
      }
      if (look) one_by_one(x, i, i + kBlock, best, index, found);
    }
    one_by_one(x, i, n, best, index, found);
    return index;
  }

  static void one_by_one(const T* x, int64_t begin, int64_t end, A& best, int64_t& index,
                         bool& found) {
    for (int64_t i = begin; i < end; ++i) {
      const A value = widened<A>(x[i]);
      if (value == value && (!found || better(value, best))) {
        best = value;
        index = i;
        found = true;
      }
    }
  }

  static void run(const void* raw, int64_t n, int64_t stride, int64_t width, int64_t* index) {
    const T* x = static_cast<const T*>(raw);
    if (width == 1 && stride == 1) {
      *index = row(x, n);
      return;
    }
    A best[kScanColumns];
    int64_t at[kScanColumns];
    for (int64_t j = 0; j < width; ++j) {
      best[j] = widened<A>(x[j]);
      at[j] = 0;
    }
    for (int64_t i = 1; i < n; ++i) {
      const T* line = x + i * stride;
      for (int64_t j = 0; j < width; ++j) {
        const A value = widened<A>(line[j]);
        // A NaN held since the start gives way to the first number.
        const bool wins = better(value, best[j]) | ((best[j] != best[j]) & (value == value));
        best[j] = wins ? value : best[j];
        at[j] = wins ? i : at[j];
      }
    }
    for (int64_t j = 0; j < width; ++j) index[j] = at[j];
  }
};

template <class T, class A>
constexpr void put_arg(ScanTable& t, DType d) {
  t.arg_max[static_cast<int>(d)] = Arg<T, A, true>::run;
  t.arg_min[static_cast<int>(d)] = Arg<T, A, false>::run;
}

template <class T, class A>
constexpr void put_scan(ScanTable& t, DType d) {
  t.scan[static_cast<int>(ScanLoop::sum)][static_cast<int>(d)] = scan<T, A, Add<A>>;
  t.scan[static_cast<int>(ScanLoop::prod)][static_cast<int>(d)] = scan<T, A, Multiply<A>>;
}

template <class T>
constexpr void put_float(ScanTable& t, DType d) {
  put_scan<T, double>(t, d);
  t.scan[static_cast<int>(ScanLoop::logsumexp)][static_cast<int>(d)] = scan<T, double, LogAddExp>;
}

constexpr ScanTable make_table() {
  ScanTable t{};
  put_float<Half>(t, DType::float16);
  put_float<BFloat16>(t, DType::bfloat16);
  put_float<float>(t, DType::float32);
  put_float<double>(t, DType::float64);
  // Unsigned arithmetic wraps around; the sign makes no difference.
  for (const DType d : {DType::int8, DType::uint8}) put_scan<uint8_t, uint32_t>(t, d);
  for (const DType d : {DType::int16, DType::uint16}) put_scan<uint16_t, uint32_t>(t, d);
  for (const DType d : {DType::int32, DType::uint32}) put_scan<uint32_t, uint32_t>(t, d);
  for (const DType d : {DType::int64, DType::uint64}) put_scan<uint64_t, uint64_t>(t, d);
  constexpr int kProd = static_cast<int>(ScanLoop::prod);
  using Wide = ComplexOf<double>;
  t.scan[kProd][static_cast<int>(DType::complex64)] = scan<ComplexOf<float>, Wide, MultiplyComplex>;
  t.scan[kProd][static_cast<int>(DType::complex128)] =
      scan<ComplexOf<double>, Wide, MultiplyComplex>;
  put_arg<Half, float>(t, DType::float16);
  put_arg<BFloat16, float>(t, DType::bfloat16);
  put_arg<float, float>(t, DType::float32);
  put_arg<double, double>(t, DType::float64);
  put_arg<int8_t, int8_t>(t, DType::int8);
  put_arg<int16_t, int16_t>(t, DType::int16);
  put_arg<int32_t, int32_t>(t, DType::int32);
  put_arg<int64_t, int64_t>(t, DType::int64);
  put_arg<uint8_t, uint8_t>(t, DType::uint8);
  put_arg<uint8_t, uint8_t>(t, DType::bool_);
  put_arg<uint16_t, uint16_t>(t, DType::uint16);
  put_arg<uint32_t, uint32_t>(t, DType::uint32);
  put_arg<uint64_t, uint64_t>(t, DType::uint64);
  return t;
}

}  // namespace

extern constinit const ScanTable scan_table = make_table();

}  // namespace tidemark::cpu::TIDEMARK_ISA
