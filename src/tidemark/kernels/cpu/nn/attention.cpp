// Kernels of attention and its gradient.

#include <tidemark/kernel.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "tidemark/base/interrupt.h"
#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/elementwise/loops_of_level.h"
#include "tidemark/kernels/cpu/isa/attention_loops.h"
#include "tidemark/kernels/cpu/isa_level.h"

namespace tidemark::cpu {

TIDEMARK_DECLARE_PER_ISA(AttentionTable, attention_table);

const AttentionTable& attention_loops() {
  static const AttentionTable* const table = &TIDEMARK_FOR_LEVEL(attention_table, best_level());
  return *table;
}

namespace {

bool is_half(DType d) { return d == DType::float16 || d == DType::bfloat16; }

/// Half types are computed as floats: copies of one item's matrices, in the worker's workspace.
class FloatCopies {
 public:
  FloatCopies(DType dtype, float* room) : dtype_(dtype), room_(room) {}

  /// Room for a matrix of `rows` rows, of which [begin, end) are read from `from`.
  float* widened(const void* from, int64_t rows, int64_t columns, int64_t begin, int64_t end) {
    float* to = std::exchange(room_, room_ + rows * columns);
    const auto* raw = static_cast<const uint16_t*>(from) + begin * columns;
    const auto convert =
        dtype_ == DType::float16 ? blocks().half_to_float : blocks().bfloat16_to_float;
    convert(to + begin * columns, raw, (end - begin) * columns);
    return to;
  }
  void narrow(const void* from, int64_t columns, int64_t begin, int64_t end, void* to) const {
    const auto convert =
        dtype_ == DType::float16 ? blocks().float_to_half : blocks().float_to_bfloat16;
    convert(static_cast<uint16_t*>(to) + begin * columns,
            static_cast<const float*>(from) + begin * columns, (end - begin) * columns);
  }

