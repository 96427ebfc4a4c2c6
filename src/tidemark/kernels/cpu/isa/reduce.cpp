// Loops of the reductions; compiled once per instruction-set level.

#include "tidemark/kernels/cpu/isa/reduce_loops.h"

#include "tidemark/kernels/cpu/isa/exp_lanes.h"

namespace tidemark::cpu::TIDEMARK_ISA {

namespace {

// Elements accumulated in lanes before they go into the wide accumulator: short enough that a
// float's rounding stays small, long enough that folding the lanes costs little.
constexpr int64_t kBlock = 4096;
constexpr int64_t kRowBlock = 64;

template <class T>
struct Same {
  using type = T;
};

/// Integers wrap around, which only unsigned arithmetic may.
template <class T>
struct Wrapping : Same<T> {};
template <>
struct Wrapping<int8_t> : Same<uint8_t> {};
template <>
struct Wrapping<int16_t> : Same<uint16_t> {};
template <>
struct Wrapping<int32_t> : Same<uint32_t> {};
template <>
struct Wrapping<int64_t> : Same<uint64_t> {};
template <>
struct Wrapping<Half> : Same<float> {};
template <>
struct Wrapping<BFloat16> : Same<float> {};

template <class T>
struct Ordered : Same<T> {};
template <>
struct Ordered<Half> : Same<float> {};
template <>
struct Ordered<BFloat16> : Same<float> {};

template <class T>
struct WideOf : Same<T> {};
template <>
struct WideOf<float> : Same<double> {};

template <class T>
constexpr bool kIsReal = __is_same(T, float) || __is_same(T, double);

/// The least (or, negated, greatest) value of a type.
template <class A>
constexpr A lowest() {
  if constexpr (kIsReal<A>) {
    return static_cast<A>(-__builtin_inf());
  } else if constexpr (static_cast<A>(-1) > A{0}) {
    return A{0};
  } else {
    return static_cast<A>(A{1} << (sizeof(A) * 8 - 1));
  }
}
template <class A>
constexpr A highest() {
  if constexpr (kIsReal<A>) {
    return static_cast<A>(__builtin_inf());
  } else {
    return static_cast<A>(~lowest<A>());
  }
}

// Each step says: T storage, A lane, W wide accumulator; start(); take(acc, x, param), which lets
// an element in; join, which joins two accumulators.

template <class T_, class A_>
struct Adding {
  using T = T_;
  using A = A_;
  using W = typename WideOf<A>::type;
  static constexpr bool kHasParam = false;
  static constexpr A start() { return A{}; }
  [[gnu::always_inline]] static Vec<A> join(Vec<A> a, Vec<A> b) { return a + b; }
  [[gnu::always_inline]] static A join_lanes(A a, A b) { return static_cast<A>(a + b); }
  [[gnu::always_inline]] static W join_wide(W a, A b) { return static_cast<W>(a + b); }
};

template <class T>
struct Sum : Adding<T, typename Wrapping<T>::type> {
  using A = typename Wrapping<T>::type;
  [[gnu::always_inline]] static Vec<A> take(Vec<A> acc, Vec<A> x, Vec<A>) { return acc + x; }
};

template <class T>
struct WideSum : Adding<T, uint64_t> {
  using A = uint64_t;
  [[gnu::always_inline]] static Vec<A> take(Vec<A> acc, Vec<A> x, Vec<A>) { return acc + x; }
};

template <class T>
struct SumSquares : Adding<T, typename Wrapping<T>::type> {
  using A = typename Wrapping<T>::type;
  [[gnu::always_inline]] static Vec<A> take(Vec<A> acc, Vec<A> x, Vec<A>) { return acc + x * x; }
};

template <class T>
struct SumSquareDeviations : Adding<T, typename Wrapping<T>::type> {
  using A = typename Wrapping<T>::type;
  static constexpr bool kHasParam = true;
  [[gnu::always_inline]] static Vec<A> take(Vec<A> acc, Vec<A> x, Vec<A> mean) {
    return acc + (x - mean) * (x - mean);
  }
};

template <class T>
struct SumExp : Adding<T, typename Wrapping<T>::type> {
  using A = typename Wrapping<T>::type;
  static constexpr bool kHasParam = true;
  [[gnu::always_inline]] static Vec<A> take(Vec<A> acc, Vec<A> x, Vec<A> highest) {
    return acc + exp_lanes(x - highest);
  }
};

template <class T_>
struct Prod {
  using T = T_;
  using A = typename Wrapping<T>::type;
  using W = typename WideOf<A>::type;
  static constexpr bool kHasParam = false;
  static constexpr A start() { return A{1}; }
  [[gnu::always_inline]] static Vec<A> take(Vec<A> acc, Vec<A> x, Vec<A>) { return acc * x; }
  [[gnu::always_inline]] static Vec<A> join(Vec<A> a, Vec<A> b) { return a * b; }
  // Narrow integers become int, whose products may overflow: they wrap as unsigned.
  [[gnu::always_inline]] static A join_lanes(A a, A b) { return static_cast<A>(1u * a * b); }
  [[gnu::always_inline]] static W join_wide(W a, A b) { return static_cast<W>(1u * a * b); }
};

/// NaN wins and stays, as in TensorFlow.
template <class T_, bool kMax>
struct Extreme {
  using T = T_;
  using A = typename Ordered<T>::type;
  using W = A;
  static constexpr bool kHasParam = false;
  static constexpr A start() { return kMax ? lowest<A>() : highest<A>(); }
  [[gnu::always_inline]] static Vec<A> join(Vec<A> a, Vec<A> b) {
    auto better = kMax ? b > a : b < a;
    if constexpr (kIsReal<A>) better |= b != b;
    return better ? b : a;
  }
  [[gnu::always_inline]] static Vec<A> take(Vec<A> acc, Vec<A> x, Vec<A>) { return join(acc, x); }
  [[gnu::always_inline]] static A join_lanes(A a, A b) {
    return (kMax ? b > a : b < a) || b != b ? b : a;
  }
  [[gnu::always_inline]] static W join_wide(W a, A b) { return join_lanes(a, b); }
};
template <class T>
using Max = Extreme<T, true>;
template <class T>
using Min = Extreme<T, false>;

template <class Step>
struct Loops {
  using T = typename Step::T;
  using A = typename Step::A;
  using W = typename Step::W;
  using V = Vec<A>;
  static constexpr int64_t kLane = kLanes<A>;

