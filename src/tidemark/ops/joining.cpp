// Ops that join tensors and take them apart, and that repeat one.

#include <tidemark/rows.h>

#include <algorithm>

#include "tidemark/base/interrupt.h"
#include "tidemark/ops/movement.h"

namespace tidemark {

namespace {

using namespace movement;

void set_joined_characters(InferContext& c) {
  int64_t characters = 0;
  for (int i = 0; i < c.num_inputs(); ++i) characters += characters_of(c.input(i));
  c.set_string_bytes(0, characters);
}

// --- concat and stack -------------------------------------------------------------------------

void concat_rule(InferContext& c) {
  Shape joined = Shape::unknown();
  for (int i = 0; i < c.num_inputs() && !joined.has_rank(); ++i) joined = c.shape(i);
  if (!joined.has_rank()) return c.set(0, joined);
  if (joined.rank() == 0) c.fail("Can't concatenate scalars (use tf.stack instead)");
  const int axis = normalize_axis(c.attr("axis").as_int(), joined.rank(), "[concat] axis");
  int64_t total = 0;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const Shape& s = c.shape(i);
    joined = merge_shapes(c, joined, s, axis);
    const int64_t size = s.has_rank() ? s[axis] : kUnknownDim;
    total = total == kUnknownDim || size == kUnknownDim
                ? kUnknownDim
                : checked_add(total, size, "the joined dimension");
  }
  joined[axis] = total;
  c.set(0, joined);
  if (c.num_inputs() == 1) return c.alias(0, 0);
  set_joined_characters(c);
}

/// Without known sizes: slices whose begin is the sum of the shapes before.
void concat_gradient_by_slices(Grad& g, int axis, int rank) {
  Ints only_axis(static_cast<size_t>(rank), 0);
  only_axis[static_cast<size_t>(axis)] = 1;
  const Tensor mask = ints_tensor(only_axis);
  Tensor begin = ints_tensor(Ints(static_cast<size_t>(rank), 0));
  for (int i = 0; i < g.num_inputs(); ++i) {
    const Tensor size = shape_tensor(g, i);
    g.dx(i) = call("slice", {g.dy(), begin, size});
    begin = begin + size * mask;
  }
}

void concat_gradient(Grad& g) {
  const int rank = g.dy().rank();
  const int axis = normalize_axis(g.attr("axis").as_int(), rank);
  Ints sizes;
  for (int i = 0; i < g.num_inputs(); ++i) {
    if (!g.shape(i).has_rank() || g.shape(i)[axis] == kUnknownDim) {
      return concat_gradient_by_slices(g, axis, rank);
    }
    sizes.push_back(g.shape(i)[axis]);
  }
  const auto parts = call_all("split", Borrowed<1>(g.dy()).span(),
                              {{"num", g.num_inputs()}, {"axis", axis}, {"sizes", sizes}});
  for (int i = 0; i < g.num_inputs(); ++i) g.dx(i) = parts[static_cast<size_t>(i)];
}

void stack_rule(InferContext& c) {
  Shape one = Shape::unknown();
  for (int i = 0; i < c.num_inputs(); ++i) {
    const bool known = c.shape(0).is_fully_known() && c.shape(i).is_fully_known();
    if (known && !(c.shape(0) == c.shape(i))) {
      c.fail("Shapes of all inputs must match: values[0].shape = ", c.shape(0).to_brackets(),
             " != values[", i, "].shape = ", c.shape(i).to_brackets());
    }
    one = merge_shapes(c, one, c.shape(i));
  }
  if (!one.has_rank()) return c.set(0, one);
  const int axis = normalize_axis(c.attr("axis").as_int(), one.rank() + 1, "[stack] axis");
  one.insert(axis, c.num_inputs());
  c.set(0, one);
  if (c.num_inputs() == 1) return c.alias(0, 0);
  set_joined_characters(c);
}

void stack_gradient(Grad& g) {
  const auto parts = call_all("unstack", Borrowed<1>(g.dy()).span(),
                              {{"num", g.num_inputs()}, {"axis", g.attr("axis")}});
  for (int i = 0; i < g.num_inputs(); ++i) g.dx(i) = parts[static_cast<size_t>(i)];
}

// --- unstack and split ------------------------------------------------------------------------

void unstack_rule(InferContext& c) {
  if (!c.shape(0).has_rank()) {
    for (int i = 0; i < c.num_outputs(); ++i) c.set(i, Shape::unknown());
    return;
  }
  const int axis = normalize_axis(c.attr("axis").as_int(), c.shape(0).rank(), "[unstack] axis");
  const int64_t size = c.shape(0)[axis];
  if (size != kUnknownDim && size != c.num_outputs()) {
    c.fail("'num' is ", c.num_outputs(), ", but the input has ", size, " slices along axis ", axis);
  }
  Shape part = c.shape(0);
  part.erase(axis);
  const bool is_view = c.shape(0).is_fully_known() && product(c.shape(0), 0, axis) == 1;
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.set(i, part);
    if (is_view) c.alias(i, 0, i * part.num_elements());
    if (!is_view) c.set_string_bytes(i, characters_of(c.input(0)));
  }
}

