// Kernels of batch_norm and its gradient: sums over pieces of the rows, then one pass that uses
// what they say about each channel.

#include <tidemark/kernel.h>

#include <algorithm>
#include <cmath>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/isa/batch_norm_loops.h"
#include "tidemark/kernels/cpu/isa_level.h"

namespace tidemark::cpu {

TIDEMARK_DECLARE_PER_ISA(BatchNormTable, batch_norm_table);

const BatchNormTable& batch_norm_loops() {
  static const BatchNormTable* const table = &TIDEMARK_FOR_LEVEL(batch_norm_table, best_level());
  return *table;
}

namespace {

constexpr int64_t kGrainElements = 32 << 10;
constexpr int64_t kMaxPieces = 32;
constexpr int64_t kWide = 64;       // rows shorter than this are taken several at a time
constexpr int64_t kFirstRows = 64;  // whose mean is near enough to that of all

/// A tensor as rows of channels; by shape alone, so that sums do not depend on the threads.
struct Layout {
  int64_t channels, rows, elements, width;

  explicit Layout(const Shape& shape) : channels(shape.dim(-1)), rows(1) {
    for (int d = 0; d + 1 < shape.rank(); ++d) rows *= shape[d];
    elements = rows * channels;
    width = channels == 0 ? 1 : channels * ((kWide + channels - 1) / channels);
  }
  int64_t piece() const {  // in elements, a whole number of widths
    const int64_t share = (elements + kMaxPieces - 1) / kMaxPieces;
    return (std::max(share, kGrainElements) + width - 1) / width * width;
  }
  int64_t pieces() const { return (elements + piece() - 1) / piece(); }
  int64_t lanes_of_row() const { return (width + 15) / 16 * 16; }
  /// Lanes of workspace: two sums for each piece, and three rows.
  size_t lanes() const { return static_cast<size_t>((2 * pieces() + 3) * lanes_of_row()); }
};

/// Statistics and sums are of type A.
template <class A>
struct Work {
  const Layout& l;
  A *rows[3], *sums;

  Work(const Layout& layout, void* memory) : l(layout), sums(static_cast<A*>(memory)) {
    for (A*& row : rows) {
      row = sums;
      sums += l.lanes_of_row();
    }
  }
  A* first(int64_t piece) const { return sums + 2 * piece * l.lanes_of_row(); }
  A* second(int64_t piece) const { return first(piece) + l.lanes_of_row(); }

  /// Puts value(channel) at each of its places in a row.
  template <class Fn>
  void fill_row(int row, const Fn& value) const {
    for (int64_t c = 0; c < l.channels; ++c) rows[row][c] = static_cast<A>(value(c));
    for (int64_t i = l.channels; i < l.width; ++i) rows[row][i] = rows[row][i - l.channels];
  }
  /// Calls run(first element, elements, its two sums) for every piece.
  template <class Fn>
  void sum_pieces(const Fn& run) const {
    parallel_for(l.pieces(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        std::fill_n(first(p), 2 * l.lanes_of_row(), A(0));
        const int64_t at = p * l.piece();
        run(at, std::min(l.piece(), l.elements - at), first(p), second(p));
      }
    });
  }
  /// Both sums of a channel over all pieces.
  std::pair<double, double> totals(int64_t channel) const {
    double a = 0, b = 0;
    for (int64_t p = 0; p < l.pieces(); ++p) {
      for (int64_t i = channel; i < l.width; i += l.channels) {
        a += first(p)[i];
        b += second(p)[i];
      }
    }
    return {a, b};
  }
  template <class Fn>
  void for_elements(const Fn& run) const {
    const int64_t widths = (l.elements + l.width - 1) / l.width;
    const int64_t grain = std::max<int64_t>(1, kGrainElements / l.width);
    parallel_for(widths, grain, [&](int64_t begin, int64_t end) {
      const int64_t at = begin * l.width;
      run(at, std::min(end * l.width, l.elements) - at);
    });
  }
};

template <class T>
double number(T v) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return static_cast<float>(v);
  } else {
    return v;
  }
}

template <class T>
using Lane = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
struct Forward {
  using A = Lane<T>;
  static size_t workspace(const OpCall&, std::span<const Shape> outputs) {
    return Layout(outputs[0]).lanes() * sizeof(A);
  }

