// Kernels of attention and its gradient: products by a library, and kernels of our own between
// them. Scores exist for some queries at a time, so that memory stays within a bound.

#include <algorithm>

#include "tidemark/kernels/cuda/attention_lines.h"
#include "tidemark/kernels/cuda/emit.h"
#include "tidemark/kernels/cuda/lines.h"

namespace tidemark::cuda {

namespace {

constexpr const char* kText = "attention.h";
constexpr int64_t kMostScores = 64 << 20;  // bytes of all that is kept for each query and key
constexpr int64_t kAlignment = 256;

DType wide_of(DType d) { return d == DType::float64 ? d : DType::float32; }
int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// Items of the batch, or queries of one item, that are computed at once.
struct Chunk {
  int64_t first_item, items, first_query, rows;
};

/// `planes`: matrices of queries and keys that are kept in the wide dtype; where that is another
/// one, as many in the narrow one, which products read.
struct Attention {
  DType narrow, wide;
  int64_t items = 1, queries, keys, depth, value_depth;
  int64_t planes, items_at_once, rows_at_once;

  Attention(const OpCall& call, int64_t kept) : planes(kept) {
    const Shape& q = call.inputs[0].shape();
    narrow = call.inputs[0].dtype();
    wide = wide_of(narrow);
    for (int d = 0; d + 2 < q.rank(); ++d) items *= q[d];
    queries = q.dim(-2);
    depth = q.dim(-1);
    keys = call.inputs[1].dim(-2);
    value_depth = call.inputs[2].dim(-1);
    const int64_t row = keys * planes * bytes_of_a_score();
    const int64_t rows = row == 0 ? queries : std::max<int64_t>(1, kMostScores / row);
    rows_at_once = std::min(queries, rows);
    items_at_once = rows_at_once < queries || queries == 0
                        ? 1
                        : std::clamp<int64_t>(rows / queries, 1, std::max<int64_t>(1, items));
  }

  int64_t bytes_of(DType d) const { return static_cast<int64_t>(size_of(d)); }
  int64_t bytes_of_a_score() const {
    return bytes_of(wide) + (wide == narrow ? 0 : bytes_of(narrow));
  }
  int64_t plane_bytes(DType d) const {
    return aligned(items_at_once * rows_at_once * keys * bytes_of(d));
  }
  /// Of products: the largest is asked for, whichever that is.
  size_t product_workspace() const {
    Product p{};
    p.m = rows_at_once;
    p.n = keys;
    p.k = std::max(depth, value_depth);
    return workspace_of(p);
  }
  size_t workspace() const {
    const int64_t scores = plane_bytes(wide) + (wide == narrow ? 0 : plane_bytes(narrow));
    return product_workspace() + static_cast<size_t>(planes * scores);
  }

  template <class Run>
  void for_each_chunk(Run run) const {
    for (int64_t item = 0; item < items; item += items_at_once) {
      for (int64_t query = 0; query < queries; query += rows_at_once) {
        run(Chunk{item, std::min(items_at_once, items - item), query,
                  std::min(rows_at_once, queries - query)});
      }
    }
  }
};

/// A matrix for each item of a chunk, or some rows of one.
struct Matrices {
  Address start;
  int64_t item;  // elements from one to the next
  bool is_transposed = false;
  Matrices transposed() const { return {start, item, !is_transposed}; }
};

/// One run of either kernel.
class AttentionRun {
 public:
  AttentionRun(KernelContext& k, int64_t planes)
      : k_(k), stream_(cuda_stream_of(k)), sizes_(k.call(), planes) {}

  const Attention& sizes() const { return sizes_; }

  /// The rows of the chunk's queries in a tensor with one for each query.
  Matrices query_rows(const Tensor& t, const Chunk& c, int64_t columns) const {
    return at(t, (c.first_item * sizes_.queries + c.first_query) * columns,
              sizes_.queries * columns);
  }
  Matrices key_rows(const Tensor& t, const Chunk& c, int64_t columns) const {
    return at(t, c.first_item * sizes_.keys * columns, sizes_.keys * columns);
  }
  /// Number `plane` of what is kept for each query of the chunk and each key.
  Matrices wide_plane(int64_t plane, const Chunk& c) const {
    return {planes() + static_cast<Address>(plane * sizes_.plane_bytes(sizes_.wide)),
            c.rows * sizes_.keys};
  }
  Matrices narrow_plane(int64_t plane, const Chunk& c) const {
    if (sizes_.wide == sizes_.narrow) return wide_plane(plane, c);
    return {planes() + static_cast<Address>(sizes_.planes * sizes_.plane_bytes(sizes_.wide) +
                                            plane * sizes_.plane_bytes(sizes_.narrow)),
            c.rows * sizes_.keys};
  }

