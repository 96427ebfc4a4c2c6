// Resampling of images: along each axis a new pixel is a weighted sum of a span of old ones.

namespace tm {

// How much an old pixel counts for a new one, by their distance (ops/resize.h).
inline double weight_at(int64 method, double x) {
  const double pi = 3.14159265358979323846;
  x = math::fabs(x);
  if (method == 0) return x < 1 ? 1 - x : 0;
  if (method == 1) {  // Keys' cubic
    if (x >= 2) return 0;
    return x >= 1 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : (1.5 * x - 2.5) * x * x + 1;
  }
  if (method == 2) {  // Mitchell and Netravali's
    if (x >= 2) return 0;
    return x >= 1 ? ((-7.0 / 18 * x + 2) * x - 10.0 / 3) * x + 16.0 / 9
                  : (7.0 / 6 * x - 2) * x * x + 8.0 / 9;
  }
  if (method == 0x100) return x >= 1.5 ? 0 : math::exp(-x * x / 0.5);  // a bell
  const double radius = static_cast<double>(method);                   // Lanczos's
  if (x > radius) return 0;
  if (x <= 1e-3) return 1;
  const double angle = pi * x;
  return radius * math::sin(angle) * math::sin(angle / radius) / (angle * angle);
}
inline double smaller_of(double x, double y) { return x < y ? x : y; }
inline double larger_of(double x, double y) { return x > y ? x : y; }
inline int64 within(int64 x, int64 low, int64 high) { return x < low ? low : x > high ? high : x; }

struct make_spans_arguments {
  int64 *first, *count;
  void* weights;  // `width` for each new pixel
  int64 from, to, width, method, is_area, widens;
  double radius;
};
template <class T>
void make_spans(const make_spans_arguments& a) {
  for_each(a.to, [&](int64 i) {
    const double scale = static_cast<double>(a.from) / static_cast<double>(a.to);
    const double stretch = a.widens && scale > 1 ? scale : 1;
    const double center = (static_cast<double>(i) + 0.5) * scale;
    const double reach = a.is_area ? scale / 2 : a.radius * stretch;
    const int64 last = static_cast<int64>(math::ceil(center + reach));
    const int64 first = static_cast<int64>(math::floor(center - reach));
    const int64 begin = within(first, 0, a.from - 1);
    const int64 most = last < begin + a.width ? last : begin + a.width;
    const int64 end = within(most, begin + 1, a.from);
    const auto weight = [&](int64 j) {
      const double low = static_cast<double>(j);
      if (a.is_area) {
        const double both = smaller_of(center + reach, low + 1) - larger_of(center - reach, low);
        return larger_of(0, both);
      }
      return weight_at(a.method, (low + 0.5 - center) / stretch);
    };
    double sum = 0;
    for (int64 j = begin; j < end; ++j) sum += weight(j);
    const double factor = math::fabs(sum) > 1e-9 ? 1 / sum : 0;
    T* weights = static_cast<T*>(a.weights) + i * a.width;
    for (int64 j = begin; j < end; ++j) weights[j - begin] = static_cast<T>(weight(j) * factor);
    if (factor == 0) weights[0] = T(1);  // nothing in reach: the nearest one
    a.first[i] = begin;
    a.count[i] = end - begin;
  });
}

/// As make_spans left it.
struct Spans {
  const int64 *first, *count;
  const void* weights;
  int64 from, to, width;
};
template <class T>
T span_weight(const Spans& s, int64 pixel, int64 k) {
  return static_cast<const T*>(s.weights)[pixel * s.width + k];
}

struct resize_arguments {
  const void* from;
  void* to;
  int64 count, channels;
  Spans rows, columns;
};
template <class T>
void resize(const resize_arguments& a) {
  const T* from = static_cast<const T*>(a.from);
  for_each(a.count, [&](int64 i) {
    const int64 c = i % a.channels, x = i / a.channels % a.columns.to;
    const int64 line = i / a.channels / a.columns.to, y = line % a.rows.to;
    const T* image = from + line / a.rows.to * a.rows.from * a.columns.from * a.channels + c;
    T result = T(0);
    for (int64 l = 0; l < a.columns.count[x]; ++l) {
      const T* column = image + (a.columns.first[x] + l) * a.channels;
      T sum = T(0);
      for (int64 k = 0; k < a.rows.count[y]; ++k) {
        const int64 row = a.rows.first[y] + k;
        sum += span_weight<T>(a.rows, y, k) * column[row * a.columns.from * a.channels];
      }
      result += span_weight<T>(a.columns, x, l) * sum;
    }
    static_cast<T*>(a.to)[i] = result;
  });
}

/// The first new pixel whose span ends behind an old one; spans begin and end in their order.
inline int64 first_reader(const Spans& s, int64 old) {
  int64 low = 0, high = s.to;
  while (low < high) {
    const int64 middle = (low + high) / 2;
    if (s.first[middle] + s.count[middle] > old) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}
/// The transposed sums: an old pixel takes from all new ones that it was read for.
template <class T>
void resize_grad(const resize_arguments& a) {
  const T* from = static_cast<const T*>(a.from);
  for_each(a.count, [&](int64 i) {
    const int64 c = i % a.channels, x = i / a.channels % a.columns.from;
    const int64 line = i / a.channels / a.columns.from, y = line % a.rows.from;
    const T* dy = from + line / a.rows.from * a.rows.to * a.columns.to * a.channels + c;
    T result = T(0);
    for (int64 r = first_reader(a.rows, y); r < a.rows.to && a.rows.first[r] <= y; ++r) {
      T sum = T(0);
      for (int64 q = first_reader(a.columns, x); q < a.columns.to && a.columns.first[q] <= x; ++q) {
        sum += span_weight<T>(a.columns, q, x - a.columns.first[q]) *
               dy[(r * a.columns.to + q) * a.channels];
      }
      result += span_weight<T>(a.rows, r, y - a.rows.first[r]) * sum;
    }
    static_cast<T*>(a.to)[i] = result;
  });
}

}  // namespace tm
