// Kernels of matmul: oneDNN for bfloat16, our own loops for the rest, for products with a vector
// and for small matrices (matmul_own.cpp).

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "tidemark/base/interrupt.h"
#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/dnnl_library.h"
#include "tidemark/kernels/cpu/matmul/matmul_float.h"
#include "tidemark/kernels/cpu/matmul/matmul_own.h"

namespace tidemark::cpu {

namespace {

constexpr int64_t kSmallMacs = 32 * 32 * 32;  // below this the library's call costs more
constexpr int64_t kBriefMacs = 1 << 20;       // below this no sleeping thread is woken
constexpr int64_t kLibraryGrainMacs = 1 << 17;
constexpr int64_t kVectorGrain = 256 << 10;  // elements of a matrix times a vector
constexpr size_t kStackBytes = 32 << 10;     // scratch up to this lies on the stack
constexpr int64_t kPartBytes = 128 << 10;    // of a result that is nowhere whole

enum class Road { zero, vector, library, own };

Road road_for(const MatmulProblem& p) {
  if (p.k == 0 || p.m == 0 || p.n == 0) return Road::zero;
  const bool real = is_floating(p.dtype);
  if (real && (p.m == 1 || p.n == 1)) return Road::vector;
  // The library's float32 is no faster than ours, and takes longer to load and to compile.
  return p.dtype == DType::bfloat16 && p.macs() >= kSmallMacs ? Road::library : Road::own;
}

// --- one row or one column ----------------------------------------------------------------------

void run_vector(const MatmulProblem& p, void* c) {
  const Gemv gemv = gemm_loops().gemv[static_cast<int>(p.dtype)];
  const bool row = p.m == 1;  // x is A's row and B the matrix; else x is B's column
  const int64_t outputs = row ? p.n : p.m;
  const int64_t output_stride = row ? p.b.column_stride : p.a.row_stride;
  const int64_t inner_stride = row ? p.b.row_stride : p.a.column_stride;
  // Whole cache lines of several vectors for each piece.
  const int64_t piece = std::max<int64_t>(256, kVectorGrain / p.k / 256 * 256);
  const int64_t pieces = divide_up(outputs, piece);
  const int64_t grain = std::max<int64_t>(1, kVectorGrain / std::max<int64_t>(1, outputs * p.k));
  parallel_for(p.batch * pieces, pieces > 1 ? 1 : grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t item = i / pieces, first = i % pieces * piece;
      const char* a = at(p.a.data, p.a_offset(item), p.dtype);
      const char* b = at(p.b.data, p.b_offset(item), p.dtype);
      gemv(row ? a : b, row ? b : a, p.k, output_stride, inner_stride, first,
           std::min(outputs, first + piece), at(c, item * p.m * p.n, p.dtype));
    }
  });
}

// --- oneDNN -------------------------------------------------------------------------------------

TidemarkDnnlProduct whole_product(const MatmulProblem& p) {
  return {
      p.dtype == DType::bfloat16, p.m, p.n, p.k, p.a.row_stride, p.a.column_stride, p.b.row_stride,
      p.b.column_stride,          p.n};
}

/// The products of one problem: inner tiles, and those at the right and lower edges. In parts: each
/// tile by itself, small enough to stay in the cache.
struct LibraryProducts {
  TidemarkDnnlProduct whole;
  MatmulTiles tiles;
  size_t part = 0;  // bytes of a tile by itself, rounded up; 0: tiles lie in C
  std::shared_ptr<const DnnlProduct> products[2][2];  // [last row][last column]
  size_t scratch = 0;                                 // of the neediest, rounded up
  bool complete = true;

  LibraryProducts(const MatmulProblem& p, bool in_parts)
      : whole(whole_product(p)),
        tiles(in_parts ? MatmulTiles(p, kPartBytes / static_cast<int64_t>(size_of(p.dtype)))
                       : MatmulTiles(p)) {
    if (in_parts) {
      part = (static_cast<size_t>(tiles.rows * tiles.columns) * size_of(p.dtype) + 63) / 64 * 64;
    }
    const int64_t rows[2] = {tiles.rows, p.m - (tiles.down - 1) * tiles.rows};
    const int64_t columns[2] = {tiles.columns, p.n - (tiles.across - 1) * tiles.columns};
    for (int r = tiles.down == 1; r < 2; ++r) {
      for (int c = tiles.across == 1; c < 2; ++c) {
        products[r][c] = dnnl_product({p.dtype == DType::bfloat16, rows[r], columns[c], p.k,
                                       p.a.row_stride, p.a.column_stride, p.b.row_stride,
                                       p.b.column_stride, in_parts ? tiles.columns : p.n});
        if (!products[r][c]) {
          complete = false;
          return;
        }
        scratch = std::max(scratch, (products[r][c]->scratch_bytes() + 63) / 64 * 64);
      }
    }
  }
  bool is_on_stack() const { return scratch <= kStackBytes; }
  /// Of one that runs at a time with others.
  size_t workspace() const { return part + (is_on_stack() ? 0 : scratch); }
};

