// Kernels that lay out elements by their positions: one_hot, pad, bands of matrices, ranges.

namespace tm {

struct one_hot_arguments {
  const void *indices, *on, *off;
  void* out;
  int64 count, depth, inner;
};
template <class T, class I>
void one_hot(const one_hot_arguments& a) {
  const T on = *static_cast<const T*>(a.on), off = *static_cast<const T*>(a.off);
  for_each(a.count, [&](int64 i) {
    const int64 outer = i / a.inner / a.depth, at = i / a.inner % a.depth;
    const int64 index = static_cast<const I*>(a.indices)[outer * a.inner + i % a.inner];
    static_cast<T*>(a.out)[i] = index == at ? on : off;
  });
}

/// Mode 0 puts `value` around, 1 mirrors without the edge, 2 with it.
template <int Dims>
struct pad_arguments {
  const void *from, *value;
  void* out;
  int64 count, mode;
  int64 sizes[Dims], inner_sizes[Dims], before[Dims];
};
template <class T, int Dims>
void pad(const pad_arguments<Dims>& a) {
  for_each(a.count, [&](int64 i) {
    int64 rest = i, from = 0, step = 1;
    bool is_inside = true;
    for (int d = Dims - 1; d >= 0; --d) {
      const int64 size = a.inner_sizes[d];
      int64 at = rest % a.sizes[d] - a.before[d];
      rest /= a.sizes[d];
      const int64 edge = a.mode - 1;
      if (a.mode != 0 && at < 0) at = -at - edge;
      if (a.mode != 0 && at >= size) at = 2 * (size - 1) - at + edge;
      is_inside = is_inside && is_index(at, size);
      from += at * step;
      step *= size;
    }
    static_cast<T*>(a.out)[i] =
        is_inside ? static_cast<const T*>(a.from)[from] : *static_cast<const T*>(a.value);
  });
}

struct band_arguments {
  const void* from;
  void* out;
  int64 count, rows, columns, lower, upper;  // negative: all
};
template <class T>
void band(const band_arguments& a) {
  for_each(a.count, [&](int64 i) {
    const int64 column = i % a.columns, row = i / a.columns % a.rows;
    const bool is_kept =
        (a.lower < 0 || row - column <= a.lower) && (a.upper < 0 || column - row <= a.upper);
    static_cast<T*>(a.out)[i] = is_kept ? static_cast<const T*>(a.from)[i] : T();
  });
}

struct range_arguments {
  void* out;
  int64 count;
  int64 start, delta;             // of integers, which wrap around
  double real_start, real_delta;  // of floats
};
template <class Stored, class T>
void range(const range_arguments& a) {
  for_each(a.count, [&](int64 i) {
    if constexpr (Kind<T>::is_float) {
      const T start = static_cast<T>(a.real_start), delta = static_cast<T>(a.real_delta);
      store(a.out, i, start + static_cast<T>(i) * delta, Stored());
    } else {
      const uint64 value =
          static_cast<uint64>(a.start) + static_cast<uint64>(i) * static_cast<uint64>(a.delta);
      store(a.out, i, static_cast<T>(value), Stored());
    }
  });
}

/// out = out + from, element by element.
struct accumulate_arguments {
  const void* from;
  void* out;
  int64 count;
};
template <class T>
void accumulate(const accumulate_arguments& a) {
  for_each(a.count, [&](int64 i) {
    store(a.out, i, again(Add::of(load(a.out, i, T()), load(a.from, i, T())), T()), T());
  });
}

}  // namespace tm
