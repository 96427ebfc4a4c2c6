#include "tidemark/kernels/cpu/reduce/reduce_run.h"

#include <algorithm>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/isa_level.h"

namespace tidemark::cpu {

TIDEMARK_DECLARE_PER_ISA(ReduceLoops, reduce_table);

const ReduceLoops& reduce_loops() {
  static const ReduceLoops* const table = &TIDEMARK_FOR_LEVEL(reduce_table, best_level());
  return *table;
}

namespace {

constexpr int64_t kGrainElements = 64 << 10;
constexpr int64_t kSplitElements = 256 << 10;  // below this nothing is split
constexpr int64_t kFewTasks = 32;
constexpr int64_t kManyTasks = 64;
constexpr int64_t kCellBlock = 256;
constexpr int64_t kRowPieceMultiple = 8192;
constexpr int64_t kMaxAccBytes = 16;

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Results are computed in tasks: a cell (row form) or up to kMaxColumns of its columns.
struct Tasks {
  int64_t chunk = 1;   // results a task
  int64_t chunks = 1;  // a cell
  int64_t count = 0;
  int64_t elements_each = 0;
  int64_t splits = 1;  // of the reduced elements of each task

  explicit Tasks(const ReducePlan& plan) {
    if (plan.columns()) {
      chunk = std::min(plan.inner(), kMaxColumns);
      chunks = chunk ? divide_up(plan.inner(), chunk) : 0;
    }
    count = plan.kept().count * chunks;
    elements_each = chunk * plan.elements_per_output();
    if (plan.elements() < kSplitElements || count >= kFewTasks || count == 0) return;
    splits = std::min(divide_up(kManyTasks, count), divide_up(elements_each, kGrainElements));
  }
  int64_t grain() const {
    return std::max<int64_t>(1, kGrainElements / std::max<int64_t>(1, elements_each));
  }
};

class Run {
 public:
  Run(const ReducePlan& plan, const Reducer& reducer, const void* x, const void* params)
      : plan_(plan),
        reducer_(reducer),
        tasks_(plan),
        x_(static_cast<const char*>(x)),
        params_(static_cast<const char*>(params)) {}

  void whole(ReduceFinish finish) const {
    if (plan_.columns()) {
      parallel_for(tasks_.count, tasks_.grain(), [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) whole_columns(task, finish);
      });
    } else {
      parallel_for(tasks_.count, tasks_.grain(), [&](int64_t begin, int64_t end) {
        for (int64_t cell = begin; cell < end; cell += kCellBlock) {
          whole_rows(cell, std::min(end, cell + kCellBlock), finish);
        }
      });
    }
  }

