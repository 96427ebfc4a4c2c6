// Operators that move elements, or say where they are.
#include <algorithm>
#include <limits>

#include "tidemark/io/tflite/ops.h"

namespace tidemark::io::tflite {

using namespace onnx;

namespace {

Tensor pass(const Call& c) { return c.in(0); }

Tensor reshape_node(const Call& c) {
  if (c.has(1)) return reshape(c.in(0), c.in(1));
  const std::optional<Ints> wanted = c.integers("new_shape");
  return reshaped(c.in(0), wanted ? *wanted : c.integers("out_shape", {}));
}

Tensor squeeze_node(const Call& c) {
  const Ints axes = c.integers("squeeze_dims", {});
  return axes.empty() ? squeeze(c.in(0)) : squeeze(c.in(0), axes);
}

Tensor gather_node(const Call& c) {
  return gather(c.in(0), c.in(1), std::nullopt, c.integer("axis", 0), c.integer("batch_dims", 0));
}

Tensor slice_node(const Call& c) { return slice(c.in(0), c.in(1), c.in(2)); }

Tensor strided(const Call& c) {
  const Tensor end = c.integer("offset", 0) ? c.in(1) + c.in(2) : c.in(2);
  return strided_slice(c.in(0), c.in(1), end, c.in(3), c.integer("begin_mask", 0),
                       c.integer("end_mask", 0), c.integer("ellipsis_mask", 0),
                       c.integer("new_axis_mask", 0), c.integer("shrink_axis_mask", 0));
}

Values values_of(const std::vector<Tensor>& tensors) { return {tensors.begin(), tensors.end()}; }

int64_t count_of(const Call& c, std::string_view name) {
  const auto count = c.integer(name, static_cast<int64_t>(c.num_outputs()));
  if (count < 1 || count != static_cast<int64_t>(c.num_outputs())) {
    c.fail("says that it has ", count, " outputs; it has ", c.num_outputs());
  }
  return count;
}

Values split_node(const Call& c) {
  return values_of(split(c.in(1), count_of(c, "num_splits"), c.known_integer(0)));
}

Values split_sizes(const Call& c) {
  const int64_t count = count_of(c, "num_splits"), axis = c.known_integer(2);
  Ints sizes = c.ints(1);
  if (static_cast<int64_t>(sizes.size()) != count) c.fail("has sizes for ", sizes.size(), " parts");
  const auto rest = std::ranges::find(sizes, -1);
  if (rest != sizes.end()) {
    int64_t others = 0;
    for (const int64_t size : sizes) others += std::max<int64_t>(size, 0);
    *rest = known_dim(c.in(0), static_cast<int>(axis)) - others;
  }
  return values_of(split(c.in(0), count, axis, sizes));
}

Tensor pack(const Call& c) { return stack(c.tensors(), c.integer("axis", 0)); }
Values unpack(const Call& c) {
  return values_of(unstack(c.in(0), count_of(c, "num"), c.integer("axis", 0)));
}
Tensor concatenated(const Call& c) {
  return activated(c, concat(c.tensors(), c.integer("axis", 0)));
}

Tensor padded_node(const Call& c) {
  const Tensor& x = c.in(0);
  return pad(x, c.in(1), "CONSTANT", c.has(2) ? c.in(2) : number(0, x));
}
Tensor mirrored(const Call& c) {
  const Tensor& x = c.in(0);
  return pad(x, c.in(1), c.integer("mode", 0) ? "SYMMETRIC" : "REFLECT", number(0, x));
}

Tensor shape_node(const Call& c) { return as(shape_of(c.in(0)), output_dtype(c)); }
Tensor rank_node(const Call& c) { return Tensor(int32_t{rank_of(c.in(0))}); }
Tensor tile_node(const Call& c) { return tile(c.in(0), c.in(1)); }
Tensor fill_node(const Call& c) { return fill(c.in(0), c.in(1)); }
Tensor range_node(const Call& c) { return range(c.in(0), c.in(1), c.in(2)); }
Tensor zeros_node(const Call& c) { return zeros_like(c.in(0)); }
Tensor expand(const Call& c) { return expand_dims(c.in(0), c.known_integer(1)); }
Tensor broadcast(const Call& c) { return broadcast_to(c.in(0), c.in(1)); }
Tensor transpose_node(const Call& c) { return transposed(c.in(0), c.ints(1)); }
Tensor reverse_node(const Call& c) { return reverse(c.in(0), c.ints(1)); }
Tensor gather_many(const Call& c) { return gather_nd(c.in(0), c.in(1)); }
Tensor scatter(const Call& c) { return scatter_nd(c.in(0), c.in(1), c.in(2)); }

Tensor reversed_sequences(const Call& c) {
  return reverse_sequence(c.in(0), c.in(1), c.integer("seq_dim", 0), c.integer("batch_dim", 0));
}

Tensor one_hot_node(const Call& c) {
  return one_hot(c.in(0), c.in(1), c.in(2), c.in(3), c.integer("axis", -1));
}

Values top(const Call& c) { return values_of(top_k(c.in(0), c.in(1))); }
Values unique_node(const Call& c) { return values_of(unique(c.in(0))); }
Tensor where(const Call& c) { return nonzero(as(c.in(0), DType::bool_)); }

/// A condition of one dimension picks rows.
Tensor select_node(const Call& c) {
  Tensor condition = c.in(0);
  const int rank = rank_of(c.in(1));
  if (rank_of(condition) == 1 && rank > 1) condition = per_channel(condition, rank, 0);
  return select(condition, c.in(1), c.in(2));
}
Tensor select_broadcast(const Call& c) { return select(c.in(0), c.in(1), c.in(2)); }

/// Two shapes, as what both broadcast to.
Tensor broadcast_args(const Call& c) {
  const Ints one = c.ints(0), other = c.ints(1);
  Ints out(std::max(one.size(), other.size()), 1);
  for (size_t i = 0; i < out.size(); ++i) {
    const auto size = [&](const Ints& from) {
      return i < from.size() ? from[from.size() - 1 - i] : 1;
    };
    out[out.size() - 1 - i] = size(one) == 1 ? size(other) : size(one);
  }
  return as(vector_of(out), c.in(0).dtype());
}

int64_t block_of(const Call& c) {
  const int64_t block = c.integer("block_size", 0);
  if (block < 1 || block > 1 << 15) c.fail("has blocks of ", block);
  return block;
}

Tensor depth_to_space(const Call& c) {
  const Tensor& x = c.in(0);
  const int64_t b = block_of(c), h = known_dim(x, 1), w = known_dim(x, 2);
  const int64_t depth = known_dim(x, 3) / (b * b);
  if (depth * b * b != known_dim(x, 3)) c.fail("has a depth that is no multiple of its blocks");
  const Tensor parts = reshaped(x, {-1, h, w, b, b, depth});
  return reshaped(transposed(parts, {0, 1, 3, 2, 4, 5}), {-1, h * b, w * b, depth});
}

Tensor space_to_depth(const Call& c) {
  const Tensor& x = c.in(0);
  const int64_t b = block_of(c), d = known_dim(x, 3);
  const int64_t h = known_dim(x, 1) / b, w = known_dim(x, 2) / b;
  if (h * b != known_dim(x, 1) || w * b != known_dim(x, 2)) {
    c.fail("has sizes that are no multiple of its blocks");
  }
  const Tensor parts = reshaped(x, {-1, h, b, w, b, d});
  return reshaped(transposed(parts, {0, 1, 3, 2, 4, 5}), {-1, h, w, b * b * d});
}

struct Blocks {
  Ints sizes, edges;  // of the spatial dimensions; before and after of each
};

Blocks blocks_of(const Call& c) {
  Blocks out{c.ints(1), c.ints(2)};
  const size_t n = out.sizes.size();
  const bool is_wrong =
      out.edges.size() != 2 * n || static_cast<int>(n) >= rank_of(c.in(0)) ||
      std::ranges::any_of(out.sizes, [](int64_t b) { return b < 1 || b > 1 << 15; }) ||
      std::ranges::any_of(out.edges, [](int64_t e) { return e < 0 || e > 1 << 30; });
  if (is_wrong) c.fail("has blocks that do not fit its input");
  return out;
}

/// Blocks of the spatial dimensions go to the batch, whose parts lie one behind the other.
Tensor space_to_batch(const Call& c) {
  const auto [sizes, edges] = blocks_of(c);
  const size_t n = sizes.size();
  Tensor x = c.in(0);
  const int rank = rank_of(x);
  Ints table{0, 0};
  table.insert(table.end(), edges.begin(), edges.end());
  table.resize(2 * static_cast<size_t>(rank), 0);
  x = pad(x, reshaped(vector_of(table), {rank, 2}), "CONSTANT", number(0, x));
  Ints cut{-1}, perm, joined{-1};
  for (size_t i = 0; i < n; ++i) {
    const int64_t size = known_dim(x, static_cast<int>(i) + 1);
    if (size % sizes[i] != 0) c.fail("has sizes that are no multiple of its blocks");
    cut.push_back(size / sizes[i]);
    cut.push_back(sizes[i]);
    perm.push_back(static_cast<int64_t>(2 * i + 2));
    joined.push_back(size / sizes[i]);
  }
  perm.push_back(0);
  for (size_t i = 0; i < n; ++i) perm.push_back(static_cast<int64_t>(2 * i + 1));
  for (int i = static_cast<int>(n) + 1; i < rank; ++i) {
    perm.push_back(static_cast<int64_t>(cut.size()));
    cut.push_back(known_dim(x, i));
    joined.push_back(known_dim(x, i));
  }
  return reshaped(transposed(reshaped(x, cut), perm), joined);
}

Tensor batch_to_space(const Call& c) {
  const auto [sizes, edges] = blocks_of(c);
  const size_t n = sizes.size();
  const Tensor& x = c.in(0);
  const int rank = rank_of(x);
  Ints cut(sizes), perm{static_cast<int64_t>(n)}, joined{-1};
  cut.push_back(-1);
  for (int i = 1; i < rank; ++i) cut.push_back(known_dim(x, i));
  for (size_t i = 0; i < n; ++i) {
    perm.push_back(static_cast<int64_t>(n + 1 + i));
    perm.push_back(static_cast<int64_t>(i));
    joined.push_back(known_dim(x, static_cast<int>(i) + 1) * sizes[i]);
  }
  for (int i = static_cast<int>(n) + 1; i < rank; ++i) {
    perm.push_back(static_cast<int64_t>(n) + i);
    joined.push_back(known_dim(x, i));
  }
  Tensor out = reshaped(transposed(reshaped(x, cut), perm), joined);
  for (size_t i = 0; i < n; ++i) {
    const int64_t end = joined[i + 1] - edges[2 * i + 1];
    if (edges[2 * i] > end) c.fail("crops more than there is");
    if (edges[2 * i] != 0 || end != joined[i + 1]) {
      out = sliced(out, static_cast<int>(i) + 1, edges[2 * i], end);
    }
  }
  return out;
}

/// The operand with the update in its place, moved so that it fits.
Tensor updated_slice(const Call& c) {
  const Tensor &x = c.in(0), &update = c.in(1);
  const int rank = rank_of(x);
  Tensor at = as(c.in(2), DType::int64);
  Ints room;
  for (int i = 0; i < rank; ++i) room.push_back(known_dim(x, i) - known_dim(update, i));
  if (std::ranges::any_of(room, [](int64_t r) { return r < 0; }))
    c.fail("updates more than there is");
  at = minimum(maximum(at, Tensor(int64_t{0})), vector_of(room));
  // The numbers of all updated elements along each dimension, side by side.
  std::vector<Tensor> places;
  const Tensor sizes = shape_of(update);
  for (int i = 0; i < rank; ++i) {
    const Tensor line =
        range(Tensor(int64_t{0}), Tensor(known_dim(update, i)), Tensor(int64_t{1})) +
        gather(at, Tensor(int64_t{i}));
    places.push_back(broadcast_to(per_channel(line, rank, i), sizes));
  }
  if (rank == 0) return update;
  return tensor_scatter_nd_update(x, stack(places, rank), update);
}

Tensor lookup(const Call& c) { return gather(c.in(1), c.in(0), std::nullopt, 0); }
Tensor diagonal(const Call& c) { return diag(c.in(0)); }
Tensor with_diagonal(const Call& c) { return set_diag(c.in(0), c.in(1)); }

constexpr Entry kEntries[] = {
    entry("pass", pass),
    entry("RESHAPE", reshape_node),
    entry("SQUEEZE", squeeze_node),
    entry("EXPAND_DIMS", expand),
    entry("GATHER", gather_node),
    entry("GATHER_ND", gather_many),
    entry("EMBEDDING_LOOKUP", lookup),
    entry("SCATTER_ND", scatter),
    entry("SLICE", slice_node),
    entry("STRIDED_SLICE", strided),
    entry("DYNAMIC_UPDATE_SLICE", updated_slice),
    entry("SPLIT", split_node),
    entry("SPLIT_V", split_sizes),
    entry("PACK", pack),
    entry("UNPACK", unpack),
    entry("CONCATENATION", concatenated),
    entry("PAD", padded_node),
    entry("PADV2", padded_node),
    entry("MIRROR_PAD", mirrored),
    entry("SHAPE", shape_node),
    entry("RANK", rank_node),
    entry("TILE", tile_node),
    entry("FILL", fill_node),
    entry("RANGE", range_node),
    entry("ZEROS_LIKE", zeros_node),
    entry("BROADCAST_TO", broadcast),
    entry("BROADCAST_ARGS", broadcast_args),
    entry("TRANSPOSE", transpose_node),
    entry("REVERSE_V2", reverse_node),
    entry("REVERSE_SEQUENCE", reversed_sequences),
    entry("ONE_HOT", one_hot_node),
    entry("TOPK_V2", top),
    entry("UNIQUE", unique_node),
    entry("WHERE", where),
    entry("SELECT", select_node),
    entry("SELECT_V2", select_broadcast),
    entry("DEPTH_TO_SPACE", depth_to_space),
    entry("SPACE_TO_DEPTH", space_to_depth),
    entry("SPACE_TO_BATCH_ND", space_to_batch),
    entry("BATCH_TO_SPACE_ND", batch_to_space),
    entry("MATRIX_DIAG", diagonal),
    entry("MATRIX_SET_DIAG", with_diagonal),
};

}  // namespace

std::span<const Entry> array_entries() { return kEntries; }

}  // namespace tidemark::io::tflite
