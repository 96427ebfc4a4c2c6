#include "tidemark/kernels/cpu/fusion/columns.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "tidemark/base/plain_type.h"
#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/elementwise/loops_of_level.h"
#include "tidemark/kernels/cpu/isa/reduce_loops.h"

namespace tidemark::fusion {

namespace {

constexpr size_t kAlign = 64;
constexpr size_t kWideBytes = 8;  // a partial result, of any type
constexpr int64_t kFinishGrain = 16 << 10;

constexpr size_t aligned(size_t bytes) { return (bytes + kAlign - 1) & ~(kAlign - 1); }

cpu::ReduceColumns loop_of(Reduction reduction, bool is_sum, DType dtype) {
  const cpu::ReduceLoop loop = is_sum                        ? cpu::ReduceLoop::sum
                               : reduction == Reduction::max ? cpu::ReduceLoop::max
                                                             : cpu::ReduceLoop::min;
  return cpu::reduce_loops().pairs[static_cast<int>(loop)][static_cast<int>(dtype)].columns;
}

/// n elements of `dtype` that change nothing.
void fill_start(Reduction reduction, bool is_sum, DType dtype, char* out, int64_t n) {
  if (is_sum) {
    std::memset(out, 0, static_cast<size_t>(n) * size_of(dtype));
    return;
  }
  with_plain_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_arithmetic_v<T>) {
      using L = std::numeric_limits<T>;
      T value = zero;
      if (reduction == Reduction::max) value = L::has_infinity ? -L::infinity() : L::lowest();
      if (reduction == Reduction::min) value = L::has_infinity ? L::infinity() : L::max();
      cpu::blocks().fill(out, &value, sizeof(T), n);
    }
  });
}

/// Joins `count` rows of n elements that lie `stride` elements apart into `acc`.
void take_rows(cpu::ReduceColumns loop, const char* x, int64_t count, int64_t stride, int64_t n,
               DType from, DType into, char* acc) {
  for (int64_t j = 0; j < n; j += cpu::kMaxColumns) {
    const auto skip = static_cast<size_t>(j);
    loop(x + skip * size_of(from), count, stride, std::min(cpu::kMaxColumns, n - j), nullptr,
         acc + skip * size_of(into));
  }
}

}  // namespace

Columns::Columns(const FusedProgram& program, const Schedule& schedule, int64_t cols)
    : cols_(cols), of_output_(program.outputs.size(), kNoValue) {
  for (const Value v : schedule.columns) {
    const Instruction& i = program.code[v];
    const bool is_sum = fusion::is_sum(i.reduction);
    const DType lane = computed_in(i.dtype);
    const DType wide = is_sum && lane == DType::float32 ? DType::float64 : lane;
    for (size_t o = 0; o < program.outputs.size(); ++o) {
      if (program.outputs[o].value == v) of_output_[o] = static_cast<uint16_t>(of_.size());
    }
    of_.push_back({&i, lane, wide, is_sum});
  }
}

size_t Columns::lane_bytes(int64_t n) const {
  size_t bytes = 0;
  for (const Of& of : of_) {
    bytes += aligned(static_cast<size_t>(n + cpu::kVectorRun) * size_of(of.lane));
  }
  return bytes;
}

size_t Columns::partial_column() const { return aligned(static_cast<size_t>(cols_) * kWideBytes); }

void Columns::start_lanes(char* memory, int64_t n, void** lanes) const {
  for (size_t k = 0; k < of_.size(); ++k) {
    const Of& of = of_[k];
    lanes[k] = memory;
    // Those behind the run are read with a last vector.
    fill_start(of.instruction->reduction, of.is_sum, of.lane, memory, n + cpu::kVectorRun);
    memory += aligned(static_cast<size_t>(n + cpu::kVectorRun) * size_of(of.lane));
  }
}

void Columns::start_partial(char* partial, int64_t first, int64_t width) const {
  for (const Of& of : of_) {
    fill_start(of.instruction->reduction, of.is_sum, of.wide,
               partial + static_cast<size_t>(first) * size_of(of.wide), width);
    partial += partial_column();
  }
}

void Columns::fold(void* const* lanes, int64_t rows, int64_t first, int64_t width, char* partial,
                   bool is_last) const {
  for (size_t k = 0; k < of_.size(); ++k) {
    const Of& of = of_[k];
    const Reduction reduction = of.instruction->reduction;
    char* from = static_cast<char*>(lanes[k]);
    take_rows(loop_of(reduction, of.is_sum, of.lane), from, rows, width, width, of.lane, of.wide,
              partial + static_cast<size_t>(first) * size_of(of.wide));
    if (!is_last) fill_start(reduction, of.is_sum, of.lane, from, rows * width);
    partial += partial_column();
  }
}

void Columns::finish(char* partials, int64_t count, int64_t rows,
                     std::span<void* const> out) const {
  const int64_t grain = std::max<int64_t>(1, kFinishGrain / std::max<int64_t>(1, count));
  for (size_t o = 0; o < out.size(); ++o) {
    if (of_output_[o] == kNoValue) continue;
    const Of& of = of_[of_output_[o]];
    char* partial = partials + of_output_[o] * partial_column();
    parallel_for(cols_, grain, [&](int64_t begin, int64_t end) {
      finish_columns(of, partial, count, rows, begin, end - begin, static_cast<char*>(out[o]));
    });
  }
}

namespace {

template <class W>
void write_results(const Instruction& i, const W* from, int64_t rows, int64_t n, char* out) {
  const double divisor = i.reduction == Reduction::mean ? static_cast<double>(rows) : 1;
  with_plain_type(i.dtype, [&](auto zero) {
    using T = decltype(zero);
    using Computed =
        std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;
    if constexpr (std::is_arithmetic_v<Computed> && !std::is_same_v<T, bool>) {
      T* to = reinterpret_cast<T*>(out);
      for (int64_t j = 0; j < n; ++j) {
        if constexpr (std::is_floating_point_v<W>) {
          to[j] = static_cast<T>(
              static_cast<Computed>(divisor == 1 ? from[j] : static_cast<W>(from[j] / divisor)));
        } else {
          to[j] = static_cast<T>(static_cast<Computed>(from[j]));
        }
      }
    }
  });
}

}  // namespace

/// The first partial result takes the others in.
void Columns::finish_columns(const Of& of, char* partial, int64_t count, int64_t rows,
                             int64_t first, int64_t width, char* out) const {
  const size_t size = size_of(of.wide);
  char* acc = partial + static_cast<size_t>(first) * size;
  const auto stride = static_cast<int64_t>(partial_bytes() / size);
  if (count > 1) {
    take_rows(loop_of(of.instruction->reduction, of.is_sum, of.wide), acc + partial_bytes(),
              count - 1, stride, width, of.wide, of.wide, acc);
  }
  const DType dtype = of.instruction->dtype;
  with_plain_type(of.wide, [&](auto zero) {
    using W = decltype(zero);
    if constexpr (std::is_arithmetic_v<W>) {
      write_results(*of.instruction, reinterpret_cast<const W*>(acc), rows, width,
                    out + static_cast<size_t>(first) * size_of(dtype));
    }
  });
}

}  // namespace tidemark::fusion