std::vector<Tensor> all_dy(const Grad& g) {
  std::vector<Tensor> out;
  for (int i = 0; i < g.num_outputs(); ++i) out.push_back(dy_or_zeros(g, i));
  return out;
}

/// The sizes of the pieces, the one given as -1 computed.
Ints split_sizes(const InferContext& c, int64_t total) {
  const Attr& given = c.attr("sizes");
  const int64_t num = c.num_outputs();
  if (given.is_none()) {
    if (total != kUnknownDim && (num == 0 || total % num != 0)) {
      c.fail(
          "Number of ways to split should evenly divide the split dimension, but got a "
          "dimension of size ",
          total, " and num_split ", num);
    }
    return Ints(static_cast<size_t>(num), total == kUnknownDim ? kUnknownDim : total / num);
  }
  Ints sizes = given.as_ints();
  if (static_cast<int64_t>(sizes.size()) != num) {
    c.fail("'num' is ", num, ", but there are ", sizes.size(), " sizes");
  }
  int64_t sum = 0;
  auto missing = sizes.end();
  for (auto it = sizes.begin(); it != sizes.end(); ++it) {
    if (*it < -1) c.fail("Split size at index ", it - sizes.begin(), " must be >= 0. Got: ", *it);
    if (*it == -1 && missing != sizes.end()) c.fail("only one split size may be -1");
    if (*it == -1) missing = it;
    if (*it != -1) sum = checked_add(sum, *it, "the sum of the sizes");
  }
  if (total == kUnknownDim) return sizes;
  if (missing == sizes.end() ? sum != total : sum > total) {
    c.fail("sizes must sum up to ", total, ", the size of the split dimension; ", given.to_string(),
           " sums up to ", sum);
  }
  if (missing != sizes.end()) *missing = total - sum;
  return sizes;
}

void split_rule(InferContext& c) {
  const Shape& in = c.shape(0);
  if (!in.has_rank()) {
    for (int i = 0; i < c.num_outputs(); ++i) c.set(i, in);
    return;
  }
  const int axis = normalize_axis(c.attr("axis").as_int(), in.rank(), "[split] axis");
  const Ints sizes = split_sizes(c, in[axis]);
  const bool known = in.is_fully_known();
  const bool is_view = known && product(in, 0, axis) == 1;
  const int64_t inner = known ? product(in, axis + 1, in.rank()) : 0;
  int64_t offset = 0;
  for (int i = 0; i < c.num_outputs(); ++i) {
    Shape part = in;
    part[axis] = sizes[static_cast<size_t>(i)];
    c.set(i, part);
    if (is_view) c.alias(i, 0, offset);
    if (!is_view) c.set_string_bytes(i, characters_of(c.input(0)));
    if (known) offset += part[axis] * inner;
  }
}

// --- tile and repeat --------------------------------------------------------------------------