  using Lanes = Wide<A>;
  static constexpr int64_t kWide = kWideLanes<A>;

  [[gnu::always_inline]] static A fold(const Lanes& wide) {
    alignas(64) A lanes[kWide];
    __builtin_memcpy(lanes, &wide, sizeof(wide));
    for (int64_t half = kWide / 2; half > 0; half /= 2) {
      for (int64_t l = 0; l < half; ++l) lanes[l] = Step::join_lanes(lanes[l], lanes[l + half]);
    }
    return lanes[0];
  }

  [[gnu::always_inline]] static Lanes join(const Lanes& a, const Lanes& b) {
    Lanes joined;
#pragma GCC unroll 4
    for (int p = 0; p < kParts; ++p) joined.part[p] = Step::join(a.part[p], b.part[p]);
    return joined;
  }

  /// Up to kBlock elements into lanes: eight chains hide the latency of the additions. Where a
  /// chain takes several vectors of this level, eight of these at a time stay in registers, and
  /// the elements, which are few, are gone through again for the next.
  [[gnu::noinline]] static Lanes block(const T* x, int64_t n, V param) {
    Lanes chains[8];
    V* const all = chains[0].part;
    const int64_t whole = n / (8 * kWide) * (8 * kWide);
#pragma GCC unroll 1
    for (int first = 0; first < 8 * kParts; first += 8) {
      V a[8];
      for (V& lane : a) lane = broadcast(Step::start());
      for (int64_t i = first * kLane; i < whole; i += 8 * kWide) {
#pragma GCC unroll 8
        for (int k = 0; k < 8; ++k) a[k] = Step::take(a[k], load<A>(x + i + k * kLane), param);
      }
#pragma GCC unroll 8
      for (int k = 0; k < 8; ++k) all[first + k] = a[k];
    }
    int64_t i = whole;
    for (; i + kWide <= n; i += kWide) {
#pragma GCC unroll 4
      for (int p = 0; p < kParts; ++p) {
        V& lane = chains[0].part[p];
        lane = Step::take(lane, load<A>(x + i + p * kLane), param);
      }
    }
    for_parts<A>(
        n - i, [&](int64_t j, int64_t count, int p) __attribute__((always_inline)) {
          V& lane = chains[1].part[p];
          const V taken = Step::take(lane, load_part<A>(x + i + j, count), param);
          lane = lanes_below<A>(count) ? taken : lane;
        });
#pragma GCC unroll 8
    for (int k = 0; k < 4; ++k) chains[k] = join(chains[k], chains[k + 4]);
    return join(join(chains[0], chains[1]), join(chains[2], chains[3]));
  }