/// The last products of this thread are remembered, as the next call most often wants them again.
/// Others take their place in the same memory, unless a caller further up still has them.
std::shared_ptr<const LibraryProducts> products_for(const MatmulProblem& p, bool in_parts) {
  thread_local std::shared_ptr<LibraryProducts> lasts[2];
  std::shared_ptr<LibraryProducts>& last = lasts[in_parts];
  if (last && same_product(last->whole, whole_product(p))) return last;
  if (last && last.use_count() == 1) {
    *last = LibraryProducts(p, in_parts);
  } else {
    last = std::make_shared<LibraryProducts>(p, in_parts);
  }
  return last;
}

/// Tiles that may run at once, each with scratch of its own: fixed for the process, so that the
/// workspace asked for and the workspace used agree.
int64_t tiles_at_once(const MatmulProblem& p, const MatmulTiles& tiles) {
  static const int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  return std::min(cores, p.batch * tiles.count());
}

/// `memory`: of the worker, where the tile itself lies too if there is no C.
void run_tile(const MatmulProblem& p, const LibraryProducts& l, int64_t tile, void* c,
              void* scratch, char* memory, const Epilogue* epilogue) {
  const int64_t item = tile / l.tiles.count();
  const int64_t row = tile % l.tiles.count() / l.tiles.across;
  const int64_t column = tile % l.tiles.across;
  const int64_t first_row = row * l.tiles.rows, first_column = column * l.tiles.columns;
  const auto& product = l.products[row == l.tiles.down - 1][column == l.tiles.across - 1];
  void* to = c ? at(c, (item * p.m + first_row) * p.n + first_column, p.dtype) : memory;
  product->run(at(p.a.data, p.a_offset(item) + first_row * p.a.row_stride, p.dtype),
               at(p.b.data, p.b_offset(item) + first_column * p.b.column_stride, p.dtype), to,
               scratch);
  if (!epilogue) return;
  const int64_t rows = std::min(l.tiles.rows, p.m - first_row);
  const int64_t columns = std::min(l.tiles.columns, p.n - first_column);
  if (c) {
    epilogue->apply(item * p.m + first_row, rows, first_column, columns);
  } else {
    epilogue->apply_to(to, l.tiles.columns, item * p.m + first_row, rows, first_column, columns);
  }
}

void run_library(const MatmulProblem& p, const LibraryProducts& l, void* c, char* workspace,
                 const Epilogue* epilogue) {
  const bool in_parts = !epilogue || l.tiles.across == 1 || !epilogue->needs_whole_rows();
  const int64_t tiles = p.batch * l.tiles.count();
  const int64_t together = std::max<int64_t>(1, kLibraryGrainMacs * l.tiles.count() / p.macs());
  const bool on_stack = l.is_on_stack();
  std::atomic<int64_t> next{0};
  const auto work = [&](int64_t worker) {
    alignas(64) char stack[kStackBytes];
    char* memory = workspace + worker * static_cast<int64_t>(l.workspace());
    char* scratch = on_stack ? stack : memory + l.part;
    for (;;) {
      const int64_t begin = next.fetch_add(together, std::memory_order_relaxed);
      if (begin >= tiles) return;
      for (int64_t t = begin; t < std::min(tiles, begin + together); ++t) {
        check_interrupt();
        run_tile(p, l, t, c, scratch, memory, in_parts ? epilogue : nullptr);
      }
    }
  };
  parallel_for(
      std::min(tiles_at_once(p, l.tiles), divide_up(tiles, together)), 1,
      [&](int64_t begin, int64_t end) {
        for (int64_t worker = begin; worker < end; ++worker) work(worker);
      },
      p.batch * p.macs() < kBriefMacs ? Work::brief : Work::normal);
  if (!in_parts) apply_to_all(*epilogue, p.batch * p.m, p.n);
}

}  // namespace

