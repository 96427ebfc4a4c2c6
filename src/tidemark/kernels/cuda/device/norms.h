// Normalisation over rows and over channels. Elements are computed with as A and stored as T; sums
// of floats add up in double precision.

namespace tm {

// --- layer_norm and rms_norm: a row each
// ----------------------------------------------------------

struct layer_norm_arguments {
  const void *x, *scale, *offset;  // no offset, and no mean: of rms_norm
  void *y, *mean, *rstd;
  Lines rows;
  double epsilon;
};
template <class W, class T, class A, bool kCentred>
void layer_norm(const layer_norm_arguments& a) {
  __shared__ double lanes[256];
  W::for_each_line(a.rows.count, [&](int64 row) {
    const int64 first = row * a.rows.n;
    const A count = static_cast<A>(a.rows.n);
    typename Sum<A>::Acc mine = 0;
    A mean = 0;
    if (kCentred) {
      for (int64 i = W::first(); i < a.rows.n; i += W::step()) mine += load(a.x, first + i, T());
      mean = static_cast<A>(W::template all<Sum<A>>(mine, lanes)) / count;
    }
    mine = 0;
    for (int64 i = W::first(); i < a.rows.n; i += W::step()) {
      const A d = load(a.x, first + i, T()) - mean;
      mine += d * d;
    }
    const A squares = static_cast<A>(W::template all<Sum<A>>(mine, lanes));
    const A rstd = A(1) / math::sqrt(squares / count + static_cast<A>(a.epsilon));
    for (int64 i = W::first(); i < a.rows.n; i += W::step()) {
      const A normal = (load(a.x, first + i, T()) - mean) * rstd * load(a.scale, i, T());
      if constexpr (kCentred) {
        store(a.y, first + i, normal + load(a.offset, i, T()), T());
      } else {
        store(a.y, first + i, normal, T());
      }
    }
    if (W::first() != 0) return;
    if (kCentred) static_cast<A*>(a.mean)[row] = mean;
    static_cast<A*>(a.rstd)[row] = rstd;
  });
}

struct layer_norm_grad_arguments {
  const void *x, *scale, *mean, *rstd, *dy;
  void* dx;
  Lines rows;
};
template <class W, class T, class A, bool kCentred>
void layer_norm_grad(const layer_norm_grad_arguments& a) {
  __shared__ double lanes[256];
  W::for_each_line(a.rows.count, [&](int64 row) {
    const int64 first = row * a.rows.n;
    const A mean = kCentred ? static_cast<const A*>(a.mean)[row] : A(0);
    const A rstd = static_cast<const A*>(a.rstd)[row], count = static_cast<A>(a.rows.n);
    typename Sum<A>::Acc sum = 0, product = 0;
    for (int64 i = W::first(); i < a.rows.n; i += W::step()) {
      const A scaled = load(a.dy, first + i, T()) * load(a.scale, i, T());
      sum += scaled;
      product += scaled * ((load(a.x, first + i, T()) - mean) * rstd);
    }
    const A all = static_cast<A>(W::template all<Sum<A>>(sum, lanes));
    const A shift = kCentred ? all / count : A(0);
    const A slope = static_cast<A>(W::template all<Sum<A>>(product, lanes)) / count;
    for (int64 i = W::first(); i < a.rows.n; i += W::step()) {
      const A normal = (load(a.x, first + i, T()) - mean) * rstd;
      const A scaled = load(a.dy, first + i, T()) * load(a.scale, i, T());
      store(a.dx, first + i, (scaled - shift - normal * slope) * rstd, T());
    }
  });
}

// --- Two sums for each column of [rows, columns]: of parts of the rows first, then of all parts
// ---

struct column_sums_arguments {
  const void *x, *dy, *mean, *rstd;
  void* sums;  // [parts, 2, columns], doubles
  int64 rows, columns, parts;
};

/// Of layer_norm: what comes to its scale and to its offset.
template <bool kCentred>
struct LayerNormTerms {
  template <class T, class A>
  static void add(const column_sums_arguments& a, int64 row, int64 column, double& s, double& t) {
    const int64 i = row * a.columns + column;
    const A g = load(a.dy, i, T());
    const A mean = kCentred ? static_cast<const A*>(a.mean)[row] : A(0);
    s += g * ((load(a.x, i, T()) - mean) * static_cast<const A*>(a.rstd)[row]);
    t += g;
  }
};
/// Of batch_norm: distances from the first row, and their squares.
struct DistanceTerms {
  template <class T, class A>
  static void add(const column_sums_arguments& a, int64 row, int64 column, double& s, double& t) {
    const double d = static_cast<double>(load(a.x, row * a.columns + column, T())) -
                     static_cast<double>(load(a.x, column, T()));
    s += d;
    t += d * d;
  }
};
/// Of batch_norm's gradient.
struct BatchNormTerms {
  template <class T, class A>
  static void add(const column_sums_arguments& a, int64 row, int64 column, double& s, double& t) {
    const int64 i = row * a.columns + column;
    const A g = load(a.dy, i, T());
    s += g;
    t += g * (load(a.x, i, T()) - static_cast<const A*>(a.mean)[column]);
  }
};

template <class Terms, class T, class A>
void column_sums(const column_sums_arguments& a) {
  for_each(a.parts * a.columns, [&](int64 w) {
    const int64 part = w / a.columns, column = w % a.columns;
    double s = 0, t = 0;
    const int64 end = a.rows * (part + 1) / a.parts;
    for (int64 row = a.rows * part / a.parts; row < end; ++row) {
      Terms::template add<T, A>(a, row, column, s, t);
    }
    double* sums = static_cast<double*>(a.sums) + 2 * part * a.columns + column;
    sums[0] = s;
    sums[a.columns] = t;
  });
}

/// Both sums of a column, by the threads of a block.
struct Totals {
  double first, second;
};
inline Totals totals_of(const void* sums, int64 columns, int64 parts, int64 column, void* lanes) {
  double s = 0, t = 0;
  for (int64 p = threadIdx.x; p < parts; p += blockDim.x) {
    const double* part = static_cast<const double*>(sums) + 2 * p * columns + column;
    s += part[0];
    t += part[columns];
  }
  const double first = joined<Sum<double>>(s, lanes);
  return {first, joined<Sum<double>>(t, lanes)};
}

struct column_totals_arguments {
  const void* sums;
  void *first, *second;  // the second may be none
  int64 columns, parts;
};
template <class T, class A>
void column_totals(const column_totals_arguments& a) {
  __shared__ double lanes[256];
  for (int64 c = blockIdx.x; c < a.columns; c += gridDim.x) {
    const Totals total = totals_of(a.sums, a.columns, a.parts, c, lanes);
    if (threadIdx.x != 0) continue;
    store(a.first, c, static_cast<A>(total.first), T());
    if (a.second) store(a.second, c, static_cast<A>(total.second), T());
  }
}

// --- batch_norm: a channel each, then all elements
// ------------------------------------------------

struct statistics_arguments {
  const void *sums, *x, *scale, *offset;
  void *mean, *variance, *factor, *shift;
  int64 rows, columns, parts;
  double epsilon;
};
template <class T, class A>
void batch_norm_statistics(const statistics_arguments& a) {
  __shared__ double lanes[256];
  for (int64 c = blockIdx.x; c < a.columns; c += gridDim.x) {
    const Totals total = totals_of(a.sums, a.columns, a.parts, c, lanes);
    if (threadIdx.x != 0) continue;
    const double count = static_cast<double>(a.rows), sum = total.first, square = total.second;
    const double from = a.rows > 0 ? static_cast<double>(load(a.x, c, T())) : 0.0;
    const double spread = (square - sum * (sum / count)) / count;
    const A mean = static_cast<A>(from + sum / count);
    const A variance = static_cast<A>(square != square ? square : spread > 0 ? spread : 0.0);
    static_cast<A*>(a.mean)[c] = mean;
    static_cast<A*>(a.variance)[c] = variance;
    const double root = math::sqrt(static_cast<double>(variance) + a.epsilon);
    const A factor = static_cast<A>(static_cast<const A*>(a.scale)[c] / root);
    static_cast<A*>(a.factor)[c] = factor;
    static_cast<A*>(a.shift)[c] =
        static_cast<A>(static_cast<const A*>(a.offset)[c] -
                       static_cast<double>(mean) * static_cast<double>(factor));
  }
}

struct affine_arguments {
  const void *x, *factor, *shift;
  void* y;
  int64 count, columns;
};
template <class T, class A>
void batch_norm_apply(const affine_arguments& a) {
  for_each(a.count, [&](int64 i) {
    const int64 c = i % a.columns;
    const A factor = static_cast<const A*>(a.factor)[c], shift = static_cast<const A*>(a.shift)[c];
    store(a.y, i, load(a.x, i, T()) * factor + shift, T());
  });
}

struct slopes_arguments {
  const void *sums, *scale, *mean, *variance;
  void *dscale, *doffset, *slopes;  // slopes: [3, columns]
  int64 rows, columns, parts;
  double epsilon;
};
template <class A>
void batch_norm_slopes(const slopes_arguments& args) {
  __shared__ double lanes[256];
  for (int64 c = blockIdx.x; c < args.columns; c += gridDim.x) {
    const Totals total = totals_of(args.sums, args.columns, args.parts, c, lanes);
    if (threadIdx.x != 0) continue;
    const double count = static_cast<double>(args.rows), sum = total.first, product = total.second;
    const double variance = static_cast<const A*>(args.variance)[c];
    const double rstd = 1 / math::sqrt(variance + args.epsilon);
    const double a = static_cast<const A*>(args.scale)[c] * rstd;
    const double b = -a * rstd * rstd * product / count;
    const double mean = static_cast<const A*>(args.mean)[c];
    static_cast<A*>(args.dscale)[c] = static_cast<A>(product * rstd);
    static_cast<A*>(args.doffset)[c] = static_cast<A>(sum);
    A* slopes = static_cast<A*>(args.slopes) + c;
    slopes[0] = static_cast<A>(a);
    slopes[args.columns] = static_cast<A>(b);
    slopes[2 * args.columns] = static_cast<A>(-a * sum / count - b * mean);
  }
}

struct batch_norm_dx_arguments {
  const void *x, *dy, *slopes;
  void* dx;
  int64 count, columns;
};
template <class T, class A>
void batch_norm_dx(const batch_norm_dx_arguments& a) {
  for_each(a.count, [&](int64 i) {
    const A* slopes = static_cast<const A*>(a.slopes) + i % a.columns;
    const A rest = load(a.x, i, T()) * slopes[a.columns] + slopes[2 * a.columns];
    store(a.dx, i, load(a.dy, i, T()) * slopes[0] + rest, T());
  });
}

}  // namespace tm