void tile_rule(InferContext& c) {
  check_vector(c, 1);
  const Shape& in = c.shape(0);
  if (!in.has_rank()) return c.set(0, unknown_dims_of(c, 1));
  if (c.shape(1).is_fully_known() && c.shape(1)[0] != in.rank()) {
    c.fail("Expected multiples argument to be a vector of length ", in.rank(), " but got length ",
           c.shape(1)[0]);
  }
  if (!holds_values(c.input(1))) return c.set(0, Shape::filled(in.rank(), kUnknownDim));
  const Ints multiples = c.ints(1);
  Shape out = in;
  bool all_ones = true;
  for (int i = 0; i < in.rank(); ++i) {
    const int64_t times = multiples[static_cast<size_t>(i)];
    if (times < 0) c.fail("Expected multiples[", i, "] >= 0, but got ", times);
    all_ones &= times == 1;
    if (in[i] != kUnknownDim) out[i] = checked_multiply(in[i], times, "the tiled dimension");
  }
  c.set(0, out);
  if (!out.is_fully_known()) return;
  if (all_ones) return c.alias(0, 0);
  const int64_t count = out.num_elements();
  const int64_t copies = count ? count / in.num_elements() : 0;
  c.set_string_bytes(0, checked_multiply(characters_of(c.input(0)), copies, "characters"));
}

/// x of shape [a, b] tiled [m, n] is x summed over the m and n of [m, a, n, b].
void tile_gradient(Grad& g) {
  const int rank = g.shape(0).rank();
  const Tensor multiples = call("cast", {g.x(1)}, {{"dtype", DType::int64}});
  const Tensor pairs = call("stack", {multiples, shape_tensor(g, 0)}, {{"axis", 1}});
  const Tensor split_shape = call("reshape", {pairs, ints_tensor({-1})});
  Ints axes;
  for (int i = 0; i < rank; ++i) axes.push_back(2 * i);
  if (rank == 0) {
    g.dx(0) = g.dy();
    return;
  }
  g.dx(0) = call("sum", {call("reshape", {g.dy(), split_shape})}, {{"axis", axes}});
}

void check_repeats(const InferContext& c, const Ints& repeats, int64_t size) {
  const auto count = static_cast<int64_t>(repeats.size());
  if (c.shape(1).rank() > 1 || (count != 1 && size != kUnknownDim && count != size)) {
    c.fail("'repeats' must be a scalar or a vector of length ", size, "; given shape ",
           c.shape(1).to_brackets());
  }
  for (size_t i = 0; i < repeats.size(); ++i) {
    if (i % (1 << 16) == 0) check_interrupt();
    if (repeats[i] < 0) c.fail("repeats[", i, "] must not be negative, but is ", repeats[i]);
  }
}

void repeat_rule(InferContext& c) {
  const Attr& axis_attr = c.attr("axis");
  const Shape& in = c.shape(0);
  if (axis_attr.is_none() && !(in.is_fully_known() && holds_values(c.input(1)))) {
    return c.set(0, Shape{kUnknownDim});
  }
  if (!in.has_rank()) return c.set(0, in);
  Shape out = axis_attr.is_none() ? Shape{in.num_elements()} : in;
  const int axis =
      axis_attr.is_none() ? 0 : normalize_axis(axis_attr.as_int(), in.rank(), "[repeat] axis");
  const int64_t size = out[axis];
  out[axis] = kUnknownDim;
  if (!holds_values(c.input(1))) return c.set(0, out);
  const Ints repeats = c.ints(1);
  check_repeats(c, repeats, size);
  int64_t total = 0;
  for (int64_t r : repeats) total = checked_add(total, r, "the sum of repeats");
  if (repeats.size() == 1 && size != 1) {
    total =
        size == kUnknownDim ? size : checked_multiply(size, repeats[0], "the repeated dimension");
  }
  out[axis] = total;
  c.set(0, out);
  if (!out.is_fully_known()) return;
  const int64_t most = repeats.empty() ? 0 : *std::max_element(repeats.begin(), repeats.end());
  c.set_string_bytes(0, checked_multiply(characters_of(c.input(0)), most, "characters"));
}

/// Sums the copies of each slice: their number is found again by repeating the slices' numbers.
void repeat_gradient(Grad& g) {
  const bool flat = g.attr("axis").is_none();
  const int axis = flat ? 0 : normalize_axis(g.attr("axis").as_int(), g.shape(0).rank());
  const Tensor shape = shape_tensor(g, 0);
  const Tensor size = flat ? call("prod", {shape}, {{"axis", Ints{0}}})
                           : call("gather", {shape, Tensor(int64_t{axis})});
  const Tensor slices = call("range", {Tensor(int64_t{0}), size, Tensor(int64_t{1})});
  const Tensor ids = call("repeat", {slices, g.x(1)}, {{"axis", 0}});
  Ints perm{axis};
  for (int i = 0; i < g.dy().rank(); ++i) {
    if (i != axis) perm.push_back(i);
  }
  Ints back(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) back[static_cast<size_t>(perm[i])] = int64_t(i);
  const Tensor first = call("transpose", {g.dy()}, {{"perm", perm}});
  const Tensor summed = call("unsorted_segment_sum", {first, ids, size});
  const Tensor dx = call("transpose", {summed}, {{"perm", back}});
  g.dx(0) = flat ? call("reshape", {dx, shape}) : dx;
}