namespace {

size_t library_workspace(const MatmulProblem& p, const LibraryProducts& l) {
  return l.workspace() * static_cast<size_t>(tiles_at_once(p, l.tiles));
}

size_t whole_workspace(const MatmulProblem& p) {
  const Road road = road_for(p);
  if (road == Road::zero || road == Road::vector) return 0;
  if (road == Road::library) {
    const auto products = products_for(p, false);
    if (products->complete) return library_workspace(p, *products);
  }
  return own_workspace(p);
}

/// Where a product without C is made whole after all: behind what making it takes.
struct WholeInWorkspace {
  size_t first, bytes;
  explicit WholeInWorkspace(const MatmulProblem& p)
      : first((whole_workspace(p) + 63) / 64 * 64),
        bytes(first + static_cast<size_t>(p.batch * p.m * p.n) * size_of(p.dtype)) {}
};

/// A whole result for an epilogue that knows parts only.
class PartsOfWhole final : public Epilogue {
 public:
  PartsOfWhole(const MatmulProblem& p, const void* c, const Epilogue& epilogue)
      : p_(p), c_(c), epilogue_(epilogue) {}
  bool needs_whole_rows() const override { return epilogue_.needs_whole_rows(); }
  void apply(int64_t first_row, int64_t rows, int64_t first_column,
             int64_t columns) const override {
    epilogue_.apply_to(at(c_, first_row * p_.n + first_column, p_.dtype), p_.n, first_row, rows,
                       first_column, columns);
  }

 private:
  const MatmulProblem& p_;
  const void* c_;
  const Epilogue& epilogue_;
};

bool has_float_parts(const MatmulProblem& p) {
  return has_float_loops(p.dtype) && road_for(p) == Road::own;
}

/// Null: the road that the product takes is not the library's.
std::shared_ptr<const LibraryProducts> products_in_parts(const MatmulProblem& p) {
  if (road_for(p) != Road::library) return nullptr;
  auto products = products_for(p, true);
  return products->complete ? products : nullptr;
}

}  // namespace

size_t product_workspace(const MatmulProblem& p, bool in_parts) {
  if (!in_parts) return whole_workspace(p);
  if (has_float_parts(p)) return float_workspace(p, true);
  const auto products = products_in_parts(p);
  return products ? library_workspace(p, *products) : WholeInWorkspace(p).bytes;
}

void run_product(const MatmulProblem& p, void* c, char* workspace, const Epilogue* epilogue) {
  if (!c) {
    if (has_float_parts(p)) return run_float(p, nullptr, workspace, epilogue);
    if (const auto products = products_in_parts(p)) {
      return run_library(p, *products, nullptr, workspace, epilogue);
    }
    char* whole = workspace + WholeInWorkspace(p).first;
    const PartsOfWhole parts(p, whole, *epilogue);
    return run_product(p, whole, workspace, &parts);
  }
  const Road road = road_for(p);
  if (road == Road::library) {
    const auto products = products_for(p, false);
    if (products->complete) return run_library(p, *products, c, workspace, epilogue);
  }
  if (road == Road::library || road == Road::own) return run_own(p, c, workspace, epilogue);
  if (road == Road::vector) {
    run_vector(p, c);
  } else {
    std::memset(c, 0, static_cast<size_t>(p.batch * p.m * p.n) * size_of(p.dtype));
  }
  if (epilogue) apply_to_all(*epilogue, p.batch * p.m, p.n);
}

namespace {

size_t matmul_workspace(const OpCall& call, std::span<const Shape>) {
  return product_workspace(MatmulProblem(call));
}
size_t matmul_workspace_for_parts(const OpCall& call, std::span<const Shape>) {
  return product_workspace(MatmulProblem(call), true);
}

void matmul_run(KernelContext& k) {
  if (k.output(0).num_elements() == 0) return;
  run_product(MatmulProblem(k.call()), k.out<void>(0), k.workspace<char>());
}

void matmul_with(const OpCall& call, const Shape& output, void* out, char* workspace,
                 const Epilogue& epilogue) {
  if (output.num_elements() == 0) return;
  run_product(MatmulProblem(call), out, workspace, &epilogue);
}

TIDEMARK_KERNEL_OF(cpu, matmul, kNumeric, matmul_run, matmul_workspace);

}  // namespace

constinit const ProductKernel kMatmulProduct = {matmul_with, matmul_workspace,
                                                matmul_workspace_for_parts};

}  // namespace tidemark::cpu
