// Kernels that take rows from where indices say, and put them there: gather, scatter, segments.

namespace tm {

// --- Which row an index names: each gives its number, or -1
// ---------------------------------------

/// Of gather: [batch, outer, limit] rows, of which each batch's indices name some.
struct GatherRows {
  const void* indices;
  int64 count, outer, limit;
  Fault fault;
};
template <class I>
int64 row_at(const GatherRows& rows, int64 i) {
  const int64 block = i / rows.count;
  const int64 index =
      static_cast<const I*>(rows.indices)[block / rows.outer * rows.count + i % rows.count];
  if (is_index(index, rows.limit)) return block * rows.limit + index;
  report(rows.fault, index, rows.limit);
  return -1;
}

/// Of gather_nd: `depth` numbers are a position in the leading dimensions of a batch's rows.
template <int Depth>
struct PointRows {
  const void* indices;
  int64 depth, per_batch, batch_rows, skips;  // skips: what is outside is no fault
  Fault fault;
  int64 sizes[Depth], steps[Depth];
};
template <class I, int Depth>
int64 row_at(const PointRows<Depth>& rows, int64 i) {
  const I* point = static_cast<const I*>(rows.indices) + i * rows.depth;
  int64 row = i / rows.per_batch * rows.batch_rows;
  for (int d = 0; d < rows.depth; ++d) {
    const int64 index = point[d];
    if (!is_index(index, rows.sizes[d])) {
      if (!rows.skips) report(rows.fault, index, rows.sizes[d]);
      return -1;
    }
    row += index * rows.steps[d];
  }
  return row;
}

/// Of segments: a number each; negative ones are left out.
struct SegmentRows {
  const void* ids;
  int64 limit;
  Fault fault;
};
template <class I>
int64 row_at(const SegmentRows& rows, int64 i) {
  const int64 id = static_cast<const I*>(rows.ids)[i];
  if (id < rows.limit) return id < 0 ? -1 : id;
  report(rows.fault, id, rows.limit);
  return -1;
}

/// out[i] = from[row_at(i)], rows of `inner` elements; zeros for what is outside.
template <class Rows>
struct take_arguments {
  const void* from;
  void* out;
  int64 count, inner;
  Rows rows;
};
template <class T, class I, class Rows>
void take(const take_arguments<Rows>& a) {
  for_each(a.count * a.inner, [&](int64 i) {
    const int64 row = row_at<I>(a.rows, i / a.inner);
    static_cast<T*>(a.out)[i] =
        row < 0 ? T() : static_cast<const T*>(a.from)[row * a.inner + i % a.inner];
  });
}

// --- Rows combined into rows, in the order in which they come: sorted by the row they go to
// -------

/// Of each row: which one it goes to, `none` where it goes nowhere, and its own number.
template <class Rows>
struct keys_arguments {
  void *keys, *order;
  int64 count, none;
  Rows rows;
};
template <class K, class I, class Rows>
void make_keys(const keys_arguments<Rows>& a) {
  for_each(a.count, [&](int64 i) {
    const int64 row = row_at<I>(a.rows, i);
    static_cast<K*>(a.keys)[i] = static_cast<K>(row < 0 ? a.none : row);
    static_cast<K*>(a.order)[i] = static_cast<K>(i);
  });
}

struct combine_arguments {
  const void *keys, *order;  // sorted by key
  const void* from;
  void* out;  // holds what is combined with
  int64 count, inner, none;
};

/// A thread takes an element of the first row of a run with one key, and all that follow it.
template <class K, class How, class T>
void combine(const combine_arguments& a) {
  const K *keys = static_cast<const K*>(a.keys), *order = static_cast<const K*>(a.order);
  for_each(a.count * a.inner, [&](int64 i) {
    const int64 first = i / a.inner, column = i % a.inner;
    const K key = keys[first];
    if (key == static_cast<K>(a.none) || (first > 0 && keys[first - 1] == key)) return;
    const int64 to = static_cast<int64>(key) * a.inner + column;
    const auto value = [&](int64 at) {
      return load(a.from, static_cast<int64>(order[at]) * a.inner + column, T());
    };
    auto result = load(a.out, to, T());
    for (int64 at = first; at < a.count && keys[at] == key; ++at) {
      result = again(How::of(result, value(at)), T());
    }
    store(a.out, to, result, T());
  });
}
/// The last of several rows with one key.
template <class K, class T>
void assign(const combine_arguments& a) {
  const K *keys = static_cast<const K*>(a.keys), *order = static_cast<const K*>(a.order);
  for_each(a.count * a.inner, [&](int64 i) {
    const int64 last = i / a.inner, column = i % a.inner;
    const K key = keys[last];
    if (key == static_cast<K>(a.none) || (last + 1 < a.count && keys[last + 1] == key)) return;
    static_cast<T*>(a.out)[static_cast<int64>(key) * a.inner + column] =
        static_cast<const T*>(a.from)[static_cast<int64>(order[last]) * a.inner + column];
  });
}

// --- Rows of sorted segments, which lie side by side
// ----------------------------------------------

struct sorted_segments_arguments {
  const void* from;
  void* out;
  const int64* firsts;  // of each segment, and behind them the number of rows
  int64 count, inner, is_product;
};
template <class T>
T whole_number(T, int64 n) {
  return static_cast<T>(n);
}
template <class R>
Complex<R> whole_number(Complex<R>, int64 n) {
  return {static_cast<R>(n), R(0)};
}
template <class T>
T divided(T x, int64 n) {
  if constexpr (Kind<T>::is_float) {
    return x / static_cast<T>(n);
  } else {
    typedef typename Wide64<(T(-1) < T(0))>::Type Wide;
    return static_cast<T>(static_cast<Wide>(x) / static_cast<Wide>(n));
  }
}
template <class R>
Complex<R> divided(Complex<R> x, int64 n) {
  return {x.re / static_cast<R>(n), x.im / static_cast<R>(n)};
}
/// A thread takes an element of a segment; of one without rows it is 1 for products, else 0.
template <class How, class T, bool kMean>
void sorted_segments(const sorted_segments_arguments& a) {
  for_each(a.count, [&](int64 i) {
    const int64 segment = i / a.inner, column = i % a.inner;
    const int64 first = a.firsts[segment], last = a.firsts[segment + 1];
    if (first == last) {
      store(a.out, i, whole_number(decltype(load(a.from, i, T()))(), a.is_product), T());
      return;
    }
    auto result = load(a.from, first * a.inner + column, T());
    for (int64 row = first + 1; row < last; ++row) {
      result = again(How::of(result, load(a.from, row * a.inner + column, T())), T());
    }
    if (kMean) result = divided(result, last - first);
    store(a.out, i, result, T());
  });
}

}  // namespace tm
