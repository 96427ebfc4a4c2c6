#include "tidemark/kernels/cpu/matmul/matmul_float.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/isa/product_loops.h"
#include "tidemark/kernels/cpu/isa_level.h"

namespace tidemark::cpu {

TIDEMARK_DECLARE_PER_ISA(ProductTable, product_table);

namespace {

constexpr int64_t kTwoTilesMacs = 200 << 10;  // from here on two threads are faster than one
constexpr int64_t kTileMacs = 2 << 20;        // larger products: tiles of about this much
constexpr int64_t kTilesPerCore = 4;          // at most; they even out what threads take
constexpr int64_t kTogetherMacs = 1 << 17;    // smaller tiles are taken several at once
constexpr int64_t kBriefMacs = 1 << 20;       // below this no sleeping thread is woken
constexpr int64_t kDepthBytes = 2 << 10;      // of a row of A between two visits of C
constexpr int64_t kSlabBytes = 512;           // of a row of B that is kept in the second cache
constexpr int64_t kPartRows = 128;            // of a part of a C that has no place
constexpr int64_t kStackBytes = 32 << 10;     // a slab up to this lies on the stack
constexpr int64_t kMostCounted = 64;          // rows of tiles whose finished tiles are counted

const ProductLoops& loops_for(DType dtype) {
  static const ProductTable* const table = &TIDEMARK_FOR_LEVEL(product_table, best_level());
  return dtype == DType::float32 ? table->of_float : table->of_double;
}

int64_t cores() {
  static const int64_t count = std::max(1u, std::thread::hardware_concurrency());
  return count;
}

int64_t round_up(int64_t a, int64_t b) { return divide_up(a, b) * b; }

/// How a product is cut: C in tiles that threads take, a tile in slabs of columns, these in steps
/// of depth.
struct Cut {
  int64_t rows, columns;  // of a tile; the last ones are smaller
  int64_t down = 1, across = 1;
  int64_t slab_columns, depth, steps;
  bool packs;
  int64_t slab_bytes = 0;
  int64_t part_bytes = 0;  // where C has no place: of a slab of a tile

  Cut(const MatmulProblem& p, const ProductLoops& loops, bool in_parts) : rows(p.m), columns(p.n) {
    const auto size = static_cast<int64_t>(size_of(p.dtype));
    packs = p.b.column_stride != 1 || p.m >= loops.packing_rows;
    divide(p, loops);
    if (in_parts && rows > kPartRows) {
      rows = divide_up(p.m, divide_up(p.m, kPartRows));
      down = divide_up(p.m, rows);
    }
    steps = divide_up(p.k, kDepthBytes / size);
    depth = divide_up(p.k, steps);
    const int64_t slabs = divide_up(columns, kSlabBytes / size);
    slab_columns = round_up(divide_up(columns, slabs), loops.panel_columns);
    if (packs) {
      const int64_t lanes = round_up(std::min(slab_columns, columns), loops.lanes);
      slab_bytes = round_up(depth * lanes * size, 64);
    }
    if (in_parts) part_bytes = round_up(rows * slab_columns * size, 64);
  }

  int64_t count() const { return down * across; }
  int64_t workers(const MatmulProblem& p) const { return std::min(cores(), p.batch * count()); }
  bool on_stack() const { return slab_bytes <= kStackBytes; }
  int64_t worker_bytes() const { return part_bytes + (on_stack() ? 0 : slab_bytes); }

 private:
  void divide(const MatmulProblem& p, const ProductLoops& loops) {
    const int64_t macs = p.batch * p.macs();
    if (macs < kTwoTilesMacs) return;
    const int64_t wanted = std::clamp<int64_t>(macs / kTileMacs, 2, kTilesPerCore * cores());
    const int64_t for_item = divide_up(wanted, p.batch);
    while (down * across < for_item) {
      const bool has_rows = rows >= 4 * loops.panel_rows;
      const bool has_columns = columns >= 2 * loops.panel_columns;
      // Epilogues like whole rows; but each row of tiles reads B anew, or packs it.
      const bool prefers_columns = rows < (packs ? 512 : 256);
      if (has_columns && (prefers_columns || !has_rows)) {
        across *= 2;
        columns = round_up(divide_up(p.n, across), loops.panel_columns);
      } else if (has_rows) {
        down *= 2;
        rows = divide_up(p.m, down);
      } else {
        break;
      }
    }
    down = divide_up(p.m, rows);
    across = divide_up(p.n, columns);
  }
};

/// A tile of one item.
struct Place {
  int64_t item, first_row, rows, first_column, columns;
  Place(const MatmulProblem& p, const Cut& cut, int64_t tile) : item(tile / cut.count()) {
    first_row = tile % cut.count() / cut.across * cut.rows;
    rows = std::min(cut.rows, p.m - first_row);
    first_column = tile % cut.across * cut.columns;
    columns = std::min(cut.columns, p.n - first_column);
  }
};

class Run {
 public:
  Run(const MatmulProblem& problem, const Cut& cut, void* out, const Epilogue* after)
      : p_(problem), cut_(cut), loops_(loops_for(problem.dtype)), c_(out), epilogue_(after) {
    if (!epilogue_ || !c_) return;
    if (cut.across == 1 || !epilogue_->needs_whole_rows()) {
      when_ = When::tiles;
    } else {
      when_ = p_.batch * cut.down <= kMostCounted ? When::rows_of_tiles : When::end;
    }
  }

