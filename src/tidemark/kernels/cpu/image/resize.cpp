// Resampling of images: along each axis a new pixel is a weighted sum of a span of old ones.
#include <tidemark/kernel.h>

#include <algorithm>

#include "tidemark/base/interrupt.h"
#include "tidemark/base/thread_pool.h"
#include "tidemark/ops/resize.h"

namespace tidemark::cpu {

namespace {

constexpr int64_t kRowsALook = 16;

/// Spans of one axis, in memory of the caller: for each new pixel the first old one, how many, and
/// their weights.
template <class T>
struct Spans {
  int64_t* first;
  int64_t* count;
  T* weights;
  int64_t width;  // weights kept for each
};

struct Axis {
  int64_t from, to;  // old and new size
  double scale() const { return static_cast<double>(from) / static_cast<double>(to); }
};

int64_t width_of(const OpCall& call, Axis axis) {
  if (axis.to == 0) return 1;
  const ResamplingKernel kernel = resampling_kernel(call.attr("method").as_string());
  const bool widens = call.attr("antialias").as_bool() || call.attr("method").as_string() == "area";
  const double stretch = widens ? std::max(1.0, axis.scale()) : 1.0;
  const auto width = static_cast<int64_t>(std::ceil(2 * kernel.radius * stretch)) + 2;
  return std::min(width, axis.from + 1);
}

template <class T>
size_t bytes_of(const OpCall& call, Axis axis) {
  const auto width = static_cast<size_t>(width_of(call, axis)), to = static_cast<size_t>(axis.to);
  return (to * (2 * sizeof(int64_t) + width * sizeof(T)) + 63) / 64 * 64;
}

/// The part of old pixel i inside of [begin, end).
double overlap(int64_t i, double begin, double end) {
  const auto low = static_cast<double>(i);
  return std::max(0.0, std::min(end, low + 1) - std::max(begin, low));
}

template <class T>
Spans<T> make_spans(const OpCall& call, Axis axis, char* memory) {
  const std::string& method = call.attr("method").as_string();
  const bool area = method == "area", antialias = call.attr("antialias").as_bool();
  const ResamplingKernel kernel = resampling_kernel(method);
  const double scale = axis.scale(), stretch = antialias ? std::max(1.0, scale) : 1.0;
  Spans<T> s;
  s.width = width_of(call, axis);
  s.first = reinterpret_cast<int64_t*>(memory);
  s.count = s.first + axis.to;
  s.weights = reinterpret_cast<T*>(s.count + axis.to);
  for (int64_t i = 0; i < axis.to; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    const double reach = area ? scale / 2 : kernel.radius * stretch;
    const auto last = static_cast<int64_t>(std::ceil(center + reach));
    const auto first = static_cast<int64_t>(std::floor(center - reach));
    const int64_t begin = std::clamp<int64_t>(first, 0, axis.from - 1);
    const int64_t end = std::clamp<int64_t>(std::min(last, begin + s.width), begin + 1, axis.from);
    const auto weight = [&](int64_t j) {
      if (area) return overlap(j, center - reach, center + reach);
      return kernel.weight((static_cast<double>(j) + 0.5 - center) / stretch);
    };
    double sum = 0;
    for (int64_t j = begin; j < end; ++j) sum += weight(j);
    const double factor = std::abs(sum) > 1e-9 ? 1 / sum : 0;
    for (int64_t j = begin; j < end; ++j) {
      s.weights[i * s.width + j - begin] = static_cast<T>(weight(j) * factor);
    }
    if (factor == 0) s.weights[i * s.width] = T(1);  // nothing in reach: the nearest one
    s.first[i] = begin;
    s.count[i] = end - begin;
  }
  return s;
}

/// Sizes of a call and the parts of its workspace: spans of rows, spans of columns, one row of old
/// width for each thread.
struct Layout {
  Axis rows, columns;
  int64_t batch, channels;

