// Running sums, products and logarithms of sums along lines, and the places of extremes. As on the
// CPU what runs along is kept in double precision, or in 64 bits.

namespace tm {

template <class T>
struct RunningSum {
  static T start() { return 0; }
  static T join(T x, T y) { return static_cast<T>(Wrap<T>(x) + Wrap<T>(y)); }
};
template <class T>
struct RunningProduct {
  static T start() { return 1; }
  static T join(T x, T y) { return static_cast<T>(Wrap<T>(x) * Wrap<T>(y)); }
};
/// log(exp(x) + exp(y)), right for infinities and NaN.
template <class T>
struct RunningLogSum {
  static double start() { return Max<double>::start(); }
  static double join(double x, double y) {
    const bool is_first = x > y || x != x;
    const double high = is_first ? x : y, low = is_first ? y : x;
    if (high - high != 0 && high == high) return high;  // infinite
    return high + math::log1p(math::exp(low - high));
  }
};

struct scan_arguments {
  const void* x;
  void* out;
  Lines lines;
  int64 exclusive, reverse;
};
/// Each thread takes neighbours; what those before have comes first.
template <class W, class T, class Acc, class Op>
void scan(const scan_arguments& a) {
  __shared__ Acc lanes[2 * 256];
  W::for_each_line(a.lines.count, [&](int64 line) {
    const int64 n = a.lines.n, workers = W::step();
    const int64 begin = n * W::first() / workers, end = n * (W::first() + 1) / workers;
    const int64 first = a.lines.first_of(line);
    const auto place = [&](int64 i) { return first + (a.reverse ? n - 1 - i : i) * a.lines.inner; };
    Acc running = Op::start();
    if (workers > 1) {
      for (int64 i = begin; i < end; ++i) {
        running = Op::join(running, static_cast<Acc>(load(a.x, place(i), T())));
      }
      running = joined_before<Op>(running, lanes);
    }
    for (int64 i = begin; i < end; ++i) {
      const int64 at = place(i);
      const Acc next = Op::join(running, static_cast<Acc>(load(a.x, at, T())));
      const Acc result = a.exclusive ? running : next;
      store(a.out, at, static_cast<decltype(load(a.x, at, T()))>(result), T());
      running = next;
    }
  });
}

// --- Where the greatest or least element is; NaN never wins unless there is nothing else
// ----------

template <class A>
struct Candidate {
  A value;
  int64 index;  // -1: none
};
template <class A_, bool kMax>
struct Winner {
  typedef Candidate<A_> Acc;
  static Acc start() { return {A_(0), -1}; }
  static Acc join(Acc x, Acc y) {
    if (x.index < 0) return y;
    if (y.index < 0) return x;
    if (x.value == y.value) return x.index < y.index ? x : y;
    return (kMax ? x.value > y.value : x.value < y.value) ? x : y;
  }
};
struct arg_arguments {
  const void* x;
  void* out;
  Lines lines;
};
template <class W, class T, class A, class I, bool kMax>
void arg(const arg_arguments& a) {
  __shared__ Candidate<A> lanes[256];
  typedef Winner<A, kMax> R;
  W::for_each_line(a.lines.count, [&](int64 line) {
    const int64 first = a.lines.first_of(line);
    typename R::Acc mine = R::start();
    for (int64 i = W::first(); i < a.lines.n; i += W::step()) {
      const A value = load(a.x, first + i * a.lines.inner, T());
      if (value == value) mine = R::join(mine, {value, i});
    }
    const typename R::Acc found = W::template all<R>(mine, lanes);
    if (W::first() != 0) return;
    static_cast<I*>(a.out)[line] = static_cast<I>(found.index < 0 ? 0 : found.index);
  });
}

/// Whether fewer than k of a row are larger than the target's; rows with a number that is not
/// finite cannot be ranked.
struct in_top_k_arguments {
  const void *targets, *predictions;
  void* out;
  int64 rows, columns, k;
};
template <class I>
void in_top_k(const in_top_k_arguments& a) {
  for_each(a.rows, [&](int64 row) {
    const float* line = static_cast<const float*>(a.predictions) + row * a.columns;
    const int64 target = static_cast<const I*>(a.targets)[row];
    bool is_in = is_index(target, a.columns);
    int64 larger = 0;
    for (int64 i = 0; is_in && i < a.columns; ++i) {
      is_in = line[i] - line[i] == 0;
      larger += line[i] > line[target];
    }
    static_cast<bool*>(a.out)[row] = is_in && larger < a.k;
  });
}

}  // namespace tm
