// qr, eigh and svd as on the CPU, the same steps in the same order: a block takes a matrix and its
// threads share rows or columns. For many matrices, or ones of some hundred rows.

namespace tm {

template <class T>
struct SumOfNumbers {
  typedef T Acc;
  static T join(T x, T y) { return Add::of(x, y); }
};
template <class R>
struct Epsilon {
  static constexpr R value = sizeof(R) == 4 ? R(1.1920929e-7) : R(2.220446049250313e-16);
  static constexpr R least = sizeof(R) == 4 ? R(1.17549435e-38) : R(2.2250738585072014e-308);
};
template <class R>
R imaginary(R) {
  return R(0);
}
template <class R>
R imaginary(Complex<R> x) {
  return x.im;
}
/// The square of an absolute value.
template <class R>
R norm_of(R x) {
  return x * x;
}
template <class R>
R norm_of(Complex<R> x) {
  return x.re * x.re + x.im * x.im;
}
template <class R>
R hypotenuse(R x, R y) {
  return length_of(Complex<R>{x, y});
}
template <class T>
bool is_finite_number(T x) {
  const auto size = Number<T>::real(x) + imaginary(x);
  return size - size == 0;
}

/// What all threads have, summed up, in each of them. `lanes`: 16 bytes a thread.
template <class T>
T summed(T mine, void* lanes) {
  return joined<SumOfNumbers<T>>(mine, lanes);
}
/// The sum of conj(x) * y over neighbours.
template <class T>
T inner_of(const T* x, const T* y, int64 n, void* lanes) {
  typedef Number<T> N;
  T mine = T();
  share(0, n, [&](int64 i) { mine = Add::of(mine, N::product(N::conjugate(x[i]), y[i])); });
  return summed(mine, lanes);
}
/// x - y * z.
template <class T>
T less_product(T x, T y, T z) {
  return Number<T>::difference(x, Number<T>::product(y, z));
}

// --- Reflections
// ----------------------------------------------------------------------------------

template <class T>
struct Reflection {
  T tau;
  typename Number<T>::Part beta;
};
/// H x = (beta, 0, …) for H = 1 - tau v v^H; v, whose first element is 1, takes the place of x.
/// Every thread gets the answer, and v is there for all.
template <class T>
Reflection<T> make_reflection(T* x, int64 stride, int64 n, void* lanes) {
  typedef Number<T> N;
  typedef typename N::Part R;
  R size = R(0);
  share(0, n, [&](int64 i) { size = larger(size, N::size(x[i * stride])); });
  const T first = x[0];
  const R largest = joined<Max<R>>(size, lanes);
  R mine = R(0);
  share(1, n, [&](int64 i) {
    if (largest > R(0)) mine += norm_of(N::quotient(x[i * stride], N::of(largest)));
  });
  const R rest = summed(mine, lanes);
  if (rest == R(0) && imaginary(first) == R(0)) {
    share(0, n, [&](int64 i) { x[i * stride] = N::of(i == 0 ? R(1) : R(0)); });
    __syncthreads();
    return {T(), N::real(first)};
  }
  const R length = largest * math::sqrt(norm_of(N::quotient(first, N::of(largest))) + rest);
  const R beta = N::real(first) >= R(0) ? -length : length;
  const T by = N::difference(first, N::of(beta));
  share(0, n,
        [&](int64 i) { x[i * stride] = i == 0 ? N::of(R(1)) : N::quotient(x[i * stride], by); });
  __syncthreads();
  return {N::conjugate(N::quotient(N::difference(N::of(beta), first), N::of(beta))), beta};
}
/// A column becomes column - tau v (v^H column), by one thread.
template <class T>
void reflect_column(T* column, int64 stride, const T* v, int64 v_stride, T tau, int64 n) {
  typedef Number<T> N;
  T sum = T();
  for (int64 i = 0; i < n; ++i) {
    sum = Add::of(sum, N::product(N::conjugate(v[i * v_stride]), column[i * stride]));
  }
  const T by = N::product(tau, sum);
  for (int64 i = 0; i < n; ++i) {
    column[i * stride] = less_product(column[i * stride], by, v[i * v_stride]);
  }
}

// --- qr
// -------------------------------------------------------------------------------------------

struct qr_arguments {
  const void* from;
  void *q, *r, *factors, *taus;
  int64 matrices, m, n, width;
};
template <class T>
void qr(const qr_arguments& args) {
  typedef Number<T> N;
  __shared__ double lanes[2 * 256];
  const int64 m = args.m, n = args.n, width = args.width, p = m < n ? m : n;
  for (int64 i = blockIdx.x; i < args.matrices; i += gridDim.x) {
    const T* from = static_cast<const T*>(args.from) + i * m * n;
    T* a = static_cast<T*>(args.factors) + i * m * n;
    T* taus = static_cast<T*>(args.taus) + i * p;
    T *q = static_cast<T*>(args.q) + i * m * width, *r = static_cast<T*>(args.r) + i * width * n;
    share(0, m * n, [&](int64 e) { a[e] = from[e]; });
    share(0, width * n, [&](int64 e) { r[e] = T(); });
    share(0, m * width, [&](int64 e) { q[e] = N::of(e / width == e % width ? 1 : 0); });
    __syncthreads();
    for (int64 j = 0; j < p; ++j) {
      T* v = a + j * n + j;
      const Reflection<T> h = make_reflection(v, n, m - j, lanes);
      share(j + 1, n, [&](int64 c) {
        reflect_column(a + j * n + c, n, v, n, h.tau, m - j);
        r[j * n + c] = a[j * n + c];
      });
      if (threadIdx.x == 0) {
        taus[j] = h.tau;
        r[j * n + j] = N::of(h.beta);
      }
      __syncthreads();
    }
    // A thread has the same columns all the time.
    for (int64 c = threadIdx.x; c < width; c += blockDim.x) {
      for (int64 j = c < p ? c : p - 1; j >= 0; --j) {
        reflect_column(q + j * width + c, width, a + j * n + j, n, N::conjugate(taus[j]), m - j);
      }
    }
    __syncthreads();
  }
}

// --- eigh: reflections make a matrix tridiagonal and real, implicit QL steps make it diagonal
// -----

/// One matrix, its elements column after column.
template <class T>
struct SelfAdjoint {
  typedef Number<T> N;
  typedef typename N::Part R;
  int64 n;
  T *a, *q, *taus, *w;  // q null: no vectors are wanted
  R *d, *e, *turns;     // diagonal, what is beside it, and of each turn cosine and sine
  void* lanes;