  static Layout of(const Shape& from, const Shape& to) {
    return {{from[1], to[1]}, {from[2], to[2]}, from[0], from[3]};
  }
  bool empty() const {
    return batch == 0 || channels == 0 || rows.from == 0 || columns.from == 0 || rows.to == 0 ||
           columns.to == 0;
  }
  int64_t row_elements() const { return columns.from * channels; }
  template <class T>
  size_t workspace(const OpCall& call) const {
    if (empty()) return 0;
    return bytes_of<T>(call, rows) + bytes_of<T>(call, columns) +
           static_cast<size_t>(pieces() * row_elements()) * sizeof(T);
  }
  int64_t pieces() const { return std::max(1, num_threads()); }
};

template <class T>
void combine_rows(T* row, const T* image, const Spans<T>& spans, int64_t y, int64_t elements) {
  std::fill_n(row, elements, T(0));
  for (int64_t k = 0; k < spans.count[y]; ++k) {
    if (k % kRowsALook == 0) check_interrupt();
    const T weight = spans.weights[y * spans.width + k];
    const T* from = image + (spans.first[y] + k) * elements;
    for (int64_t i = 0; i < elements; ++i) row[i] += weight * from[i];
  }
}

template <class T>
void combine_columns(T* out, const T* row, const Spans<T>& spans, int64_t columns,
                     int64_t channels) {
  std::fill_n(out, columns * channels, T(0));
  for (int64_t x = 0; x < columns; ++x) {
    for (int64_t k = 0; k < spans.count[x]; ++k) {
      const T weight = spans.weights[x * spans.width + k];
      const T* from = row + (spans.first[x] + k) * channels;
      for (int64_t c = 0; c < channels; ++c) out[x * channels + c] += weight * from[c];
    }
  }
}

template <class T>
struct Resize {
  static size_t workspace(const OpCall& call, std::span<const Shape> outputs) {
    return Layout::of(call.inputs[0].shape(), outputs[0]).workspace<T>(call);
  }
  static void run(KernelContext& k) {
    const Layout l = Layout::of(k.input(0).shape(), k.output(0).shape());
    if (l.empty()) return;
    char* memory = k.workspace<char>();
    const Spans<T> rows = make_spans<T>(k.call(), l.rows, memory);
    memory += bytes_of<T>(k.call(), l.rows);
    const Spans<T> columns = make_spans<T>(k.call(), l.columns, memory);
    T* const scratch = reinterpret_cast<T*>(memory + bytes_of<T>(k.call(), l.columns));
    const int64_t lines = l.batch * l.rows.to, each = (lines + l.pieces() - 1) / l.pieces();
    parallel_for(l.pieces(), 1, [&](int64_t begin, int64_t) {
      T* row = scratch + begin * l.row_elements();
      for (int64_t i = begin * each; i < std::min(lines, (begin + 1) * each); ++i) {
        const T* image = k.in<T>(0) + i / l.rows.to * l.rows.from * l.row_elements();
        combine_rows(row, image, rows, i % l.rows.to, l.row_elements());
        combine_columns(k.out<T>(0) + i * l.columns.to * l.channels, row, columns, l.columns.to,
                        l.channels);
      }
    });
  }
};

/// The transposed sums. Pieces are images, so that no two threads add to one pixel.
template <class T>
struct ResizeGrad {
  static size_t workspace(const OpCall& call, std::span<const Shape> outputs) {
    return Layout::of(outputs[0], call.inputs[0].shape()).workspace<T>(call);
  }
  static void run(KernelContext& k) {
    const Layout l = Layout::of(k.output(0).shape(), k.input(0).shape());
    std::fill_n(k.out<T>(0), k.output(0).num_elements(), T(0));
    if (l.empty()) return;
    char* memory = k.workspace<char>();
    const Spans<T> rows = make_spans<T>(k.call(), l.rows, memory);
    memory += bytes_of<T>(k.call(), l.rows);
    const Spans<T> columns = make_spans<T>(k.call(), l.columns, memory);
    T* const scratch = reinterpret_cast<T*>(memory + bytes_of<T>(k.call(), l.columns));
    const int64_t each = (l.batch + l.pieces() - 1) / l.pieces();
    parallel_for(l.pieces(), 1, [&](int64_t piece, int64_t) {
      T* row = scratch + piece * l.row_elements();
      for (int64_t b = piece * each; b < std::min(l.batch, (piece + 1) * each); ++b) {
        const T* dy = k.in<T>(0) + b * l.rows.to * l.columns.to * l.channels;
        spread_image(k.out<T>(0) + b * l.rows.from * l.row_elements(), dy, row, rows, columns, l);
      }
    });
  }

  static void spread_image(T* dx, const T* dy, T* row, const Spans<T>& rows,
                           const Spans<T>& columns, const Layout& l) {
    for (int64_t y = 0; y < l.rows.to; ++y) {
      std::fill_n(row, l.row_elements(), T(0));
      for (int64_t x = 0; x < l.columns.to; ++x) {
        const T* from = dy + (y * l.columns.to + x) * l.channels;
        for (int64_t k = 0; k < columns.count[x]; ++k) {
          const T weight = columns.weights[x * columns.width + k];
          T* to = row + (columns.first[x] + k) * l.channels;
          for (int64_t c = 0; c < l.channels; ++c) to[c] += weight * from[c];
        }
      }
      for (int64_t k = 0; k < rows.count[y]; ++k) {
        if (k % kRowsALook == 0) check_interrupt();
        const T weight = rows.weights[y * rows.width + k];
        T* to = dx + (rows.first[y] + k) * l.row_elements();
        for (int64_t i = 0; i < l.row_elements(); ++i) to[i] += weight * row[i];
      }
    }
  }
};

const TypedKernelsOf<KernelKind::cpu, Resize, float, double> resize("resize_images");
const TypedKernelsOf<KernelKind::cpu, ResizeGrad, float, double> resize_grad("resize_images_grad");

}  // namespace

}  // namespace tidemark::cpu