  static void run(KernelContext& k) {
    const Layout l(k.input(0).shape());
    const Work<A> work(l, k.workspace());
    const BatchNormLoops& loops = batch_norm_loops().loops[static_cast<int>(dtype_of<T>())];
    const T* x = k.in<T>(0);
    work.fill_row(0, [&](int64_t c) { return first_mean(x, l, c); });
    work.sum_pieces([&](int64_t at, int64_t n, A* sum, A* square) {
      loops.sums(x + at, n, l.width, work.rows[0], sum, square);
    });
    A *mean = k.out<A>(1), *variance = k.out<A>(2);
    const auto count = static_cast<double>(l.rows);
    for (int64_t c = 0; c < l.channels; ++c) {
      const auto [sum, square] = work.totals(c);
      mean[c] = static_cast<A>(work.rows[0][c] + sum / count);
      variance[c] = static_cast<A>(std::max(0.0, (square - sum * (sum / count)) / count));
      if (std::isnan(square)) variance[c] = static_cast<A>(square);
    }
    const double epsilon = k.attr("epsilon").as_real();
    const A *scale = k.in<A>(1), *offset = k.in<A>(2);
    work.fill_row(1, [&](int64_t c) { return scale[c] / std::sqrt(variance[c] + epsilon); });
    work.fill_row(
        2, [&](int64_t c) { return offset[c] - static_cast<double>(mean[c]) * work.rows[1][c]; });
    work.for_elements([&](int64_t at, int64_t n) {
      loops.affine(x + at, n, l.width, work.rows[1], work.rows[2], k.out<T>(0) + at);
    });
  }

  /// Squares are taken of distances from it: far from 0 they would lose their digits.
  static double first_mean(const T* x, const Layout& l, int64_t channel) {
    const int64_t rows = std::min(l.rows, kFirstRows);
    double sum = 0;
    for (int64_t r = 0; r < rows; ++r) sum += number(x[r * l.channels + channel]);
    return rows == 0 ? 0 : sum / static_cast<double>(rows);
  }
};

/// Inputs: x, scale, mean, variance, dy.
template <class T>
struct Backward {
  using A = Lane<T>;
  static size_t workspace(const OpCall&, std::span<const Shape> outputs) {
    return Layout(outputs[0]).lanes() * sizeof(A);
  }

  static void run(KernelContext& k) {
    const Layout l(k.input(0).shape());
    const Work<A> work(l, k.workspace());
    const BatchNormLoops& loops = batch_norm_loops().loops[static_cast<int>(dtype_of<T>())];
    const T *x = k.in<T>(0), *dy = k.in<T>(4);
    const A *scale = k.in<A>(1), *mean = k.in<A>(2), *variance = k.in<A>(3);
    A *dscale = k.out<A>(1), *doffset = k.out<A>(2);
    work.fill_row(0, [&](int64_t c) { return mean[c]; });
    work.sum_pieces([&](int64_t at, int64_t n, A* sum, A* product) {
      loops.gradient_sums(x + at, dy + at, n, l.width, work.rows[0], sum, product);
    });
    const double epsilon = k.attr("epsilon").as_real();
    const auto count = static_cast<double>(l.rows);
    for (int64_t c = 0; c < l.channels; ++c) {
      const auto [sum, product] = work.totals(c);
      const double rstd = 1 / std::sqrt(variance[c] + epsilon);
      dscale[c] = static_cast<A>(product * rstd);
      doffset[c] = static_cast<A>(sum);
      const double a = scale[c] * rstd;
      const double b = -a * rstd * rstd * product / count;
      work.rows[0][c] = static_cast<A>(a);
      work.rows[1][c] = static_cast<A>(b);
      work.rows[2][c] = static_cast<A>(-a * sum / count - b * mean[c]);
    }
    for (int row = 0; row < 3; ++row) {
      work.fill_row(row, [&](int64_t c) { return work.rows[row][c]; });
    }
    work.for_elements([&](int64_t at, int64_t n) {
      loops.gradient(x + at, dy + at, n, l.width, work.rows[0], work.rows[1], work.rows[2],
                     k.out<T>(0) + at);
    });
  }
};

const TypedKernelsOf<KernelKind::cpu, Forward, Half, BFloat16, float, double> forward("batch_norm");
const TypedKernelsOf<KernelKind::cpu, Backward, Half, BFloat16, float, double> backward(
    "batch_norm_grad");

}  // namespace

}  // namespace tidemark::cpu