 private:
  DType dtype_;
  float* room_;
};

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
  int64_t lane_bytes() const { return std::max<int64_t>(4, bytes()); }
  int64_t block_elements() const { return attention_workspace(depth, value_depth); }
  /// Bytes of a worker's workspace; `copies` of all matrices, where half types need them.
  size_t room(int copies) const {
    const int64_t matrices = (queries + keys) * (depth + value_depth) * copies;
    const int64_t elements = block_elements() + (is_half(dtype) ? matrices : 0);
    return static_cast<size_t>((elements * lane_bytes() + 63) / 64 * 64);
  }
  /// Fixed for the process, so that the workspace asked for and the workspace used agree. Where
  /// each needs much (copies of half types), fewer work: a core brings kMostRoom at most.
  int64_t workers(int64_t tasks, size_t room) const {
    constexpr int64_t kMostRoom = 512 << 10;
    static const int64_t cores = std::max(1u, std::thread::hardware_concurrency());
    const int64_t fitting = cores * kMostRoom / static_cast<int64_t>(room);
    return std::min({cores, tasks, std::max<int64_t>(2, fitting)});
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
  void run(int64_t tasks, char* workspace, size_t room, Task task) const {
    std::atomic<int64_t> next{0};
    parallel_for(workers(tasks, room), 1, [&](int64_t begin, int64_t end) {
      for (int64_t worker = begin; worker < end; ++worker) {
        for (int64_t i = next++; i < tasks; i = next++) {
          check_interrupt();
          task(i, workspace + static_cast<size_t>(worker) * room);
        }
      }
    });
  }
};

const AttentionLoops& loops_for(DType d) {
  return attention_loops().loops[static_cast<int>(is_half(d) ? DType::float32 : d)];
}

void forward_block(const Problem& p, AttentionItem& t) {
  const AttentionLoops& loops = loops_for(p.dtype);
  if (!is_half(p.dtype)) return loops.forward(t);
  FloatCopies copies(p.dtype, static_cast<float*>(t.workspace) + p.block_elements());
  void* y = t.y;
  t.query = copies.widened(t.query, t.queries, t.depth, t.begin, t.end);
  t.key = copies.widened(t.key, t.keys, t.depth, 0, t.keys);
  t.value = copies.widened(t.value, t.keys, t.value_depth, 0, t.keys);
  t.y = copies.widened(y, t.queries, t.value_depth, 0, 0);
  loops.forward(t);
  copies.narrow(t.y, t.value_depth, t.begin, t.end, y);
}

void attention_run(KernelContext& k) {
  const Problem p(k.call());
  p.run(p.items * p.blocks, k.workspace<char>(), p.room(1), [&](int64_t i, void* workspace) {
    AttentionItem t = p.item(i / p.blocks);
    t.begin = i % p.blocks * kAttentionQueries;
    t.end = std::min(p.queries, t.begin + kAttentionQueries);
    t.y = k.out<char>(0) + i / p.blocks * p.queries * p.value_depth * p.bytes();
    t.lse = k.out<char>(1) + i / p.blocks * p.queries * p.lane_bytes();
    t.workspace = workspace;
    forward_block(p, t);
  });
}

size_t attention_workspace_bytes(const OpCall& call, std::span<const Shape>) {
  const Problem p(call);
  return p.room(1) * static_cast<size_t>(p.workers(p.items * p.blocks, p.room(1)));
}

/// Key block by key block, between which the work can be stopped.
void backward_blocks(const AttentionLoops& loops, AttentionItem& t) {
  t.begin = 0;
  do {
    t.end = std::min(t.keys, t.begin + kAttentionKeys);
    loops.backward(t);
    check_interrupt();
    t.begin = t.end;
  } while (t.begin < t.keys);
}

void backward_item(const Problem& p, AttentionItem& t) {
  const AttentionLoops& loops = loops_for(p.dtype);
  if (!is_half(p.dtype)) return backward_blocks(loops, t);
  FloatCopies copies(p.dtype, static_cast<float*>(t.workspace) + p.block_elements());
  void *dquery = t.dquery, *dkey = t.dkey, *dvalue = t.dvalue;
  t.query = copies.widened(t.query, t.queries, t.depth, 0, t.queries);
  t.key = copies.widened(t.key, t.keys, t.depth, 0, t.keys);
  t.value = copies.widened(t.value, t.keys, t.value_depth, 0, t.keys);
  t.y = copies.widened(t.y, t.queries, t.value_depth, 0, t.queries);
  t.dy = copies.widened(t.dy, t.queries, t.value_depth, 0, t.queries);
  t.dquery = copies.widened(dquery, t.queries, t.depth, 0, 0);
  t.dkey = copies.widened(dkey, t.keys, t.depth, 0, 0);
  t.dvalue = copies.widened(dvalue, t.keys, t.value_depth, 0, 0);
  backward_blocks(loops, t);
  copies.narrow(t.dquery, t.depth, 0, t.queries, dquery);
  copies.narrow(t.dkey, t.depth, 0, t.keys, dkey);
  copies.narrow(t.dvalue, t.value_depth, 0, t.keys, dvalue);
}

void attention_grad_run(KernelContext& k) {
  const Problem p(k.call());
  p.run(p.items, k.workspace<char>(), p.room(2), [&](int64_t i, void* workspace) {
    AttentionItem t = p.item(i);
    const int64_t rows = i * p.queries * p.bytes(), columns = i * p.keys * p.bytes();
    t.y = const_cast<char*>(k.in<char>(4)) + rows * p.value_depth;
    t.lse = const_cast<char*>(k.in<char>(5)) + i * p.queries * p.lane_bytes();
    t.dy = k.in<char>(6) + rows * p.value_depth;
    if (k.input(7).rank() > 0) t.dlse = k.in<char>(7) + i * p.queries * p.lane_bytes();
    t.dquery = k.out<char>(0) + rows * p.depth;
    t.dkey = k.out<char>(1) + columns * p.depth;
    t.dvalue = k.out<char>(2) + columns * p.value_depth;
    t.workspace = workspace;
    backward_item(p, t);
  });
}

size_t attention_grad_workspace_bytes(const OpCall& call, std::span<const Shape>) {
  const Problem p(call);
  return p.room(2) * static_cast<size_t>(p.workers(p.items, p.room(2)));
}

TIDEMARK_KERNEL_OF(cpu, attention, kFloats, attention_run, attention_workspace_bytes);
TIDEMARK_KERNEL_OF(cpu, attention_grad, kFloats, attention_grad_run,
                   attention_grad_workspace_bytes);

}  // namespace

}  // namespace tidemark::cpu