  void make_tridiagonal() const {
    for (int64 k = 0; k < n; ++k) {
      if (threadIdx.x == 0) {
        d[k] = N::real(a[k * n + k]);
        if (k + 1 == n) e[k] = R(0);
      }
      if (k + 1 == n) break;
      T* v = a + k * n + k + 1;
      const Reflection<T> h = make_reflection(v, 1, n - k - 1, lanes);
      if (threadIdx.x == 0) {
        taus[k] = h.tau;
        e[k] = h.beta;
      }
      if (N::size(h.tau) != R(0)) reflect_both_sides(v + n, v, h.tau, n - k - 1);
      __syncthreads();
    }
    __syncthreads();
  }
  /// A becomes H A H^H = A - v w^H - w v^H.
  void reflect_both_sides(T* block, const T* v, T tau, int64 size) const {
    share(0, size, [&](int64 j) {
      T sum = T();  // rows are columns, conjugated
      for (int64 i = 0; i < size; ++i) sum = Add::of(sum, N::product(block[i * n + j], v[i]));
      w[j] = sum;
    });
    __syncthreads();
    const R middle = N::real(inner_of(v, static_cast<const T*>(w), size, lanes)) * norm_of(tau) / 2;
    share(0, size, [&](int64 j) {
      w[j] = less_product(N::product(N::conjugate(tau), w[j]), N::of(middle), v[j]);
    });
    __syncthreads();
    share(0, size * size, [&](int64 at) {
      const int64 j = at / size, i = at % size;
      T& x = block[j * n + i];
      x = less_product(x, v[i], N::conjugate(w[j]));
      x = less_product(x, w[i], N::conjugate(v[j]));
    });
  }
  void make_q() const {
    share(0, n * n, [&](int64 i) { q[i] = N::of(i / n == i % n ? 1 : 0); });
    __syncthreads();
    for (int64 c = threadIdx.x; c < n; c += blockDim.x) {
      for (int64 k = (c < n - 1 ? c : n - 1) - 1; k >= 0; --k) {
        reflect_column(q + c * n + k + 1, 1, a + k * n + k + 1, 1, N::conjugate(taus[k]),
                       n - k - 1);
      }
    }
    __syncthreads();
  }