  void split(char* workspace, ReduceFinish finish) const {
    const int64_t outputs = plan_.outputs();
    const int64_t bytes = outputs * reducer_.acc_bytes;
    reducer_.start(workspace, outputs * tasks_.splits);
    parallel_for(tasks_.count * tasks_.splits, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t task = i / tasks_.splits, split = i % tasks_.splits;
        char* acc = workspace + split * bytes;
        if (plan_.columns()) {
          split_columns(task, split, acc);
        } else {
          split_rows(task, split, acc + task * reducer_.acc_bytes);
        }
      }
    });
    for (int64_t s = 1; s < tasks_.splits; ++s) {
      reducer_.join(workspace, workspace + s * bytes, outputs);
    }
    finish.fn(finish.context, 0, outputs, workspace);
  }

  bool needs_split() const { return tasks_.splits > 1; }

 private:
  const char* element(int64_t offset) const { return x_ + offset * reducer_.element_bytes; }
  const char* param(int64_t output) const {
    return params_ ? params_ + output * reducer_.lane_bytes : nullptr;
  }

  void whole_rows(int64_t begin, int64_t end, ReduceFinish finish) const {
    alignas(64) char acc[kCellBlock * kMaxAccBytes];
    reducer_.start(acc, end - begin);
    const LoopNest& kept = plan_.kept();
    const LoopNest& reduced = plan_.reduced();
    for (int64_t cell = begin; cell < end;) {
      const int64_t run = std::min(end - cell, kept.run_from(cell));
      const int64_t base = kept.offset(cell);
      for (int64_t r = 0; r < reduced.count; ++r) {
        reducer_.loops.rows(element(base + reduced.offset(r)), run, kept.step(), plan_.inner(),
                            param(cell), acc + (cell - begin) * reducer_.acc_bytes);
      }
      cell += run;
    }
    finish.fn(finish.context, begin, end - begin, acc);
  }

  /// Rows [begin, end) of the reduced dimensions, into `width` columns from `first` on.
  void take_columns(int64_t base, int64_t begin, int64_t end, int64_t width, const char* params,
                    char* acc) const {
    const LoopNest& reduced = plan_.reduced();
    for (int64_t r = begin; r < end;) {
      const int64_t run = std::min(end - r, reduced.run_from(r));
      reducer_.loops.columns(element(base + reduced.offset(r)), run, reduced.step(), width, params,
                             acc);
      r += run;
    }
  }

  struct Columns {
    int64_t base, first, width;  // offset of the first element; first result; results
  };
  Columns columns_of(int64_t task) const {
    const int64_t cell = task / tasks_.chunks;
    const int64_t begin = task % tasks_.chunks * tasks_.chunk;
    return {plan_.kept().offset(cell) + begin, cell * plan_.inner() + begin,
            std::min(tasks_.chunk, plan_.inner() - begin)};
  }

  void whole_columns(int64_t task, ReduceFinish finish) const {
    alignas(64) char acc[kMaxColumns * kMaxAccBytes];
    const Columns c = columns_of(task);
    reducer_.start(acc, c.width);
    take_columns(c.base, 0, plan_.reduced().count, c.width, param(c.first), acc);
    finish.fn(finish.context, c.first, c.width, acc);
  }

  void split_columns(int64_t task, int64_t split, char* acc) const {
    const Columns c = columns_of(task);
    const int64_t rows = plan_.reduced().count;
    take_columns(c.base, split * rows / tasks_.splits, (split + 1) * rows / tasks_.splits, c.width,
                 param(c.first), acc + c.first * reducer_.acc_bytes);
  }

  void split_rows(int64_t cell, int64_t split, char* acc) const {
    const LoopNest& reduced = plan_.reduced();
    int64_t piece = plan_.inner();
    if (reduced.count < tasks_.splits) {
      const int64_t wanted = divide_up(piece, divide_up(tasks_.splits, reduced.count));
      piece = divide_up(wanted, kRowPieceMultiple) * kRowPieceMultiple;
    }
    const int64_t pieces = divide_up(plan_.inner(), piece);
    const int64_t units = reduced.count * pieces;
    const int64_t base = plan_.kept().offset(cell);
    for (int64_t u = split * units / tasks_.splits; u < (split + 1) * units / tasks_.splits; ++u) {
      const int64_t begin = u % pieces * piece;
      reducer_.loops.rows(element(base + reduced.offset(u / pieces) + begin), 1, 0,
                          std::min(piece, plan_.inner() - begin), param(cell), acc);
    }
  }

  const ReducePlan& plan_;
  const Reducer& reducer_;
  const Tasks tasks_;
  const char* x_;
  const char* params_;
};

}  // namespace

size_t reduction_workspace(const ReducePlan& plan, int64_t acc_bytes) {
  const Tasks tasks(plan);
  if (tasks.splits == 1) return 0;
  return static_cast<size_t>(tasks.splits * plan.outputs() * acc_bytes);
}

void run_reduction(const ReducePlan& plan, const Reducer& reducer, const void* x,
                   const void* params, void* workspace, ReduceFinish finish) {
  if (plan.outputs() == 0) return;
  const Run run(plan, reducer, x, params);
  if (run.needs_split()) {
    run.split(static_cast<char*>(workspace), finish);
  } else {
    run.whole(finish);
  }
}

}  // namespace tidemark::cpu