  /// c[m, n] = a * b for each item of the chunk. Scores are wide.
  void multiply(const Chunk& chunk, Matrices a, Matrices b, Matrices c, int64_t m, int64_t n,
                int64_t inner, bool to_scores, bool adds = false) const {
    if (m * n == 0) return;
    Product p{};
    p.element = element_of(sizes_.narrow);
    p.result = to_scores ? element_of(sizes_.wide) : p.element;
    p.adds = adds;
    p.batch = static_cast<int32_t>(chunk.items);
    p.m = m;
    p.n = n;
    p.k = inner;
    p.a_item = a.item;
    p.b_item = b.item;
    p.transpose_a = a.is_transposed;
    p.transpose_b = b.is_transposed;
    if (inner == 0) {
      const int64_t bytes = sizes_.bytes_of(to_scores ? sizes_.wide : sizes_.narrow);
      if (!adds) stream_.fill_zeros(pointer(c), static_cast<size_t>(chunk.items * m * n * bytes));
      return;
    }
    stream_.tools().products.multiply(
        p, {a.start, b.start, c.start, reinterpret_cast<Address>(k_.workspace()),
            sizes_.product_workspace(), stream_.handle()});
  }

  /// Enqueues a kernel over the chunk's lines, whose arguments end with these.
  void over_lines(const char* name, const Chunk& c, Words arguments) const {
    const int dims = attention_dims(k_.input(0).shape());
    const Lines lines({c.items * c.rows, sizes_.keys}, 1);
    add_word(arguments, attention_lines(k_, c.first_item, c.items, c.first_query, c.rows));
    const DeviceFunction kernel{kText,
                                name,
                                {lines.worker(), stored_type(sizes_.narrow),
                                 computed_type(sizes_.narrow), std::to_string(dims)},
                                message("tm::", name, "_arguments<", dims, ">")};
    lines.run(stream_, kernel, std::move(arguments));
  }

  static void* pointer(const Matrices& m) { return reinterpret_cast<void*>(m.start); }

 private:
  Matrices at(const Tensor& t, int64_t elements, int64_t item) const {
    return {reinterpret_cast<Address>(t.raw_data()) +
                static_cast<Address>(elements * sizes_.bytes_of(t.dtype())),
            item};
  }
  Address planes() const {
    return reinterpret_cast<Address>(k_.workspace()) + sizes_.product_workspace();
  }

  KernelContext& k_;
  CudaStream& stream_;
  const Attention sizes_;
};

void run_attention(KernelContext& k) {
  const AttentionRun run(k, 1);
  const Attention& s = run.sizes();
  s.for_each_chunk([&](const Chunk& c) {
    const Matrices scores = run.wide_plane(0, c), weights = run.narrow_plane(0, c);
    run.multiply(c, run.query_rows(k.input(0), c, s.depth),
                 run.key_rows(k.input(1), c, s.depth).transposed(), scores, c.rows, s.keys, s.depth,
                 true);
    run.over_lines("attention_weights", c,
                   words(run.pointer(scores), run.pointer(weights), k.out<void>(1)));
    run.multiply(c, weights, run.key_rows(k.input(2), c, s.value_depth),
                 run.query_rows(k.output(0), c, s.value_depth), c.rows, s.value_depth, s.keys,
                 false);
  });
}
size_t attention_workspace(const OpCall& call, std::span<const Shape>) {
  return Attention(call, 1).workspace();
}

void run_attention_grad(KernelContext& k) {
  const AttentionRun run(k, 2);
  const Attention& s = run.sizes();
  if (s.queries == 0) {
    for (const int i : {1, 2}) {
      if (k.output(i).nbytes() == 0) continue;
      cuda_stream_of(k).fill_zeros(k.out<void>(i), k.output(i).nbytes());
    }
  }
  const bool has_dlog = k.input(7).rank() > 0;
  s.for_each_chunk([&](const Chunk& c) {
    const Matrices scores = run.wide_plane(0, c), dweights = run.wide_plane(1, c);
    const Matrices weights = run.narrow_plane(0, c), slopes = run.narrow_plane(1, c);
    const Matrices q = run.query_rows(k.input(0), c, s.depth);
    const Matrices key = run.key_rows(k.input(1), c, s.depth);
    const Matrices dy = run.query_rows(k.input(6), c, s.value_depth);
    run.multiply(c, q, key.transposed(), scores, c.rows, s.keys, s.depth, true);
    run.multiply(c, dy, run.key_rows(k.input(2), c, s.value_depth).transposed(), dweights, c.rows,
                 s.keys, s.value_depth, true);
    run.over_lines("attention_slopes", c,
                   words(run.pointer(scores), run.pointer(dweights), run.pointer(weights),
                         run.pointer(slopes), k.in<void>(4), k.in<void>(6), k.in<void>(5),
                         has_dlog ? k.in<void>(7) : nullptr, s.value_depth));
    const bool adds = c.first_query > 0;
    run.multiply(c, slopes, key, run.query_rows(k.output(0), c, s.depth), c.rows, s.depth, s.keys,
                 false);
    run.multiply(c, slopes.transposed(), q, run.key_rows(k.output(1), c, s.depth), s.keys, s.depth,
                 c.rows, false, adds);
    run.multiply(c, weights.transposed(), dy, run.key_rows(k.output(2), c, s.value_depth), s.keys,
                 s.value_depth, c.rows, false, adds);
  });
}
size_t attention_grad_workspace(const OpCall& call, std::span<const Shape>) {
  return Attention(call, 2).workspace();
}

TIDEMARK_KERNEL_OF(cuda, attention, kFloats, run_attention, attention_workspace);
TIDEMARK_KERNEL_OF(cuda, attention_grad, kFloats, run_attention_grad, attention_grad_workspace);

}  // namespace

}  // namespace tidemark::cuda
