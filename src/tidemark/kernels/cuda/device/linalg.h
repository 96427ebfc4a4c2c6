// Linear algebra: a block takes a matrix, [n, n] row after row, and its threads share the elements.
// For many matrices, or ones of some hundred rows; the order of all sums is fixed.

namespace tm {

// --- Numbers that may be complex
// ------------------------------------------------------------------

template <class T>
struct Number {
  typedef T Part;
  static T product(T x, T y) { return x * y; }
  static T difference(T x, T y) { return x - y; }
  static T quotient(T x, T y) { return x / y; }
  static T conjugate(T x) { return x; }
  static T real(T x) { return x; }
  static T of(T x) { return x; }
  static T size(T x) { return math::fabs(x); }
};
template <class R>
struct Number<Complex<R>> {
  typedef R Part;
  typedef Complex<R> T;
  static T product(T x, T y) { return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }
  static T difference(T x, T y) { return {x.re - y.re, x.im - y.im}; }
  static T quotient(T x, T y) { return quotient_of(x, y); }
  static T conjugate(T x) { return {x.re, -x.im}; }
  static R real(T x) { return x.re; }
  static T of(R x) { return {x, R(0)}; }
  static R size(T x) { return length_of(x); }
};

/// Calls f(i) for each i in [first, last), in turn by the threads of the block.
template <class F>
void share(int64 first, int64 last, F f) {
  for (int64 i = first + threadIdx.x; i < last; i += blockDim.x) f(i);
}

// --- Cholesky
// -------------------------------------------------------------------------------------

struct cholesky_arguments {
  const void* from;
  void* to;
  int64 matrices, n;
  Fault fault;
};
template <class T>
void cholesky(const cholesky_arguments& a) {
  typedef Number<T> N;
  typedef typename N::Part R;
  for (int64 m = blockIdx.x; m < a.matrices; m += gridDim.x) {
    const T* from = static_cast<const T*>(a.from) + m * a.n * a.n;
    T* l = static_cast<T*>(a.to) + m * a.n * a.n;
    share(0, a.n * a.n, [&](int64 i) { l[i] = i % a.n <= i / a.n ? from[i] : T(); });
    __syncthreads();
    for (int64 c = 0; c < a.n; ++c) {
      const R pivot = N::real(l[c * a.n + c]);
      if (threadIdx.x == 0 && !(pivot > R(0))) report(a.fault, m, 0);
      const R root = math::sqrt(pivot);
      __syncthreads();
      share(c, a.n, [&](int64 r) {
        T& x = l[r * a.n + c];
        x = r == c ? N::of(root) : N::quotient(x, N::of(root));
      });
      __syncthreads();
      const int64 left = a.n - c - 1;
      share(0, left * left, [&](int64 i) {
        const int64 row = c + 1 + i / left, column = c + 1 + i % left;
        if (column > row) return;
        T& x = l[row * a.n + column];
        x = N::difference(x, N::product(l[row * a.n + c], N::conjugate(l[column * a.n + c])));
      });
      __syncthreads();
    }
  }
}

// --- LU with the largest pivot of each column
// -----------------------------------------------------

/// A row and how large its element is; of equals the first row.
template <class R>
struct Largest {
  struct Acc {
    R size;
    int64 row;
  };
  static Acc join(Acc a, Acc b) {
    const bool is_b = b.size > a.size || (b.size == a.size && b.row < a.row);
    return is_b ? b : a;
  }
};

/// Factors w in place and puts into `order` which row of the matrix each row is; returns how often
/// two rows were swapped. `lanes`: one a thread.
template <class T>
int64 factor_lu(T* w, int64* order, int64 n, void* lanes) {
  typedef Number<T> N;
  typedef typename N::Part R;
  int64 swaps = 0;
  share(0, n, [&](int64 i) { order[i] = i; });
  __syncthreads();
  for (int64 c = 0; c < n; ++c) {
    typename Largest<R>::Acc mine = {R(-1), c};
    share(c, n, [&](int64 r) {
      mine = Largest<R>::join(mine, typename Largest<R>::Acc{N::size(w[r * n + c]), r});
    });
    const auto pivot = joined<Largest<R>>(mine, lanes);
    if (pivot.row != c) {
      ++swaps;
      share(0, n, [&](int64 j) {
        const T x = w[c * n + j];
        w[c * n + j] = w[pivot.row * n + j];
        w[pivot.row * n + j] = x;
      });
      if (threadIdx.x == 0) {
        const int64 x = order[c];
        order[c] = order[pivot.row];
        order[pivot.row] = x;
      }
      __syncthreads();
    }
    const T top = w[c * n + c];
    if (pivot.size != R(0)) {
      share(c + 1, n, [&](int64 r) { w[r * n + c] = N::quotient(w[r * n + c], top); });
    }
    __syncthreads();
    const int64 left = n - c - 1;
    share(0, left * left, [&](int64 i) {
      const int64 row = c + 1 + i / left, column = c + 1 + i % left;
      T& x = w[row * n + column];
      x = N::difference(x, N::product(w[row * n + c], w[c * n + column]));
    });
    __syncthreads();
  }
  return swaps;
}

/// The matrix, or its adjoint, where it is factored.
template <class T>
void copy_matrix(const T* from, T* to, int64 n, bool is_adjoint) {
  share(0, n * n, [&](int64 i) {
    to[i] = is_adjoint ? Number<T>::conjugate(from[i % n * n + i / n]) : from[i];
  });
  __syncthreads();
}

template <class T>
bool is_singular(const T* w, int64 n) {
  bool has_zero = false;
  for (int64 i = 0; i < n; ++i) {
    const auto size = Number<T>::size(w[i * n + i]);
    if (size != size) return false;
    has_zero = has_zero || !(size > 0);
  }
  return has_zero;
}

struct lu_arguments {
  const void* from;
  void *to, *rows;
  int64* orders;
  int64 matrices, n;
  Fault fault;
};
template <class T, class Index>
void lu(const lu_arguments& a) {
  __shared__ double lanes[2 * 256];
  for (int64 m = blockIdx.x; m < a.matrices; m += gridDim.x) {
    T* w = static_cast<T*>(a.to) + m * a.n * a.n;
    int64* order = a.orders + m * a.n;
    copy_matrix(static_cast<const T*>(a.from) + m * a.n * a.n, w, a.n, false);
    factor_lu(w, order, a.n, lanes);
    share(0, a.n, [&](int64 i) {
      static_cast<Index*>(a.rows)[m * a.n + i] = static_cast<Index>(order[i]);
    });
    if (threadIdx.x == 0 && is_singular(w, a.n)) report(a.fault, m, 0);
  }
}

struct determinant_arguments {
  const void* from;
  void *factors, *out, *log_out;  // no logarithm: the determinant itself
  int64* orders;
  int64 matrices, n;
};
template <class T, bool kLog>
void determinant(const determinant_arguments& a) {
  typedef Number<T> N;
  typedef typename N::Part R;
  __shared__ double lanes[2 * 256];
  for (int64 m = blockIdx.x; m < a.matrices; m += gridDim.x) {
    T* w = static_cast<T*>(a.factors) + m * a.n * a.n;
    copy_matrix(static_cast<const T*>(a.from) + m * a.n * a.n, w, a.n, false);
    const int64 swaps = factor_lu(w, a.orders + m * a.n, a.n, lanes);
    if (threadIdx.x != 0) continue;
    T product = N::of(swaps % 2 ? R(-1) : R(1));
    R log_size = 0;
    for (int64 i = 0; i < a.n; ++i) {
      const T pivot = w[i * a.n + i];
      if constexpr (kLog) {
        const R size = N::size(pivot);
        if (size == R(0)) {
          product = T();
        } else if (is_infinite(size) && !PartOf<T>::is_complex) {
          product = N::product(product, N::of(N::real(pivot) > R(0) ? R(1) : R(-1)));
        } else {
          product = N::product(product, N::quotient(pivot, N::of(size)));
        }
        log_size += math::log(size);
      } else {
        product = N::product(product, pivot);
      }
    }
    static_cast<T*>(a.out)[m] = product;
    if constexpr (kLog) static_cast<T*>(a.log_out)[m] = N::of(log_size);
  }
}

// --- Systems of equations
// -------------------------------------------------------------------------

struct solve_arguments {
  const void *from, *right;  // no right sides: those of the inverse
  void *factors, *out;
  int64* orders;
  int64 matrices, n, columns, is_adjoint;
  Fault fault;
};
template <class T>
void solve(const solve_arguments& a) {
  typedef Number<T> N;
  __shared__ double lanes[2 * 256];
  for (int64 m = blockIdx.x; m < a.matrices; m += gridDim.x) {
    T* w = static_cast<T*>(a.factors) + m * a.n * a.n;
    int64* order = a.orders + m * a.n;
    copy_matrix(static_cast<const T*>(a.from) + m * a.n * a.n, w, a.n, a.is_adjoint != 0);
    factor_lu(w, order, a.n, lanes);
    if (threadIdx.x == 0 && is_singular(w, a.n)) report(a.fault, m, 0);
    const T* right = static_cast<const T*>(a.right) + m * a.n * a.columns;
    T* x = static_cast<T*>(a.out) + m * a.n * a.columns;
    share(0, a.columns, [&](int64 c) {
      for (int64 r = 0; r < a.n; ++r) {
        T sum = a.right ? right[order[r] * a.columns + c] : N::of(order[r] == c ? 1 : 0);
        for (int64 k = 0; k < r; ++k) {
          sum = N::difference(sum, N::product(w[r * a.n + k], x[k * a.columns + c]));
        }
        x[r * a.columns + c] = sum;
      }
      for (int64 r = a.n; r-- > 0;) {
        T sum = x[r * a.columns + c];
        for (int64 k = r + 1; k < a.n; ++k) {
          sum = N::difference(sum, N::product(w[r * a.n + k], x[k * a.columns + c]));
        }
        x[r * a.columns + c] = N::quotient(sum, w[r * a.n + r]);
      }
    });
    __syncthreads();
  }
}

struct triangular_arguments {
  const void *from, *right;
  void* out;
  int64 items, n, columns;
  int64 from_item, right_item;  // elements from one matrix to the next
  int64 is_lower, is_adjoint;
  Fault fault;
};
/// A thread takes a column of one of the right sides.
template <class T>
void triangular_solve(const triangular_arguments& a) {
  typedef Number<T> N;
  for_each(a.items * a.columns, [&](int64 i) {
    const int64 item = i / a.columns, c = i % a.columns, n = a.n;
    const T* from = static_cast<const T*>(a.from) + item * a.from_item;
    const T* right = static_cast<const T*>(a.right) + item * a.right_item;
    T* x = static_cast<T*>(a.out) + item * n * a.columns;
    const bool goes_down = (a.is_lower != 0) != (a.is_adjoint != 0);
    const auto at = [&](int64 row, int64 column) {
      return a.is_adjoint ? N::conjugate(from[column * n + row]) : from[row * n + column];
    };
    for (int64 step = 0; step < n; ++step) {
      const int64 r = goes_down ? step : n - 1 - step;
      T sum = right[r * a.columns + c];
      for (int64 done = 0; done < step; ++done) {
        const int64 k = goes_down ? done : n - 1 - done;
        sum = N::difference(sum, N::product(at(r, k), x[k * a.columns + c]));
      }
      const T pivot = at(r, r);
      if (N::size(pivot) == 0) report(a.fault, item, 0);
      x[r * a.columns + c] = N::quotient(sum, pivot);
    }
  });
}

}  // namespace tm