// --- rows -------------------------------------------------------------------------------------

std::optional<RowRule> join_rows(const RowQuestion& q) {
  return q.names_first("axis", q.out().rank()) ? std::nullopt : rows::every_input(q);
}

std::optional<RowRule> tile_rows(const RowQuestion& q) {
  const auto multiples = q.known(1);
  const bool keeps = multiples && !multiples->empty() && (*multiples)[0] == 1;
  return keeps ? rows::first_input(q) : std::nullopt;
}

}  // namespace

TIDEMARK_OP(concat)
    .doc("Joins tensors along an existing dimension.")
    .python("tf.concat")
    .tensorflow("ConcatV2", "values axis", {}, "concat")
    .onnx("Concat", "values", "axis")
    .input_list("values", kAny)
    .attr("axis", AttrKind::integer)
    .output("output", like("values"))
    .shape(concat_rule)
    .cheap()
    .rows(join_rows)
    .gradient(concat_gradient);

TIDEMARK_OP(stack)
    .doc("Joins tensors of one shape along a new dimension.")
    .python("tf.stack")
    .tensorflow("Pack", {}, "axis", "stack")
    .input_list("values", kAny)
    .attr("axis", AttrKind::integer, 0)
    .output("output", like("values"))
    .shape(stack_rule)
    .cheap()
    .rows(join_rows)
    .gradient(stack_gradient);

TIDEMARK_OP(unstack)
    .doc("The `num` slices along a dimension; views where they lie together.")
    .tensorflow("Unpack", {}, "num axis", "unstack")
    .input("value", kAny)
    .attr("num", AttrKind::integer)
    .attr("axis", AttrKind::integer, 0)
    .output_list("output", like("value"), "num")
    .shape(unstack_rule)
    .along_axis()
    .rows(rows::along_axis)
    .gradient([](Grad& g) {
      const std::vector<Tensor> dy = all_dy(g);
      if (!dy.empty()) g.dx(0) = call_all("stack", dy, {{"axis", g.attr("axis")}})[0];
    });

TIDEMARK_OP(split)
    .doc(
        "`num` equal pieces along a dimension, or pieces of the given sizes, of which one may be "
        "-1. Views where they lie together.")
    .input("value", kAny)
    .attr("num", AttrKind::integer)
    .attr("axis", AttrKind::integer, 0)
    .optional_attr("sizes", AttrKind::ints)
    .output_list("output", like("value"), "num")
    .shape(split_rule)
    .along_axis()
    .rows(rows::along_axis)
    .gradient([](Grad& g) {
      const std::vector<Tensor> dy = all_dy(g);
      if (!dy.empty()) g.dx(0) = call_all("concat", dy, {{"axis", g.attr("axis")}})[0];
    });

TIDEMARK_OP(tile)
    .doc("The whole tensor, repeated `multiples[i]` times along dimension i.")
    .python("tf.tile")
    .tensorflow("Tile")
    .onnx("Tile")
    .input("input", kAny)
    .input("multiples", kIndex, 'I')
    .output("output", like("input"))
    .shape(tile_rule)
    .on_host(1)
    .cheap()
    .rows(tile_rows)
    .gradient(tile_gradient, keep_x(1));

TIDEMARK_OP(repeat)
    .doc(
        "Each slice along `axis`, repeated as often as `repeats` says; without an axis, each "
        "element of the flat tensor.")
    .python("tf.repeat")
    .input("input", kAny)
    .input("repeats", kIndex, 'I')
    .optional_attr("axis", AttrKind::integer)
    .output("output", like("input"))
    .shape(repeat_rule)
    .on_host(1)
    .rows(rows::along_axis)
    .gradient(repeat_gradient, keep_x(1));

}  // namespace tidemark
