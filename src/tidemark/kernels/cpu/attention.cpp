// Kernels of attention and its gradient.

#include <tidemark/kernel.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/isa/attention_loops.h"
#include "tidemark/kernels/cpu/isa_level.h"

namespace tidemark::cpu {

TIDEMARK_DECLARE_PER_ISA(AttentionTable, attention_table);

const AttentionTable& attention_loops() {
  static const AttentionTable* const table = &TIDEMARK_FOR_LEVEL(attention_table, best_level());
  return *table;
}

namespace {

struct Problem {
  const OpCall& call;
  DType dtype;
  int64_t items = 1, queries, keys, depth, value_depth, blocks;

  explicit Problem(const OpCall& c) : call(c), dtype(c.inputs[0].dtype()) {
    const Shape& q = c.inputs[0].shape();
    for (int d = 0; d + 2 < q.rank(); ++d) items *= q[d];
    queries = q.dim(-2);
    depth = q.dim(-1);
    keys = c.inputs[1].dim(-2);
    value_depth = c.inputs[2].dim(-1);
    blocks = (queries + kAttentionQueries - 1) / kAttentionQueries;
  }

  int64_t bytes() const { return static_cast<int64_t>(size_of(dtype)); }
  size_t room() const {
    return static_cast<size_t>((attention_workspace(depth, value_depth) * bytes() + 63) / 64 * 64);
  }
  /// Fixed for the process, so that the workspace asked for and the workspace used agree.
  int64_t workers(int64_t tasks) const {
    static const int64_t cores = std::max(1u, std::thread::hardware_concurrency());
    return std::min(cores, tasks);
  }

  /// Everything but the results of one item of the batch.
  AttentionItem item(int64_t index) const {
    AttentionItem t{};
    const auto at = [&](int input, int64_t elements) {
      return static_cast<const char*>(call.inputs[static_cast<size_t>(input)].raw_data()) +
             index * elements * bytes();
    };
    t.query = at(0, queries * depth);
    t.key = at(1, keys * depth);
    t.value = at(2, keys * value_depth);
    t.queries = queries;
    t.keys = keys;
    t.depth = depth;
    t.value_depth = value_depth;
    t.scale = call.attr("scale").as_real();
    t.causal = call.attr("causal").as_bool();
    place_mask(t, index);
    return t;
  }

  void place_mask(AttentionItem& t, int64_t index) const {
    const Tensor& mask = call.inputs[3];
    if (mask.rank() == 0) return;
    const Shape& q = call.inputs[0].shape();
    int64_t stride = mask.dim(-2) * mask.dim(-1), offset = 0;
    for (int d = q.rank() - 3; d >= 0; --d) {
      if (mask.dim(d) > 1) offset += index % q[d] * stride;
      stride *= mask.dim(d);
      index /= q[d];
    }
    t.mask = mask.data<bool>() + offset;
    t.mask_row = mask.dim(-2) > 1 ? mask.dim(-1) : 0;
    t.mask_column = mask.dim(-1) > 1 ? 1 : 0;
  }

  /// Tasks in any order, each worker with a workspace of its own.
  template <class Task>
  void run(int64_t tasks, char* workspace, Task task) const {
    std::atomic<int64_t> next{0};
    parallel_for(workers(tasks), 1, [&](int64_t begin, int64_t end) {
      for (int64_t worker = begin; worker < end; ++worker) {
        for (int64_t i = next++; i < tasks; i = next++) {
          task(i, workspace + static_cast<size_t>(worker) * room());
        }
      }
    });
  }
};

const AttentionLoops& loops_for(DType d) { return attention_loops().loops[static_cast<int>(d)]; }

void attention_run(KernelContext& k) {
  const Problem p(k.call());
  const AttentionLoops& loops = loops_for(p.dtype);
  p.run(p.items * p.blocks, k.workspace<char>(), [&](int64_t i, void* workspace) {
    AttentionItem t = p.item(i / p.blocks);
    t.begin = i % p.blocks * kAttentionQueries;
    t.end = std::min(p.queries, t.begin + kAttentionQueries);
    t.y = k.out<char>(0) + i / p.blocks * p.queries * p.value_depth * p.bytes();
    t.lse = k.out<char>(1) + i / p.blocks * p.queries * p.bytes();
    t.workspace = workspace;
    loops.forward(t);
  });
}

size_t attention_workspace_bytes(const OpCall& call, std::span<const Shape>) {
  const Problem p(call);
  return p.room() * static_cast<size_t>(p.workers(p.items * p.blocks));
}

void attention_grad_run(KernelContext& k) {
  const Problem p(k.call());
  const AttentionLoops& loops = loops_for(p.dtype);
  p.run(p.items, k.workspace<char>(), [&](int64_t i, void* workspace) {
    AttentionItem t = p.item(i);
    const int64_t rows = i * p.queries * p.bytes(), columns = i * p.keys * p.bytes();
    t.y = const_cast<char*>(k.in<char>(4)) + rows * p.value_depth;
    t.lse = const_cast<char*>(k.in<char>(5)) + rows;
    t.dy = k.in<char>(6) + rows * p.value_depth;
    if (k.input(7).rank() > 0) t.dlse = k.in<char>(7) + rows;
    t.dquery = k.out<char>(0) + rows * p.depth;
    t.dkey = k.out<char>(1) + columns * p.depth;
    t.dvalue = k.out<char>(2) + columns * p.value_depth;
    t.workspace = workspace;
    loops.backward(t);
  });
}

size_t attention_grad_workspace_bytes(const OpCall& call, std::span<const Shape>) {
  const Problem p(call);
  return p.room() * static_cast<size_t>(p.workers(p.items));
}

constexpr DTypeSet kAttended = dtype_set(DType::float32, DType::float64);
TIDEMARK_KERNEL(attention, kAttended, attention_run, attention_workspace_bytes);
TIDEMARK_KERNEL(attention_grad, kAttended, attention_grad_run, attention_grad_workspace_bytes);

}  // namespace

}  // namespace tidemark::cpu