  int64 end_of_block(int64 first) const {
    int64 last = first;
    for (; last + 1 < n; ++last) {
      const R size = math::fabs(d[last]) + math::fabs(d[last + 1]);
      if (math::fabs(e[last]) <= Epsilon<R>::value * size) break;
    }
    return last;
  }
  /// One step upwards over rows [first, last], with Wilkinson's shift, by one thread; returns where
  /// the turns of columns end that belong to it.
  int64 ql_step(int64 first, int64 last) const {
    const R half = (d[first + 1] - d[first]) / (2 * e[first]);
    const R root = hypotenuse(half, R(1));
    R bulge = d[last] - d[first] + e[first] / (half + (half < R(0) ? -root : root));
    R s = 1, c = 1, shift = 0;
    for (int64 i = last; i-- > first;) {
      const R f = s * e[i], b = c * e[i];
      const R length = hypotenuse(f, bulge);
      e[i + 1] = length;
      if (length == R(0)) {  // the block falls apart here
        d[i + 1] -= shift;
        e[last] = R(0);
        return i + 1;
      }
      s = f / length;
      c = bulge / length;
      const R moved = d[i + 1] - shift, next = (d[i] - moved) * s + 2 * c * b;
      shift = s * next;
      d[i + 1] = moved + shift;
      bulge = c * next - b;
      turns[2 * i] = c;
      turns[2 * i + 1] = s;
    }
    d[first] -= shift;
    e[first] = bulge;
    e[last] = R(0);
    return first;
  }
  /// False if it does not converge.
  bool make_diagonal() const {
    constexpr int kMostSteps = 60;  // for one eigenvalue; two or three are usual
    __shared__ int64 range[2];      // of the turns
    for (int64 first = 0; first < n; ++first) {
      for (int step = 0;; ++step) {
        if (threadIdx.x == 0) {
          const int64 last = end_of_block(first);
          range[0] = range[1] = last;
          if (last > first && step < kMostSteps) range[0] = ql_step(first, last);
        }
        __syncthreads();
        const int64 low = range[0], last = range[1];
        if (last == first) break;
        if (step == kMostSteps) return false;
        share(0, q ? n : 0, [&](int64 r) {
          for (int64 i = last; i-- > low;) {
            const R c = turns[2 * i], s = turns[2 * i + 1];
            T &x = q[i * n + r], &y = q[(i + 1) * n + r];
            const T old = x;
            x = N::difference(N::product(N::of(c), old), N::product(N::of(s), y));
            y = Add::of(N::product(N::of(s), old), N::product(N::of(c), y));
          }
        });
        __syncthreads();
      }
      __syncthreads();
    }
    return true;
  }
};

struct eigh_arguments {
  const void* from;
  void *values, *vectors;  // vectors null: not wanted
  void *a, *q, *taus, *w, *d, *e, *turns;
  int64 matrices, n;
};
template <class T>
void eigh(const eigh_arguments& args) {
  typedef Number<T> N;
  typedef typename N::Part R;
  __shared__ double lanes[2 * 256];
  const int64 n = args.n;
  for (int64 m = blockIdx.x; m < args.matrices; m += gridDim.x) {
    const T* from = static_cast<const T*>(args.from) + m * n * n;
    const SelfAdjoint<T> work{n,
                              static_cast<T*>(args.a) + m * n * n,
                              args.vectors ? static_cast<T*>(args.q) + m * n * n : nullptr,
                              static_cast<T*>(args.taus) + m * n,
                              static_cast<T*>(args.w) + m * n,
                              static_cast<R*>(args.d) + m * n,
                              static_cast<R*>(args.e) + m * n,
                              static_cast<R*>(args.turns) + 2 * m * n,
                              lanes};
    int32 wrong = 0;
    share(0, n * n, [&](int64 at) {  // the lower triangle alone is read
      const int64 c = at / n, r = at % n;
      const T x = r >= c ? from[r * n + c] : N::conjugate(from[c * n + r]);
      wrong |= !is_finite_number(x);
      work.a[at] = r == c ? N::of(N::real(x)) : x;
    });
    bool is_right = joined<Max<int32>>(wrong, lanes) == 0;
    if (is_right) {
      work.make_tridiagonal();
      if (work.q) work.make_q();
      is_right = work.make_diagonal();
    }
    const R nan = static_cast<R>(from_bits(0x7fc00000u));
    share(0, n, [&](int64 j) {
      int64 rank = 0;
      for (int64 i = 0; is_right && i < n; ++i) {
        rank += work.d[i] < work.d[j] || (work.d[i] == work.d[j] && i < j);
      }
      static_cast<R*>(args.values)[m * n + (is_right ? rank : j)] = is_right ? work.d[j] : nan;
      if (!args.vectors) return;
      T* to = static_cast<T*>(args.vectors) + m * n * n + (is_right ? rank : j);
      for (int64 r = 0; r < n; ++r) to[r * n] = is_right ? work.q[j * n + r] : N::of(nan);
    });
    __syncthreads();
  }
}

// --- svd: columns are turned in pairs until all are orthogonal; then their lengths are the
// singular values

struct svd_arguments {
  const void* from;
  void *values, *u, *v;  // no vectors: u and v null
  void *a, *longer, *turned, *lengths, *order;
  int64 matrices, m, n, is_full;
};
/// Of two columns: the squares of their lengths and conj(x) * y.
template <class T>
struct PairProducts {
  typedef typename Number<T>::Part R;
  struct Acc {
    R xx, yy;
    T xy;
  };
  static Acc join(Acc a, Acc b) { return {a.xx + b.xx, a.yy + b.yy, Add::of(a.xy, b.xy)}; }
};

/// One problem of rows >= columns, columns of neighbours.
template <class T>
struct OneSided {
  typedef Number<T> N;
  typedef typename N::Part R;
  int64 rows, columns, width;  // width: columns of u that are wanted
  T *a, *u, *v;                // u and v null: not wanted
  R* lengths;
  int64* order;
  void* lanes;

