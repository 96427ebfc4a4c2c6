// Elements by position: gathering, scattering, sorting, selecting.
#include <algorithm>

#include "tidemark/io/onnx/build.h"

namespace tidemark::io::onnx {

namespace {

const auto kScalar = std::span<const int64_t>();

/// Positions counted from the front; `size` is a scalar or one number a coordinate.
Tensor from_front(const Tensor& indices, const Tensor& size) {
  const Tensor wide = as(indices, DType::int64);
  if (!wide.is_symbolic()) {
    const auto values = wide.values<int64_t>();
    if (std::none_of(values.begin(), values.end(), [](int64_t i) { return i < 0; })) return wide;
  }
  return select(less(wide, Tensor(int64_t{0})), wide + size, wide);
}

Tensor gather_node(const Call& c) {
  const Tensor& x = c.in(0);
  const int axis = axis_of(c.integer("axis", 0), rank_of(x));
  return gather(x, from_front(c.in(1), dim_of(x, axis)), std::nullopt, axis);
}

Tensor gather_nd_node(const Call& c) {
  const Tensor& x = c.in(0);
  const int64_t batch = c.integer("batch_dims", 0);
  const int64_t width = known_dim(c.in(1), -1);
  const Tensor sizes = slice(shape_of(x), vector_of({batch}), vector_of({width}));
  return gather_nd(x, from_front(c.in(1), sizes), batch);
}

/// The place in `x` of each element of `indices`, which lie along `axis`: one row of coordinates
/// each.
Tensor coordinates(const Tensor& x, const Tensor& indices, int axis) {
  const int rank = rank_of(x);
  const Tensor sizes = shape_of(indices);
  std::vector<Tensor> parts;
  for (int d = 0; d < rank; ++d) {
    if (d == axis) {
      parts.push_back(from_front(indices, dim_of(x, axis)));
      continue;
    }
    const Tensor line = range(Tensor(int64_t{0}), dim_of(indices, d), Tensor(int64_t{1}));
    parts.push_back(broadcast_to(per_channel(line, rank, d), sizes));
  }
  return stack(parts, -1);
}

Tensor gather_elements(const Call& c) {
  const Tensor& x = c.in(0);
  const int axis = axis_of(c.integer("axis", 0), rank_of(x));
  return gather_nd(x, coordinates(x, c.in(1), axis));
}

/// Each target's product of its updates; targets without any have 1.
Tensor product_into(const Tensor& x, const Tensor& places, const Tensor& updates) {
  const int width = static_cast<int>(known_dim(places, -1));
  const Tensor sizes = shape_of(x);
  Tensor flat = number(0, DType::int64);
  for (int i = 0; i < width; ++i) {
    flat = flat * gather(sizes, Tensor(int64_t{i}), std::nullopt, 0) + picked(places, -1, i);
  }
  const Tensor count = prod(slice(sizes, vector_of({0}), vector_of({width})));
  const Tensor products = unsorted_segment_prod(updates, flat, as(count, DType::int64));
  return x * reshape(products, sizes);
}

Tensor scattered(const Call& c, const Tensor& x, const Tensor& places, const Tensor& updates) {
  const std::string how = c.text("reduction", "none");
  if (how == "none") return tensor_scatter_nd_update(x, places, updates);
  if (how == "add") return tensor_scatter_nd_add(x, places, updates);
  if (how == "max") return tensor_scatter_nd_max(x, places, updates);
  if (how == "min") return tensor_scatter_nd_min(x, places, updates);
  if (how == "mul") return product_into(x, places, updates);
  c.fail("the reduction ", how, " is none of none, add, mul, max, min");
}

Tensor scatter_elements(const Call& c) {
  const Tensor& x = c.in(0);
  const int axis = axis_of(c.integer("axis", 0), rank_of(x));
  return scattered(c, x, coordinates(x, c.in(1), axis), c.in(2));
}

Tensor scatter_nd_node(const Call& c) {
  const Tensor& x = c.in(0);
  const int64_t width = known_dim(c.in(1), -1);
  const Tensor sizes = slice(shape_of(x), vector_of({0}), vector_of({width}));
  return scattered(c, x, from_front(c.in(1), sizes), c.in(2));
}

/// Rows of `update` written into a cache from each batch's own position on.
Tensor tensor_scatter(const Call& c) {
  const Tensor &past = c.in(0), &update = c.in(1);
  const int rank = rank_of(past);
  const int axis = axis_of(c.integer("axis", -2), rank);
  const Tensor one(int64_t{1}), zero(int64_t{0});
  const Tensor steps = range(zero, dim_of(update, axis), one);
  Tensor at = per_channel(steps, rank, axis);
  if (c.has(2)) at = at + per_channel(as(c.in(2), DType::int64), rank, 0);
  if (c.text("mode", "linear") == "circular") at = floormod(at, dim_of(past, axis));
  const Tensor indices = broadcast_to(at, shape_of(update));
  return tensor_scatter_nd_update(past, coordinates(past, indices, axis), update);
}

Values top_k_node(const Call& c) {
  const Tensor& x = c.in(0);
  const int rank = rank_of(x);
  const int axis = axis_of(c.integer("axis", -1), rank);
  const Tensor k =
      c.version < 10 ? Tensor(c.integer("k")) : reshaped(as(c.in(1), DType::int64), kScalar);
  const bool largest = c.version < 11 || c.integer("largest", 1) != 0;
  // Bits turned round turn round the order of integers, also of the smallest one.
  const auto turned = [&](const Tensor& t) { return is_integer(t.dtype()) ? invert(t) : -t; };
  Ints perm;
  for (int i = 0; i < rank; ++i) perm.push_back(i);
  std::swap(perm[static_cast<size_t>(axis)], perm.back());
  const bool is_last = axis == rank - 1;
  Tensor rows = is_last ? x : transposed(x, perm);
  if (!largest) rows = turned(rows);
  std::vector<Tensor> found = top_k(rows, k, true, DType::int64);
  if (!largest) found[0] = turned(found[0]);
  if (!is_last) {
    for (Tensor& t : found) t = transposed(t, perm);
  }
  return {found[0], found[1]};
}

Tensor one_hot_node(const Call& c) {
  const Tensor depth = reshaped(as(c.in(1), DType::int64), kScalar);
  const Tensor& values = c.in(2);
  const Tensor indices = from_front(as(c.in(0), DType::int64), depth);
  const int rank = rank_of(indices) + 1;
  return one_hot(indices, as(depth, DType::int32), picked(values, 0, 1), picked(values, 0, 0),
                 axis_of(c.integer("axis", -1), rank));
}

Tensor non_zero(const Call& c) {
  const Tensor& x = c.in(0);
  const Tensor is_set = x.dtype() == DType::bool_ ? x : not_equal(x, number(0, x));
  return transposed(as(nonzero(is_set), DType::int64), {1, 0});
}

Tensor compress(const Call& c) {
  Tensor x = c.in(0);
  const Tensor& wanted = c.in(1);
  const Attribute* given = c.attr("axis");
  if (!given) x = reshaped(x, {-1});
  const int axis = given ? axis_of(given->integer, rank_of(x)) : 0;
  const Tensor places = reshaped(as(nonzero(wanted), DType::int64), {-1});
  return gather(x, places, std::nullopt, axis);
}

/// Distinct elements: themselves, where each came first, which each element is, how many.
struct Distinct {
  Tensor values, first, inverse, counts;
};

Distinct distinct_of(const Tensor& flat) {
  const std::vector<Tensor> found = unique_with_counts(flat, DType::int64);
  const Tensor one(int64_t{1});
  const Tensor places = range(Tensor(int64_t{0}), dim_of(flat, 0), one);
  return {found[0], unsorted_segment_min(places, found[1], dim_of(found[0], 0)), found[1],
          found[2]};
}

Distinct in_order(const Distinct& d, const Tensor& order) {
  const auto pick = [&](const Tensor& t) { return gather(t, order, std::nullopt, 0); };
  const Tensor rank = as(invert_permutation(as(order, DType::int64)), DType::int64);
  return {pick(d.values), pick(d.first), gather(rank, d.inverse, std::nullopt, 0), pick(d.counts)};
}

/// For each two rows of a matrix whether the first comes before the second, and whether they are
/// equal: the first column that differs decides.
std::pair<Tensor, Tensor> compare_rows(const Tensor& rows) {
  const Tensor a = expand_dims(rows, 1), b = expand_dims(rows, 0);
  const Tensor differs = not_equal(a, b);
  const Tensor decisive = argmax(as(differs, DType::int32), 2);
  const Tensor below = as(less(a, b), DType::int32);
  const Tensor at = expand_dims(decisive, -1);
  const Tensor is_less = equal(gather(below, at, std::nullopt, 2, 2), Tensor(1));
  return {squeeze(is_less, Ints{-1}), logical_not(any(differs, Ints{2}))};
}

Values unique_along(const Call& c, int axis, bool is_sorted) {
  const Tensor& x = c.in(0);
  const int rank = rank_of(x);
  Ints perm{axis}, back;
  for (int i = 0; i < rank; ++i) {
    if (i != axis) perm.push_back(i);
  }
  for (int i = 0; i < rank; ++i) {
    back.push_back(std::find(perm.begin(), perm.end(), i) - perm.begin());
  }
  const Tensor moved = transposed(x, perm);
  const Tensor rows = merged(moved, 1, rank);
  const auto [less_than, same] = compare_rows(rows);
  const Tensor first = argmax(as(same, DType::int32), 1);  // of the rows equal to each
  Distinct d = distinct_of(first);
  d.values = gather(moved, d.first, std::nullopt, 0);
  if (is_sorted) {
    const Tensor below = sum(as(less_than, DType::int64), Ints{0});
    d = in_order(d, as(argsort(gather(below, d.first, std::nullopt, 0)), DType::int64));
  }
  return {transposed(d.values, back), d.first, d.inverse, d.counts};
}

Values unique_node(const Call& c) {
  const bool is_sorted = c.integer("sorted", 1) != 0;
  const Tensor& x = c.in(0);
  if (const Attribute* axis = c.attr("axis"); axis && rank_of(x) > 1) {
    return unique_along(c, axis_of(axis->integer, rank_of(x)), is_sorted);
  }
  Distinct d = distinct_of(reshaped(x, {-1}));
  if (is_sorted) d = in_order(d, as(argsort(d.values), DType::int64));
  return {d.values, d.first, d.inverse, d.counts};
}

Tensor reverse_sequence_node(const Call& c) {
  return reverse_sequence(c.in(0), c.in(1), c.integer("time_axis", 0), c.integer("batch_axis", 1));
}

template <Tensor (*scan)(const Tensor&, int64_t, bool, bool)>
Tensor running(const Call& c) {
  const Ints axis = c.ints(1);
  if (axis.size() != 1) c.fail("axis must be one number");
  return scan(c.in(0), axis[0], c.integer("exclusive", 0) != 0, c.integer("reverse", 0) != 0);
}

constexpr Entry kEntries[] = {
    {"Gather", gather_node},
    {"GatherND", gather_nd_node},
    {"GatherElements", gather_elements},
    {"Scatter", scatter_elements},
    {"ScatterElements", scatter_elements},
    {"ScatterND", scatter_nd_node},
    {"TensorScatter", tensor_scatter},
    {"TopK", top_k_node},
    {"OneHot", one_hot_node},
    {"NonZero", non_zero},
    {"Compress", compress},
    {"Unique", unique_node},
    {"ReverseSequence", reverse_sequence_node},
    {"CumSum", running<cumsum>},
    {"CumProd", running<cumprod>},
};

}  // namespace

std::span<const Entry> index_entries() { return kEntries; }

}  // namespace tidemark::io::onnx
