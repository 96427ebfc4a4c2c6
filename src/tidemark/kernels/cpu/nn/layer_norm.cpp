// Kernels of layer_norm, rms_norm and their gradients.

#include <tidemark/kernel.h>

#include <algorithm>
#include <cstring>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/isa/layer_norm_loops.h"
#include "tidemark/kernels/cpu/isa_level.h"

namespace tidemark::cpu {

TIDEMARK_DECLARE_PER_ISA(LayerNormTable, layer_norm_table);

const LayerNormTable& layer_norm_loops() {
  static const LayerNormTable* const table = &TIDEMARK_FOR_LEVEL(layer_norm_table, best_level());
  return *table;
}

namespace {

constexpr int64_t kGrainElements = 16 << 10;
constexpr int64_t kMaxPieces = 32;

/// A tensor as rows of its last dimension.
struct Rows {
  int64_t n, rows, row_bytes, lane_bytes;
  explicit Rows(const Shape& shape, DType dtype)
      : n(shape.dim(-1)),
        rows(1),
        row_bytes(n * static_cast<int64_t>(size_of(dtype))),
        lane_bytes(dtype == DType::float64 ? 8 : 4) {
    for (int d = 0; d + 1 < shape.rank(); ++d) rows *= shape[d];
  }
  int64_t rows_per_piece() const {
    return std::max<int64_t>(1, kGrainElements / std::max<int64_t>(1, n));
  }
  /// Pieces of the gradient, each with sums of its own; by shape alone.
  int64_t gradient_rows() const {
    return std::max({int64_t{1}, (rows + kMaxPieces - 1) / kMaxPieces, 4 * rows_per_piece()});
  }
  int64_t gradient_pieces() const { return (rows + gradient_rows() - 1) / gradient_rows(); }
  int64_t sum_bytes() const { return (n * lane_bytes + 63) / 64 * 64; }
};

template <bool kCentred>
void forward_run(KernelContext& k) {
  const Tensor& x = k.input(0);
  const Rows r(x.shape(), x.dtype());
  const LayerNormLoops& loops = layer_norm_loops().loops[static_cast<int>(x.dtype())];
  const double epsilon = k.attr("epsilon").as_real();
  char* mean = kCentred ? k.out<char>(1) : nullptr;
  char* rstd = k.out<char>(kCentred ? 2 : 1);
  parallel_for(r.rows, r.rows_per_piece(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      loops.forward(k.in<char>(0) + i * r.row_bytes, k.in<char>(1),
                    kCentred ? k.in<char>(2) : nullptr, r.n, epsilon, kCentred,
                    k.out<char>(0) + i * r.row_bytes, kCentred ? mean + i * r.lane_bytes : nullptr,
                    rstd + i * r.lane_bytes);
    }
  });
}

template <bool kCentred>
void backward_run(KernelContext& k) {
  // x, scale, (mean,) rstd, dy
  const Tensor& x = k.input(0);
  const Rows r(x.shape(), x.dtype());
  const LayerNormLoops& loops = layer_norm_loops().loops[static_cast<int>(x.dtype())];
  const char* mean = kCentred ? k.in<char>(2) : nullptr;
  const char* rstd = k.in<char>(kCentred ? 3 : 2);
  const char* dy = k.in<char>(kCentred ? 4 : 3);
  const int64_t pieces = r.gradient_pieces(), rows = r.gradient_rows();
  char* scales = k.workspace<char>();
  char* offsets = scales + pieces * r.sum_bytes();
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      char *dscale = scales + p * r.sum_bytes(), *doffset = offsets + p * r.sum_bytes();
      std::memset(dscale, 0, static_cast<size_t>(r.sum_bytes()));
      if (kCentred) std::memset(doffset, 0, static_cast<size_t>(r.sum_bytes()));
      for (int64_t i = p * rows; i < std::min(r.rows, (p + 1) * rows); ++i) {
        loops.backward(k.in<char>(0) + i * r.row_bytes, dy + i * r.row_bytes, k.in<char>(1), r.n,
                       kCentred, kCentred ? mean + i * r.lane_bytes : nullptr,
                       rstd + i * r.lane_bytes, k.out<char>(0) + i * r.row_bytes, dscale,
                       kCentred ? doffset : nullptr);
      }
    }
  });
  const int64_t stride = r.sum_bytes() / r.lane_bytes;
  parallel_for(r.n, kGrainElements, [&](int64_t begin, int64_t end) {
    loops.add_up(scales, pieces, stride, begin, end, k.out<void>(1));
    if (kCentred) loops.add_up(offsets, pieces, stride, begin, end, k.out<void>(2));
  });
}

size_t backward_workspace(const OpCall& call, std::span<const Shape> outputs) {
  const Rows r(outputs[0], call.inputs[0].dtype());
  return static_cast<size_t>(2 * r.gradient_pieces() * r.sum_bytes());
}

TIDEMARK_KERNEL_OF(cpu, layer_norm, kFloats, forward_run<true>);
TIDEMARK_KERNEL_OF(cpu, rms_norm, kFloats, forward_run<false>);
TIDEMARK_KERNEL_OF(cpu, layer_norm_grad, kFloats, backward_run<true>, backward_workspace);
TIDEMARK_KERNEL_OF(cpu, rms_norm_grad, kFloats, backward_run<false>, backward_workspace);

}  // namespace

}  // namespace tidemark::cpu