  static W long_row(const T* x, int64_t n, V param) {
    alignas(64) W wide[kWide];
    for (W& lane : wide) lane = Step::start();
    for (int64_t i = 0; i < n; i += kBlock) {
      alignas(64) A lanes[kWide];
      const Lanes v = block(x + i, n - i < kBlock ? n - i : kBlock, param);
      __builtin_memcpy(lanes, &v, sizeof(v));
      for (int64_t l = 0; l < kWide; ++l) wide[l] = Step::join_wide(wide[l], lanes[l]);
    }
    for (int64_t half = kWide / 2; half > 0; half /= 2) {
      for (int64_t l = 0; l < half; ++l) wide[l] = join_wide_pair(wide[l], wide[l + half]);
    }
    return wide[0];
  }

  /// Rows of few elements: a lane a row.
  [[gnu::noinline]] static void short_rows(const T* x, int64_t rows, int64_t stride, int64_t n,
                                           const A* params, W* acc) {
    for (int64_t r = 0; r < rows; r += kLane) {
      const int64_t count = rows - r < kLane ? rows - r : kLane;
      const V param = Step::kHasParam ? load_part<A>(params + r, count) : V{};
      V a = broadcast(Step::start());
      for (int64_t j = 0; j < n; ++j) {
        a = Step::take(a, load_strided<A>(x + r * stride + j, stride, count), param);
      }
      for (int64_t l = 0; l < count; ++l) acc[r + l] = Step::join_wide(acc[r + l], a[l]);
    }
  }

  static void rows(const void* raw, int64_t rows, int64_t stride, int64_t n, const void* raw_params,
                   void* raw_acc) {
    const T* x = static_cast<const T*>(raw);
    const A* params = static_cast<const A*>(raw_params);
    W* acc = static_cast<W*>(raw_acc);
    if (rows > 1 && n <= 2 * kWide && n <= 32) return short_rows(x, rows, stride, n, params, acc);
    for (int64_t r = 0; r < rows; ++r) {
      const V param = Step::kHasParam ? broadcast(params[r]) : V{};
      const T* row = x + r * stride;
      acc[r] = n <= kBlock ? Step::join_wide(acc[r], fold(block(row, n, param)))
                           : join_wide_pair(acc[r], long_row(row, n, param));
    }
  }

  /// Takes a few rows into the lane accumulators of all columns.
  template <int kRows>
  [[gnu::always_inline]] static void take_rows(const T* x, int64_t stride, int64_t width,
                                               const A* params, A* lanes) {
    int64_t j = 0;
    for (; j + kLane <= width; j += kLane) {
      V a = load<A>(lanes + j);
      const V param = Step::kHasParam ? load<A>(params + j) : V{};
      for (int r = 0; r < kRows; ++r) a = Step::take(a, load<A>(x + r * stride + j), param);
      __builtin_memcpy(lanes + j, &a, sizeof(a));
    }
    if (j == width) return;
    V a = load<A>(lanes + j);
    const V param = Step::kHasParam ? load<A>(params + j) : V{};
#pragma GCC unroll 1
    for (int r = 0; r < kRows; ++r) {
      a = Step::take(a, load_part<A>(x + r * stride + j, width - j), param);
    }
    __builtin_memcpy(lanes + j, &a, sizeof(a));
  }

  /// `params`, where there are any, are readable up to a whole vector.
  [[gnu::noinline]] static void wide_columns(const T* x, int64_t rows, int64_t stride,
                                             int64_t width, const A* params, W* acc) {
    alignas(64) A lanes[kMaxColumns + kLane];
    for (int64_t begin = 0; begin < rows; begin += kRowBlock) {
      const int64_t end = rows - begin < kRowBlock ? rows : begin + kRowBlock;
      for (int64_t j = 0; j < width + kLane; ++j) lanes[j] = Step::start();
      int64_t r = begin;
      for (; r + 8 <= end; r += 8) take_rows<8>(x + r * stride, stride, width, params, lanes);
      for (; r < end; ++r) take_rows<1>(x + r * stride, stride, width, params, lanes);
      for (int64_t j = 0; j < width; ++j) acc[j] = Step::join_wide(acc[j], lanes[j]);
    }
  }

