// Softmax and the cross entropies along lines. Elements are computed with as A and stored as T;
// sums of floats add up in double precision. W says who works on a line.

namespace tm {

constexpr int kLineThreads = 256;

template <class W, class T, class A>
A greatest_of(const void* x, const Lines& l, int64 first, void* lanes) {
  A most = Max<A>::start();
  for (int64 i = W::first(); i < l.n; i += W::step()) {
    most = larger(most, A(load(x, first + i * l.inner, T())));
  }
  return W::template all<Max<A>>(most, lanes);
}

template <class W, class T, class A>
A sum_of_exp(const void* x, const Lines& l, int64 first, A shift, void* lanes) {
  typename Sum<A>::Acc sum = 0;
  for (int64 i = W::first(); i < l.n; i += W::step()) {
    sum += math::exp(load(x, first + i * l.inner, T()) - shift);
  }
  return static_cast<A>(W::template all<Sum<A>>(sum, lanes));
}

struct softmax_arguments {
  const void* x;
  void* out;
  Lines lines;
};
template <class W, class T, class A, bool kLog>
void softmax(const softmax_arguments& a) {
  __shared__ double lanes[kLineThreads];
  W::for_each_line(a.lines.count, [&](int64 line) {
    const int64 first = a.lines.first_of(line);
    const A shift = greatest_of<W, T, A>(a.x, a.lines, first, lanes);
    const A sum = sum_of_exp<W, T, A>(a.x, a.lines, first, shift, lanes);
    const A last = kLog ? math::log(sum) : A(1) / sum;
    for (int64 i = W::first(); i < a.lines.n; i += W::step()) {
      const int64 at = first + i * a.lines.inner;
      const A x = load(a.x, at, T()) - shift;
      store(a.out, at, kLog ? x - last : math::exp(x) * last, T());
    }
  });
}

struct softmax_grad_arguments {
  const void *y, *dy;
  void* out;
  Lines lines;
};
template <class W, class T, class A, bool kLog>
void softmax_grad(const softmax_grad_arguments& a) {
  __shared__ double lanes[kLineThreads];
  W::for_each_line(a.lines.count, [&](int64 line) {
    const int64 first = a.lines.first_of(line);
    typename Sum<A>::Acc mine = 0;
    for (int64 i = W::first(); i < a.lines.n; i += W::step()) {
      const int64 at = first + i * a.lines.inner;
      const A g = load(a.dy, at, T());
      mine += kLog ? g : g * load(a.y, at, T());
    }
    const A sum = static_cast<A>(W::template all<Sum<A>>(mine, lanes));
    for (int64 i = W::first(); i < a.lines.n; i += W::step()) {
      const int64 at = first + i * a.lines.inner;
      const A g = load(a.dy, at, T()), y = load(a.y, at, T());
      store(a.out, at, kLog ? g - math::exp(y) * sum : (g - sum) * y, T());
    }
  });
}

// --- Cross entropies of rows: `labels` are numbers of classes, or weights of all
// ------------------

struct cross_entropy_arguments {
  const void *logits, *labels;
  void *loss, *log_sum;
  Lines lines;
  Fault fault;
};
template <class W, class T, class A>
double log_sum_of(const cross_entropy_arguments& a, int64 first, void* lanes) {
  const A shift = greatest_of<W, T, A>(a.logits, a.lines, first, lanes);
  const A sum = sum_of_exp<W, T, A>(a.logits, a.lines, first, shift, lanes);
  return a.lines.n == 0 ? static_cast<double>(Max<A>::start())
                        : static_cast<double>(shift) + static_cast<double>(math::log(sum));
}

template <class W, class T, class A, class I>
void sparse_cross_entropy(const cross_entropy_arguments& a) {
  __shared__ double lanes[kLineThreads];
  W::for_each_line(a.lines.count, [&](int64 row) {
    const double log_sum = log_sum_of<W, T, A>(a, row * a.lines.n, lanes);
    if (W::first() != 0) return;
    const int64 label = static_cast<const I*>(a.labels)[row];
    const bool is_class = is_index(label, a.lines.n);
    if (!is_class) report(a.fault, label, a.lines.n);
    const double right = is_class ? load(a.logits, row * a.lines.n + label, T()) : A(0);
    store(a.loss, row, static_cast<A>(log_sum - right), T());
    static_cast<A*>(a.log_sum)[row] = static_cast<A>(log_sum);
  });
}

template <class W, class T, class A>
void dense_cross_entropy(const cross_entropy_arguments& a) {
  __shared__ double lanes[kLineThreads];
  W::for_each_line(a.lines.count, [&](int64 row) {
    const int64 first = row * a.lines.n;
    const double log_sum = log_sum_of<W, T, A>(a, first, lanes);
    const A shift = static_cast<A>(log_sum);
    typename Sum<A>::Acc mine = 0;
    for (int64 i = W::first(); i < a.lines.n; i += W::step()) {
      mine += load(a.labels, first + i, T()) * (shift - load(a.logits, first + i, T()));
    }
    const A loss = static_cast<A>(W::template all<Sum<A>>(mine, lanes));
    if (W::first() != 0) return;
    store(a.loss, row, loss, T());
    static_cast<A*>(a.log_sum)[row] = shift;
  });
}

struct cross_entropy_grad_arguments {
  const void *logits, *labels, *log_sum, *dloss;
  void* out;
  Lines lines;
  Fault fault;
};
/// out[i] = f(x[i], i) for the elements of a row from `first` on, where `out` may be `x`. A thread
/// reads some before it writes them, so that it waits once for all.
template <class W, class T, class A, class F>
void map_row(const void* x, void* out, int64 first, int64 n, F f) {
  constexpr int kAtOnce = 4;
  for (int64 i = W::first(); i < n; i += kAtOnce * W::step()) {
    A taken[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const int64 at = i + k * W::step();
      taken[k] = at < n ? A(load(x, first + at, T())) : A(0);
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const int64 at = i + k * W::step();
      if (at < n) store(out, first + at, f(taken[k], at), T());
    }
  }
}
template <class W, class T, class A, class I>
void sparse_cross_entropy_grad(const cross_entropy_grad_arguments& a) {
  W::for_each_line(a.lines.count, [&](int64 row) {
    const int64 label = static_cast<const I*>(a.labels)[row];
    if (W::first() == 0 && !is_index(label, a.lines.n)) report(a.fault, label, a.lines.n);
    const A log_sum = static_cast<const A*>(a.log_sum)[row], slope = load(a.dloss, row, T());
    map_row<W, T, A>(a.logits, a.out, row * a.lines.n, a.lines.n, [&](A x, int64 column) {
      const A p = math::exp(x - log_sum);
      return (column == label ? p - A(1) : p) * slope;
    });
  });
}
template <class W, class T, class A>
void dense_cross_entropy_grad(const cross_entropy_grad_arguments& a) {
  W::for_each_line(a.lines.count, [&](int64 row) {
    const int64 first = row * a.lines.n;
    const A log_sum = static_cast<const A*>(a.log_sum)[row], slope = load(a.dloss, row, T());
    for (int64 i = first + W::first(); i < first + a.lines.n; i += W::step()) {
      const A p = math::exp(load(a.logits, i, T()) - log_sum);
      store(a.out, i, (p - load(a.labels, i, T())) * slope, T());
    }
  });
}

}  // namespace tm