  static void turn(T* p, T* q, int64 n, R c, T s) {
    share(0, n, [&](int64 i) {
      const T x = p[i], y = q[i];
      p[i] = less_product(N::product(N::of(c), x), N::conjugate(s), y);
      q[i] = Add::of(N::product(s, x), N::product(N::of(c), y));
    });
  }
  void orthogonalise() const {
    constexpr int kMostSweeps = 60;
    const R limit = Epsilon<R>::value * math::sqrt(R(rows));
    bool has_turned = true;
    for (int sweep = 0; sweep < kMostSweeps && has_turned; ++sweep) {
      has_turned = false;
      for (int64 p = 0; p < columns; ++p) {
        for (int64 q = p + 1; q < columns; ++q) {
          T *x = a + p * rows, *y = a + q * rows;
          typename PairProducts<T>::Acc mine{R(0), R(0), T()};
          share(0, rows, [&](int64 i) {
            mine = PairProducts<T>::join(
                mine, {norm_of(x[i]), norm_of(y[i]), N::product(N::conjugate(x[i]), y[i])});
          });
          const auto all = joined<PairProducts<T>>(mine, lanes);
          const R size = N::size(all.xy);
          if (!(size > limit * math::sqrt(all.xx) * math::sqrt(all.yy))) continue;
          has_turned = true;
          const R zeta = (all.yy - all.xx) / (2 * size);
          const R t =
              (zeta >= R(0) ? R(1) : R(-1)) / (math::fabs(zeta) + math::sqrt(R(1) + zeta * zeta));
          const R c = R(1) / math::sqrt(R(1) + t * t);
          const T s = N::product(N::quotient(all.xy, N::of(size)), N::of(c * t));
          turn(x, y, rows, c, s);
          if (v) turn(v + p * columns, v + q * columns, columns, c, s);
          __syncthreads();
        }
      }
    }
  }
  /// Lengths by number of the column, and the columns from the longest on.
  void find_lengths() const {
    for (int64 j = 0; j < columns; ++j) {
      const R squares = N::real(inner_of(a + j * rows, a + j * rows, rows, lanes));
      if (threadIdx.x == 0) lengths[j] = math::sqrt(squares);
    }
    __syncthreads();
    share(0, columns, [&](int64 j) {
      int64 rank = 0;
      for (int64 i = 0; i < columns; ++i) {
        rank += lengths[i] > lengths[j] || (lengths[i] == lengths[j] && i < j);
      }
      order[rank] = j;
    });
    __syncthreads();
  }
  void make_u() const {
    int64 known = 0;
    for (; known < columns && lengths[order[known]] > Epsilon<R>::least; ++known) {
      const T* from = a + order[known] * rows;
      const T length = N::of(lengths[order[known]]);
      share(0, rows, [&](int64 i) { u[known * rows + i] = N::quotient(from[i], length); });
    }
    __syncthreads();
    complete(known);
  }
  /// Makes the columns from `known` on unit vectors orthogonal to those before.
  void complete(int64 known) const {
    for (int64 axis = 0; known < width && axis < rows; ++axis) {
      T* column = u + known * rows;
      share(0, rows, [&](int64 i) { column[i] = N::of(i == axis ? R(1) : R(0)); });
      __syncthreads();
      for (int pass = 0; pass < 2; ++pass) {  // twice is enough
        for (int64 j = 0; j < known; ++j) {
          const T part = inner_of(u + j * rows, column, rows, lanes);
          share(0, rows,
                [&](int64 i) { column[i] = less_product(column[i], part, u[j * rows + i]); });
          __syncthreads();
        }
      }
      const R length = math::sqrt(N::real(inner_of(column, column, rows, lanes)));
      if (length < R(0.5) / math::sqrt(R(rows))) continue;
      share(0, rows, [&](int64 i) { column[i] = N::quotient(column[i], N::of(length)); });
      __syncthreads();
      ++known;
    }
  }
};

template <class T>
void svd(const svd_arguments& args) {
  typedef Number<T> N;
  typedef typename N::Part R;
  __shared__ double lanes[4 * 256];
  const int64 m = args.m, n = args.n;
  const bool is_tall = m >= n;
  const int64 longer = is_tall ? m : n, p = is_tall ? n : m, width = args.is_full ? longer : p;
  const R nan = static_cast<R>(from_bits(0x7fc00000u));
  for (int64 i = blockIdx.x; i < args.matrices; i += gridDim.x) {
    const T* from = static_cast<const T*>(args.from) + i * m * n;
    const OneSided<T> work{longer,
                           p,
                           width,
                           static_cast<T*>(args.a) + i * m * n,
                           args.u ? static_cast<T*>(args.longer) + i * longer * width : nullptr,
                           args.u ? static_cast<T*>(args.turned) + i * p * p : nullptr,
                           static_cast<R*>(args.lengths) + i * p,
                           static_cast<int64*>(args.order) + i * p,
                           lanes};
    int32 wrong = 0;
    share(0, m * n, [&](int64 at) {  // a wide matrix is worked on as its adjoint
      const int64 r = at / n, c = at % n;
      wrong |= !is_finite_number(from[at]);
      work.a[is_tall ? c * m + r : at] = is_tall ? from[at] : N::conjugate(from[at]);
    });
    if (work.v) {
      share(0, p * p, [&](int64 at) { work.v[at] = N::of(at / p == at % p ? 1 : 0); });
    }
    const bool is_right = joined<Max<int32>>(wrong, lanes) == 0;
    if (is_right) {
      work.orthogonalise();
      work.find_lengths();
      if (work.u) work.make_u();
    }
    share(0, p, [&](int64 j) {
      static_cast<R*>(args.values)[i * p + j] = is_right ? work.lengths[work.order[j]] : nan;
    });
    if (args.u) {
      T* longer_side = static_cast<T*>(is_tall ? args.u : args.v) + i * longer * width;
      T* shorter_side = static_cast<T*>(is_tall ? args.v : args.u) + i * p * p;
      share(0, longer * width, [&](int64 at) {
        longer_side[at] = is_right ? work.u[at % width * longer + at / width] : N::of(nan);
      });
      share(0, p * p, [&](int64 at) {
        shorter_side[at] = is_right ? work.v[work.order[at % p] * p + at / p] : N::of(nan);
      });
    }
    __syncthreads();
  }
}

}  // namespace tm