  static void columns(const void* raw, int64_t rows, int64_t stride, int64_t width,
                      const void* raw_params, void* raw_acc) {
    const T* x = static_cast<const T*>(raw);
    W* acc = static_cast<W*>(raw_acc);
    alignas(64) A params[Step::kHasParam ? kMaxColumns + kLane : 1];
    // Dense narrow rows are taken several at a time as one wide row.
    const bool narrow = stride == width && width < 4 * kWide && rows > 1;
    const int64_t together = narrow ? kMaxColumns / 2 / width : 1;
    if constexpr (Step::kHasParam) {
      const A* given = static_cast<const A*>(raw_params);
      for (int64_t j = 0; j < together * width; ++j) params[j] = given[j % width];
      for (int64_t j = 0; j < kLane; ++j) params[together * width + j] = A{};
    }
    int64_t done = 0;
    if (together > 1 && rows >= together) {
      W groups[kMaxColumns / 2];
      for (int64_t j = 0; j < together * width; ++j) groups[j] = Step::start();
      wide_columns(x, rows / together, together * width, together * width, params, groups);
      for (int64_t j = 0; j < together * width; ++j) {
        acc[j % width] = join_wide_pair(acc[j % width], groups[j]);
      }
      done = rows / together * together;
    }
    if (done < rows) wide_columns(x + done * stride, rows - done, stride, width, params, acc);
  }

  [[gnu::always_inline]] static W join_wide_pair(W a, W b) {
    if constexpr (__is_same(W, A)) {
      return Step::join_wide(a, b);
    } else if constexpr (__is_same(Step, Prod<T>)) {
      return a * b;
    } else {
      return a + b;
    }
  }

  static constexpr ReduceLoopPair pair() { return {rows, columns}; }
};

template <template <class> class Step, class... T>
constexpr void put(ReduceLoops& table, ReduceLoop loop) {
  ((table.pairs[static_cast<int>(loop)][static_cast<int>(dtype_of<T>())] = Loops<Step<T>>::pair()),
   ...);
}

template <template <class> class Step>
constexpr void put_floats(ReduceLoops& table, ReduceLoop loop) {
  put<Step, Half, BFloat16, float, double>(table, loop);
}
/// Where the sign makes no difference both share one loop.
template <template <class> class Step>
constexpr void put_wrapping(ReduceLoops& table, ReduceLoop loop) {
  put<Step, uint8_t, uint16_t, uint32_t, uint64_t>(table, loop);
  ReduceLoopPair* pairs = table.pairs[static_cast<int>(loop)];
  pairs[static_cast<int>(DType::int8)] = pairs[static_cast<int>(DType::uint8)];
  pairs[static_cast<int>(DType::int16)] = pairs[static_cast<int>(DType::uint16)];
  pairs[static_cast<int>(DType::int32)] = pairs[static_cast<int>(DType::uint32)];
  pairs[static_cast<int>(DType::int64)] = pairs[static_cast<int>(DType::uint64)];
}
template <template <class> class Step>
constexpr void put_ints(ReduceLoops& table, ReduceLoop loop) {
  put<Step, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(table, loop);
}

constexpr ReduceLoops make_table() {
  ReduceLoops t{};
  put_floats<Sum>(t, ReduceLoop::sum);
  put_wrapping<Sum>(t, ReduceLoop::sum);
  put_ints<WideSum>(t, ReduceLoop::wide_sum);
  put_floats<Prod>(t, ReduceLoop::prod);
  put_wrapping<Prod>(t, ReduceLoop::prod);
  put_floats<Min>(t, ReduceLoop::min);
  put_ints<Min>(t, ReduceLoop::min);
  put_floats<Max>(t, ReduceLoop::max);
  put_ints<Max>(t, ReduceLoop::max);
  put_floats<SumSquares>(t, ReduceLoop::sum_squares);
  put_wrapping<SumSquares>(t, ReduceLoop::sum_squares);
  put_floats<SumExp>(t, ReduceLoop::sum_exp);
  put_floats<SumSquareDeviations>(t, ReduceLoop::sum_square_deviations);
  return t;
}

}  // namespace

extern constinit const ReduceLoops reduce_table = make_table();

}  // namespace tidemark::cpu::TIDEMARK_ISA