  void on_all_threads(char* workspace) {
    const int64_t tiles = p_.batch * cut_.count();
    const int64_t together = std::max<int64_t>(1, kTogetherMacs * cut_.count() / p_.macs());
    std::atomic<int64_t> next{0};
    const auto work = [&](int64_t worker) {
      alignas(64) char stack[kStackBytes];
      char* part = workspace + worker * cut_.worker_bytes();
      char* slab = cut_.on_stack() ? stack : part + cut_.part_bytes;
      for (;;) {
        const int64_t begin = next.fetch_add(together, std::memory_order_relaxed);
        if (begin >= tiles) return;
        for (int64_t t = begin; t < std::min(tiles, begin + together); ++t) {
          one_tile(Place(p_, cut_, t), part, slab);
        }
      }
    };
    parallel_for(
        std::min(cut_.workers(p_), divide_up(tiles, together)), 1,
        [&](int64_t begin, int64_t end) {
          for (int64_t worker = begin; worker < end; ++worker) work(worker);
        },
        p_.batch * p_.macs() < kBriefMacs ? Work::brief : Work::normal);
    if (when_ == When::end) apply_to_all(*epilogue_, p_.batch * p_.m, p_.n);
  }

 private:
  /// Parts of C that are complete before the epilogue gets them.
  enum class When { never, tiles, rows_of_tiles, end };

  void one_tile(const Place& place, char* memory, char* slab) {
    for (int64_t c = 0; c < place.columns; c += cut_.slab_columns) {
      Place part = place;
      part.first_column += c;
      part.columns = std::min(cut_.slab_columns, place.columns - c);
      for (int64_t step = 0; step < cut_.steps; ++step) one_step(part, step, memory, slab);
      if (!c_) {
        epilogue_->apply_to(memory, cut_.slab_columns, part.item * p_.m + part.first_row, part.rows,
                            part.first_column, part.columns);
      }
    }
    const int64_t row = place.item * p_.m + place.first_row;
    if (when_ == When::tiles) {
      epilogue_->apply(row, place.rows, place.first_column, place.columns);
    } else if (when_ == When::rows_of_tiles && is_last_of_row(place)) {
      epilogue_->apply(row, place.rows, 0, p_.n);
    }
  }

  bool is_last_of_row(const Place& place) {
    std::atomic<int64_t>& finished =
        finished_[place.item * cut_.down + place.first_row / cut_.rows];
    return finished.fetch_add(1, std::memory_order_acq_rel) + 1 == cut_.across;
  }

  void one_step(const Place& at_place, int64_t step, char* memory, char* slab) {
    const int64_t k = step * cut_.depth, depth = std::min(cut_.depth, p_.k - k);
    const int64_t column = at_place.first_column;
    const char* b = at(
        p_.b.data, p_.b_offset(at_place.item) + k * p_.b.row_stride + column * p_.b.column_stride,
        p_.dtype);
    if (cut_.packs) {
      const MatrixView view{b, depth, at_place.columns, p_.b.row_stride, p_.b.column_stride};
      loops_.pack(view, slab);
      b = slab;
    }
    const int64_t row = at_place.first_row;
    loops_.multiply(
        {at_place.rows, at_place.columns, depth,
         at(p_.a.data, p_.a_offset(at_place.item) + row * p_.a.row_stride + k * p_.a.column_stride,
            p_.dtype),
         p_.a.row_stride, p_.a.column_stride, b, p_.b.row_stride,
         (p_.k - k - 1) * p_.b.row_stride + p_.n - column, cut_.packs,
         c_ ? at(c_, (at_place.item * p_.m + row) * p_.n + column, p_.dtype) : memory,
         c_ ? p_.n : cut_.slab_columns, step > 0});
  }

  const MatmulProblem& p_;
  const Cut& cut_;
  const ProductLoops& loops_;
  void* c_;
  const Epilogue* epilogue_;
  When when_ = When::never;
  std::atomic<int64_t> finished_[kMostCounted] = {};
};

}  // namespace

size_t float_workspace(const MatmulProblem& p, bool in_parts) {
  const Cut cut(p, loops_for(p.dtype), in_parts);
  return static_cast<size_t>(cut.worker_bytes() * cut.workers(p));
}

void run_float(const MatmulProblem& p, void* c, char* workspace, const Epilogue* epilogue) {
  const Cut cut(p, loops_for(p.dtype), c == nullptr);
  Run(p, cut, c, epilogue).on_all_threads(workspace);
}

}  // namespace tidemark::cpu
