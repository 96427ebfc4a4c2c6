#include "tidemark/kernels/cpu/matmul/matmul_own.h"

#include <algorithm>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/isa_level.h"
#include "tidemark/kernels/cpu/matmul/matmul_float.h"

namespace tidemark::cpu {

TIDEMARK_DECLARE_PER_ISA(GemmTable, gemm_table);

const GemmTable& gemm_loops() {
  static const GemmTable* const table = &TIDEMARK_FOR_LEVEL(gemm_table, best_level());
  return *table;
}

namespace {

constexpr int64_t kGrainMacs = 1 << 20;   // small items of a batch go together
constexpr size_t kStackBytes = 32 << 10;  // panels up to this lie on the stack

struct OwnSizes {
  int64_t panels, panel_bytes, packed_bytes;
  explicit OwnSizes(const MatmulProblem& p) {
    const GemmLoops& loops = gemm_loops().gemm[static_cast<int>(p.dtype)];
    panels = divide_up(p.n, loops.panel_columns);
    panel_bytes = loops.panel_columns * loops.column_bytes * p.k;
    packed_bytes = panels * panel_bytes;
  }
  bool on_stack() const { return packed_bytes <= static_cast<int64_t>(kStackBytes); }
};

void multiply_own(const MatmulProblem& p, const GemmLoops& loops, int64_t item, int64_t row_begin,
                  int64_t row_end, int64_t panel, int64_t panel_end, const void* packed, void* c) {
  MatrixView a = p.a;
  a.data = at(p.a.data, p.a_offset(item), p.dtype);
  for (; panel < panel_end; panel += kGemmPanels) {
    loops.multiply(a, row_begin, row_end, packed, panel, std::min(panel_end, panel + kGemmPanels),
                   at(c, item * p.m * p.n, p.dtype), p.n);
  }
}

MatrixView b_of_item(const MatmulProblem& p, int64_t item) {
  MatrixView b = p.b;
  b.data = at(p.b.data, p.b_offset(item), p.dtype);
  return b;
}

/// Small matrices: items of the batch side by side, each packed on the stack.
void run_own_small(const MatmulProblem& p, const OwnSizes& sizes, void* c,
                   const Epilogue* epilogue) {
  const GemmLoops& loops = gemm_loops().gemm[static_cast<int>(p.dtype)];
  const int64_t grain = std::max<int64_t>(1, kGrainMacs / std::max<int64_t>(1, p.macs()));
  parallel_for(p.batch, grain, [&](int64_t begin, int64_t end) {
    alignas(64) char packed[kStackBytes];
    for (int64_t item = begin; item < end; ++item) {
      const MatrixView b = b_of_item(p, item);
      for (int64_t panel = 0; panel < sizes.panels; ++panel) {
        loops.pack(b, panel, packed + panel * sizes.panel_bytes);
      }
      multiply_own(p, loops, item, 0, p.m, 0, sizes.panels, packed, c);
      if (epilogue) epilogue->apply(item * p.m, p.m, 0, p.n);
    }
  });
}

/// Item after item; the threads share the packing, then the rows and panels.
void run_own_large(const MatmulProblem& p, const OwnSizes& sizes, void* c, char* packed) {
  const GemmLoops& loops = gemm_loops().gemm[static_cast<int>(p.dtype)];
  const int64_t rows = loops.panel_rows * 8;
  const int64_t down = divide_up(p.m, rows), across = divide_up(sizes.panels, kGemmPanels);
  const int64_t tile_macs = rows * loops.panel_columns * kGemmPanels * p.k;
  const int64_t grain = std::max<int64_t>(1, kGrainMacs / tile_macs);
  for (int64_t item = 0; item < p.batch; ++item) {
    const MatrixView b = b_of_item(p, item);
    if (item == 0 || p.b_offset(item) != p.b_offset(item - 1)) {
      const int64_t pack_grain = std::max<int64_t>(1, (256 << 10) / sizes.panel_bytes);
      parallel_for(sizes.panels, pack_grain, [&](int64_t begin, int64_t end) {
        for (int64_t panel = begin; panel < end; ++panel) {
          loops.pack(b, panel, packed + panel * sizes.panel_bytes);
        }
      });
    }
    parallel_for(down * across, grain, [&](int64_t begin, int64_t end) {
      for (int64_t tile = begin; tile < end; ++tile) {
        const int64_t row = tile / across * rows, panel = tile % across * kGemmPanels;
        multiply_own(p, loops, item, row, std::min(p.m, row + rows), panel,
                     std::min(sizes.panels, panel + kGemmPanels), packed, c);
      }
    });
  }
}

}  // namespace

size_t own_workspace(const MatmulProblem& p) {
  if (has_float_loops(p.dtype)) return float_workspace(p);
  const OwnSizes sizes(p);
  return sizes.on_stack() ? 0 : static_cast<size_t>(sizes.packed_bytes);
}

void run_own(const MatmulProblem& p, void* c, char* workspace, const Epilogue* epilogue) {
  if (has_float_loops(p.dtype)) return run_float(p, c, workspace, epilogue);
  const OwnSizes sizes(p);
  if (sizes.on_stack()) return run_own_small(p, sizes, c, epilogue);
  run_own_large(p, sizes, c, workspace);
  if (epilogue) apply_to_all(*epilogue, p.batch * p.m, p.n);
}

}  // namespace tidemark::cpu
