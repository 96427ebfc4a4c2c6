// Kernels of the cumulative ops and of argmin and argmax.

#include "tidemark/kernels/cpu/isa/scan_loops.h"

#include <tidemark/kernel.h>

#include <algorithm>
#include <cstring>

#include "tidemark/base/interrupt.h"
#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/isa_level.h"

namespace tidemark::cpu {

TIDEMARK_DECLARE_PER_ISA(ScanTable, scan_table);

const ScanTable& scan_loops() {
  static const ScanTable* const table = &TIDEMARK_FOR_LEVEL(scan_table, best_level());
  return *table;
}

namespace {

constexpr int64_t kGrainElements = 32 << 10;
constexpr int64_t kPieceElements = 128 << 10;  // of a line, between looks whether to stop

/// A tensor as outer x n x inner around one axis, cut into lines of neighbouring columns.
struct Lines {
  int64_t outer = 1, n = 1, inner = 1;
  int64_t width, chunks;

  Lines(const Shape& shape, int axis, int64_t parts = 1) {
    for (int d = 0; d < axis; ++d) outer *= shape[d];
    n = shape[axis];
    for (int d = axis + 1; d < shape.rank(); ++d) inner *= shape[d];
    inner *= parts;
    width = std::min(inner, kScanColumns);
    chunks = width ? (inner + width - 1) / width : 0;
  }

  /// each(offset of the first element, columns, index of the first column among all outputs).
  template <class Each>
  void for_each(Each each) const {
    const int64_t grain = std::max<int64_t>(1, kGrainElements / std::max<int64_t>(1, n * width));
    parallel_for(outer * chunks, grain, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        const int64_t o = line / chunks, first = line % chunks * width;
        each(o * n * inner + first, std::min(width, inner - first), o * inner + first);
      }
    });
  }
};

template <ScanLoop L>
void run_scan(KernelContext& k) {
  const Tensor& x = k.input(0);
  if (x.num_elements() == 0) return;
  // The parts of complex numbers add up by themselves.
  DType dtype = x.dtype();
  int64_t parts = 1;
  if (L == ScanLoop::sum && is_complex(dtype)) {
    dtype = dtype == DType::complex64 ? DType::float32 : DType::float64;
    parts = 2;
  }
  const ScanFn scan = scan_loops().scan[static_cast<int>(L)][static_cast<int>(dtype)];
  const Lines lines(x.shape(), normalize_axis(k.attr("axis").as_int(), x.rank()), parts);
  const bool exclusive = k.attr("exclusive").as_bool(), reverse = k.attr("reverse").as_bool();
  const int64_t bytes = static_cast<int64_t>(size_of(dtype));
  const int64_t last = reverse ? (lines.n - 1) * lines.inner : 0;
  const char* from = k.in<char>(0);
  char* to = k.out<char>(0);
  lines.for_each([&](int64_t offset, int64_t width, int64_t) {
    const int64_t step = reverse ? -lines.inner : lines.inner;
    int64_t start = (offset + last) * bytes;
    const int64_t rows = std::max<int64_t>(kPieceElements / width, 1);
    if (lines.n <= rows) {
      return scan(from + start, lines.n, step, width, exclusive, to + start, nullptr);
    }
    ScanState state;
    for (int64_t r = 0; r < lines.n; r += rows, start += rows * step * bytes) {
      check_interrupt();
      scan(from + start, std::min(rows, lines.n - r), step, width, exclusive, to + start, &state);
    }
  });
}

/// Index of the best row for each of some neighbouring columns. Long ones are gone through in
/// pieces; the better of two is found as the best of two rows.
void best_rows(ArgFn arg, const char* from, const Lines& lines, int64_t width, int64_t bytes,
               int64_t* index) {
  const int64_t rows = std::max<int64_t>(kPieceElements / width, 1), step = lines.inner * bytes;
  arg(from, std::min(rows, lines.n), lines.inner, width, index);
  alignas(16) char two[2 * kScanColumns * sizeof(int64_t)];
  int64_t next[kScanColumns], better[kScanColumns];
  for (int64_t first = rows; first < lines.n; first += rows) {
    check_interrupt();
    arg(from + first * step, std::min(rows, lines.n - first), lines.inner, width, next);
    for (int64_t j = 0; j < width; ++j) {
      next[j] += first;
      const char* const column = from + j * bytes;
      std::memcpy(two + j * bytes, column + index[j] * step, static_cast<size_t>(bytes));
      std::memcpy(two + (width + j) * bytes, column + next[j] * step, static_cast<size_t>(bytes));
    }
    arg(two, 2, width, width, better);
    for (int64_t j = 0; j < width; ++j) {
      if (better[j] == 1) index[j] = next[j];
    }
  }
}

template <class I>
void run_arg(KernelContext& k, ArgFn arg) {
  const Tensor& x = k.input(0);
  const Attr& axis = k.attr("axis");
  const Lines lines(x.shape(), normalize_axis(axis.is_none() ? 0 : axis.as_int(), x.rank()));
  const int64_t bytes = static_cast<int64_t>(size_of(x.dtype()));
  const char* from = k.in<char>(0);
  I* out = k.out<I>(0);
  lines.for_each([&](int64_t offset, int64_t width, int64_t first) {
    int64_t index[kScanColumns];
    best_rows(arg, from + offset * bytes, lines, width, bytes, index);
    for (int64_t j = 0; j < width; ++j) out[first + j] = static_cast<I>(index[j]);
  });
}

template <bool kMax>
void run_arg(KernelContext& k) {
  if (k.output(0).num_elements() == 0) return;
  const ScanTable& table = scan_loops();
  const ArgFn arg = (kMax ? table.arg_max : table.arg_min)[static_cast<int>(k.input(0).dtype())];
  switch (k.output(0).dtype()) {
    case DType::int64:
      return run_arg<int64_t>(k, arg);
    case DType::int32:
      return run_arg<int32_t>(k, arg);
    case DType::int16:
      return run_arg<int16_t>(k, arg);
    default:
      return run_arg<uint16_t>(k, arg);
  }
}

TIDEMARK_KERNEL_OF(cpu, cumsum, kNumeric, run_scan<ScanLoop::sum>);
TIDEMARK_KERNEL_OF(cpu, cumprod, kNumeric, run_scan<ScanLoop::prod>);
TIDEMARK_KERNEL_OF(cpu, cumulative_logsumexp, kFloats, run_scan<ScanLoop::logsumexp>);
TIDEMARK_KERNEL_OF(cpu, argmax, kReal | kBool, run_arg<true>);
TIDEMARK_KERNEL_OF(cpu, argmin, kReal | kBool, run_arg<false>);

}  // namespace

}  // namespace tidemark::cpu
