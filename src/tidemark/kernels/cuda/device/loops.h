// What kernels of all families are made of: threads that take elements in turn, faults that the
// host is told of, how two elements become one.

namespace tm {

/// Calls f(i) for each i in [0, count), a thread each in turn.
template <class F>
void for_each(int64 count, F f) {
  const int64 step = static_cast<int64>(gridDim.x) * blockDim.x;
  for (int64 i = blockIdx.x * static_cast<int64>(blockDim.x) + threadIdx.x; i < count; i += step) {
    f(i);
  }
}

// --- What is wrong with values, told to the host (kernels/cuda/faults.h)
// --------------------------

struct Found {
  uint64 code;
  int64 value, limit;
};
struct Fault {
  Found* found;
  uint64 code;
};

/// The first one stays.
inline void report(const Fault& fault, int64 value, int64 limit) {
  if (atomicCAS(&fault.found->code, 0ull, fault.code) != 0) return;
  fault.found->value = value;
  fault.found->limit = limit;
}
inline bool is_index(int64 i, int64 limit) {
  return static_cast<uint64>(i) < static_cast<uint64>(limit);
}

struct check_arguments {
  const void* values;
  int64 count;
  Fault fault;
};
template <class T>
void check_no_zero(const check_arguments& a) {
  for_each(a.count, [&](int64 i) {
    if (static_cast<const T*>(a.values)[i] == T(0)) report(a.fault, 0, 0);
  });
}
template <class T>
void check_none_negative(const check_arguments& a) {
  for_each(a.count, [&](int64 i) {
    const T value = static_cast<const T*>(a.values)[i];
    if (value < T(0)) report(a.fault, static_cast<int64>(value), 0);
  });
}
// --- How two elements become one; half types are rounded each time, as on the CPU
// ----------------

struct Add {
  template <class T>
  static T of(T x, T y) {
    return static_cast<T>(Wrap<T>(x) + Wrap<T>(y));
  }
  static bool of(bool x, bool y) { return x || y; }
  template <class R>
  static Complex<R> of(Complex<R> x, Complex<R> y) {
    return {x.re + y.re, x.im + y.im};
  }
};
struct Subtract {
  template <class T>
  static T of(T x, T y) {
    return static_cast<T>(Wrap<T>(x) - Wrap<T>(y));
  }
  template <class R>
  static Complex<R> of(Complex<R> x, Complex<R> y) {
    return {x.re - y.re, x.im - y.im};
  }
};
struct Multiply {
  template <class T>
  static T of(T x, T y) {
    return static_cast<T>(Wrap<T>(x) * Wrap<T>(y));
  }
  template <class R>
  static Complex<R> of(Complex<R> x, Complex<R> y) {
    return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
  }
};
struct Smaller {
  template <class T>
  static T of(T x, T y) {
    return y < x || y != y ? y : x;
  }
};
struct Larger {
  template <class T>
  static T of(T x, T y) {
    return y > x || y != y ? y : x;
  }
};

/// As elements of a stored type are computed with, and stored again.
template <class T>
T again(T x, T) {
  return x;
}
inline float again(float x, Half) { return rounded<Half>(x); }
inline float again(float x, BFloat16) { return rounded<BFloat16>(x); }

// --- Threads of a block, and elements that are all the same
// ---------------------------------------

/// The sum of what the threads before this one have; every thread calls it. `lanes`: two a thread.
template <class N>
N sum_before(N mine, N* lanes) {
  N *from = lanes, *to = lanes + blockDim.x;
  from[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned int step = 1; step < blockDim.x; step *= 2) {
    to[threadIdx.x] = from[threadIdx.x] + (threadIdx.x >= step ? from[threadIdx.x - step] : N(0));
    __syncthreads();
    N* last = from;
    from = to;
    to = last;
  }
  const N before = threadIdx.x > 0 ? from[threadIdx.x - 1] : N(0);
  __syncthreads();
  return before;
}

/// Of each thread what those before it have, joined in their order; every thread calls it. `lanes`:
/// two a thread.
template <class Op, class Acc>
Acc joined_before(Acc mine, Acc* lanes) {
  Acc *from = lanes, *to = lanes + blockDim.x;
  from[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned int step = 1; step < blockDim.x; step *= 2) {
    const Acc own = from[threadIdx.x];
    to[threadIdx.x] = threadIdx.x >= step ? Op::join(from[threadIdx.x - step], own) : own;
    __syncthreads();
    Acc* last = from;
    from = to;
    to = last;
  }
  const Acc before = threadIdx.x > 0 ? from[threadIdx.x - 1] : Op::start();
  __syncthreads();
  return before;
}

// --- Lines along an axis of [outer, n, inner], and who works on one
// -------------------------------

struct Lines {
  int64 count, n, inner;
  /// The first element of a line; the others follow `inner` apart.
  int64 first_of(int64 line) const { return line / inner * n * inner + line % inner; }
};
/// Short lines, and lines side by side, have a thread each.
struct OneThread {
  template <class F>
  static void for_each_line(int64 lines, F f) {
    for_each(lines, f);
  }
  static int64 first() { return 0; }
  static int64 step() { return 1; }
  template <class R>
  static typename R::Acc all(typename R::Acc mine, void*) {
    return mine;
  }
};
/// The others have a block each.
struct WholeBlock {
  template <class F>
  static void for_each_line(int64 lines, F f) {
    for (int64 line = blockIdx.x; line < lines; line += gridDim.x) f(line);
  }
  static int64 first() { return threadIdx.x; }
  static int64 step() { return blockDim.x; }
  /// What all threads have, joined.
  template <class R>
  static typename R::Acc all(typename R::Acc mine, void* lanes) {
    return joined<R>(mine, lanes);
  }
};

struct fill_arguments {
  void* out;
  int64 count;
  uint64 low, high;  // the bits of an element
};
template <class T>
void fill_bits(const fill_arguments& a) {
  union {
    uint64 words[2];
    T value;
  } bits;
  bits.words[0] = a.low;
  bits.words[1] = a.high;
  const T value = bits.value;
  for_each(a.count, [&](int64 i) { static_cast<T*>(a.out)[i] = value; });
}

}  // namespace tm
