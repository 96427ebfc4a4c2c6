// Shapes and layouts: ops that move elements and compute none.
#include <algorithm>
#include <limits>

#include "tidemark/graph/node.h"
#include "tidemark/io/onnx/build.h"
#include "tidemark/io/onnx/interpreter.h"

namespace tidemark::io::onnx {

namespace {

/// The elements where they are known for certain.
std::optional<Ints> known_ints(const Tensor& t) {
  try {
    return t.to_ints();
  } catch (const FailedPreconditionError&) {
    return std::nullopt;
  }
}

/// An attribute that became an input later.
std::optional<Ints> ints_from(const Call& c, size_t input, std::string_view attribute) {
  if (c.has(input)) return c.ints(input);
  return c.integers(attribute);
}

/// Each 0 of a shape that only a run knows: the size that x has there.
Tensor with_kept_sizes(const Tensor& x, const Tensor& shape) {
  const int64_t count = known_dim(shape, 0), rank = rank_of(x);
  Tensor sizes = slice(shape_of(x), vector_of({0}), vector_of({std::min(count, rank)}));
  if (count > rank) {
    const Ints zeros(static_cast<size_t>(count - rank), 0);
    const Tensor parts[] = {sizes, vector_of(zeros)};
    sizes = concat(parts, 0);
  }
  return select(equal(shape, Tensor(int64_t{0})), sizes, shape);
}

Tensor reshape_to(const Tensor& x, const Tensor& shape, bool allow_zero) {
  const std::optional<Ints> known = known_ints(shape);
  if (allow_zero) return reshape(x, shape);
  if (!known) return reshape(x, with_kept_sizes(x, as(shape, DType::int64)));
  Ints dims = *known;
  std::vector<Tensor> pieces;
  bool is_known = true;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != 0) {
      pieces.push_back(vector_of({dims[i]}));
      continue;
    }
    if (static_cast<int>(i) >= rank_of(x))
      fail("a 0 in a shape stands for a size that is not there");
    const Tensor size = dim_of(x, static_cast<int>(i));
    is_known = is_known && !size.is_symbolic();
    if (!size.is_symbolic()) dims[i] = size.item<int64_t>();
    pieces.push_back(expand_dims(size, 0));
  }
  return is_known ? reshaped(x, dims) : reshape(x, concat(pieces, 0));
}

Tensor reshape_node(const Call& c) {
  if (c.version < 5) return reshaped(c.in(0), c.integers("shape", {}));
  return reshape_to(c.in(0), c.in(1), c.integer("allowzero", 0) != 0);
}

Tensor squeeze_node(const Call& c) {
  const std::optional<Ints> axes = ints_from(c, 1, "axes");
  if (axes && axes->empty()) return c.in(0);
  return squeeze(c.in(0), axes);
}

Tensor unsqueeze_node(const Call& c) {
  const std::optional<Ints> axes = ints_from(c, 1, "axes");
  if (!axes) c.fail("needs axes");
  return unsqueezed(c.in(0), *axes);
}

Value flatten(const Call& c) {
  const Tensor& x = c.in(0);
  const int rank = rank_of(x);
  const int64_t given = c.integer("axis", 1);
  const int axis = given == rank ? rank : axis_of(given, rank);
  if (axis == 0) return reshaped(x, {1, -1});
  if (axis == rank) return reshaped(x, {-1, 1});
  const Tensor inner = merged(x, axis, rank);
  return {merged(inner, 0, axis), c.value(0).element};
}
Values flatten_node(const Call& c) { return {flatten(c)}; }

Values identity_node(const Call& c) { return {c.value(0)}; }

Tensor transpose_node(const Call& c) { return transpose(c.in(0), c.integers("perm")); }

Tensor concat_node(const Call& c) {
  const std::vector<Tensor> all = c.tensors();
  return concat(all, axis_of(c.integer("axis", 1), rank_of(c.in(0))));
}

Values split_node(const Call& c) {
  const Tensor& x = c.in(0);
  const int axis = axis_of(c.integer("axis", 0), rank_of(x));
  std::optional<Ints> sizes = ints_from(c, 1, "split");
  const int64_t count =
      c.integer("num_outputs", static_cast<int64_t>(sizes ? sizes->size() : c.num_outputs()));
  c.check_listed(static_cast<double>(count) - 1);
  if (!sizes) {
    const int64_t size = x.dim(axis);
    if (size == kUnknownDim || size % count != 0) {
      const int64_t each = (known_dim(x, axis) + count - 1) / count;
      sizes = Ints(static_cast<size_t>(count), each);
      sizes->back() = size - each * (count - 1);
      if (sizes->back() < 0) c.fail("cannot cut ", size, " into ", count, " parts of ", each);
    }
  }
  Values out;
  for (Tensor& part : split(x, count, axis, sizes)) out.emplace_back(std::move(part));
  return out;
}

/// begin, end and stride of every dimension, as vectors of the tensor's rank.
struct Cut {
  Tensor begin, end;
  Ints strides;
  int64_t begin_mask = 0, end_mask = 0;
};

Cut cut_of(const Tensor& x, const Tensor& starts, const Tensor& ends, const Ints& axes,
           const Ints& steps) {
  const auto rank = static_cast<size_t>(rank_of(x));
  std::vector<Tensor> begin(rank, vector_of({0})), end(rank, vector_of({0}));
  Cut out{{}, {}, Ints(rank, 1), (int64_t{1} << rank) - 1, (int64_t{1} << rank) - 1};
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axis_of(axes[i], static_cast<int>(rank)));
    const auto at = static_cast<int64_t>(i);
    begin[axis] = sliced(starts, 0, at, at + 1);
    end[axis] = sliced(ends, 0, at, at + 1);
    out.strides[axis] = steps[i];
    out.begin_mask &= ~(int64_t{1} << axis);
    out.end_mask &= ~(int64_t{1} << axis);
  }
  out.begin = concat(begin, 0);
  out.end = concat(end, 0);
  return out;
}

Tensor slice_node(const Call& c) {
  const Tensor& x = c.in(0);
  if (rank_of(x) == 0) c.fail("a scalar cannot be cut");
  Tensor starts, ends;
  if (c.version < 10) {
    starts = vector_of(c.integers("starts", {}));
    ends = vector_of(c.integers("ends", {}));
  } else {
    starts = as(c.in(1), DType::int64);
    ends = as(c.in(2), DType::int64);
  }
  const int64_t count = known_dim(starts, 0);
  if (count > rank_of(x)) c.fail("starts has ", count, " numbers for ", rank_of(x), " dimensions");
  Ints all;
  for (int64_t i = 0; i < count; ++i) all.push_back(i);
  const Ints axes = ints_from(c, 3, "axes").value_or(all);
  const Ints steps = c.has(4) ? c.ints(4) : Ints(static_cast<size_t>(count), 1);
  if (axes.size() != all.size() || steps.size() != all.size()) {
    c.fail("starts, ends, axes and steps must be as many");
  }
  const Cut cut = cut_of(x, starts, ends, axes, steps);
  return strided_slice(x, cut.begin, cut.end, vector_of(cut.strides), cut.begin_mask, cut.end_mask);
}

Tensor expand_node(const Call& c) {
  const Tensor& x = c.in(0);
  const Tensor shape = as(c.in(1), DType::int64);
  const int rank = rank_of(x);
  const auto wanted = static_cast<int>(known_dim(shape, 0));
  const int most = std::max(rank, wanted);
  const auto extended = [&](const Tensor& sizes, int length) {
    if (length == most) return sizes;
    const Ints ones(static_cast<size_t>(most - length), 1);
    const Tensor parts[] = {vector_of(ones), sizes};
    return concat(parts, 0);
  };
  const Tensor theirs = extended(shape, wanted), ours = extended(shape_of(x), rank);
  return broadcast_to(x, select(equal(theirs, Tensor(int64_t{1})), ours, theirs));
}

Tensor shape_node(const Call& c) {
  const Tensor sizes = shape_of(c.in(0));
  const int64_t start = c.integer("start", 0);
  const Attribute* end = c.attr("end");
  if (start == 0 && !end) return sizes;
  const auto rank = static_cast<int64_t>(rank_of(c.in(0)));
  const auto place = [&](int64_t i) { return std::clamp(i < 0 ? i + rank : i, int64_t{0}, rank); };
  const int64_t from = place(start), to = place(end ? end->integer : rank);
  return slice(sizes, vector_of({from}), vector_of({std::max<int64_t>(to - from, 0)}));
}

Tensor size_node(const Call& c) {
  const Tensor& x = c.in(0);
  if (!x.is_symbolic()) return Tensor(x.num_elements());
  return size(x, DType::int64);
}

Tensor texts_of(const std::vector<std::string_view>& texts, bool is_list) {
  return Tensor::of_strings(texts, is_list ? Shape{static_cast<int64_t>(texts.size())} : Shape{});
}

Values constant_node(const Call& c) {
  const File& file = c.interpreter.file();
  if (const Attribute* a = c.attr("value"); a && a->tensor) return {file.tensor(*a->tensor)};
  if (const Attribute* a = c.attr("value_float")) return {Tensor(a->real)};
  if (const Attribute* a = c.attr("value_int")) return {Tensor(a->integer)};
  if (const Attribute* a = c.attr("value_string")) return {texts_of({a->text}, false)};
  if (const Attribute* a = c.attr("value_ints")) return {vector_of(a->integers)};
  if (const Attribute* a = c.attr("value_strings")) return {texts_of(a->texts, true)};
  if (const Attribute* a = c.attr("value_floats")) {
    return {Tensor::of<float>(a->reals, Shape{static_cast<int64_t>(a->reals.size())})};
  }
  if (const Attribute* a = c.attr("sparse_value"); a && a->sparse) {
    return {file.sparse(*a->sparse)};
  }
  c.fail("has no value");
}

Values constant_of_shape(const Call& c) {
  const Attribute* given = c.attr("value");
  Value one = Tensor(0.f);
  if (given && given->tensor) one = c.interpreter.file().tensor(*given->tensor);
  if (one.tensor.num_elements() != 1) c.fail("`value` must have one element");
  return {{fill(c.in(0), reshaped(one.tensor, std::span<const int64_t>())), one.element}};
}

/// Where each element along an axis comes from, for paddings that repeat what is there.
Tensor source_of(const Call& c, const std::string& mode, const Tensor& size, int64_t before,
                 int64_t after) {
  const Tensor zero(int64_t{0}), one(int64_t{1});
  const Tensor at = range(Tensor(-before), size + Tensor(after), one);
  if (mode == "edge") return minimum(maximum(at, zero), size - one);
  if (mode == "wrap") return floormod(at, size);
  if (mode != "reflect") c.fail("the mode ", mode, " is none of constant, reflect, edge, wrap");
  const Tensor period = maximum((size - one) * Tensor(int64_t{2}), one);
  const Tensor inside = floormod(at, period);
  return minimum(inside, period - inside);
}

/// pads: what comes before each axis, then what comes after.
Tensor pad_known(const Call& c, Tensor x, const std::string& mode, const Ints& pads,
                 const Ints& axes, const Tensor& filling) {
  const auto rank = static_cast<size_t>(rank_of(x));
  Ints paddings(2 * rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = axis_of(axes[i], static_cast<int>(rank));
    const int64_t before = pads[i], after = pads[i + axes.size()];
    if (mode != "constant") {
      if (before == 0 && after == 0) continue;
      x = gather(x, source_of(c, mode, dim_of(x, axis), before, after), std::nullopt, axis);
      continue;
    }
    if (before < 0 || after < 0) {
      x = sliced(x, axis, std::max<int64_t>(-before, 0),
                 after < 0 ? after : std::numeric_limits<int64_t>::max());
    }
    paddings[2 * static_cast<size_t>(axis)] = std::max<int64_t>(before, 0);
    paddings[2 * static_cast<size_t>(axis) + 1] = std::max<int64_t>(after, 0);
  }
  if (std::all_of(paddings.begin(), paddings.end(), [](int64_t p) { return p == 0; })) return x;
  const Tensor table = reshaped(vector_of(paddings), {static_cast<int64_t>(rank), 2});
  return pad(x, table, "CONSTANT", filling);
}

Tensor pad_node(const Call& c) {
  const Tensor& x = c.in(0);
  const std::string mode = c.text("mode", "constant");
  const int rank = rank_of(x);
  Ints axes;
  for (int i = 0; i < rank; ++i) axes.push_back(i);
  if (c.has(3)) axes = c.ints(3);
  Tensor filling = number(0, x.dtype());
  if (c.version < 11) {
    filling = number(c.real("value", 0), x);
  } else if (c.has(2)) {
    filling = reshaped(as(c.in(2), x.dtype()), std::span<const int64_t>());
  }
  if (c.version < 11) {
    const Ints pads = c.integers(c.version < 2 ? "paddings" : "pads", {});
    if (pads.size() != 2 * axes.size()) c.fail("pads must be two numbers an axis");
    return pad_known(c, x, mode, pads, axes, filling);
  }
  if (const std::optional<Ints> pads = known_ints(c.in(1))) {
    if (pads->size() != 2 * axes.size()) c.fail("pads must be two numbers an axis");
    return pad_known(c, x, mode, *pads, axes, filling);
  }
  if (mode != "constant" || c.has(3)) fail_unknown(c, "its paddings");
  return pad(x, transposed(reshaped(as(c.in(1), DType::int64), {2, rank}), {1, 0}), "CONSTANT",
             filling);
}

Tensor center_crop_pad(const Call& c) {
  Tensor x = c.in(0);
  const Ints wanted = c.ints(1);
  Ints axes = c.integers("axes", {});
  if (axes.empty()) {
    for (size_t i = 0; i < wanted.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  }
  if (axes.size() != wanted.size()) c.fail("needs one size an axis");
  Ints pads(2 * axes.size(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = axis_of(axes[i], rank_of(x));
    const int64_t size = known_dim(x, axis), missing = wanted[i] - size;
    if (missing < 0) {
      const int64_t first = -missing / 2;
      x = sliced(x, axis, first, first + wanted[i]);
    } else {
      pads[i] = missing / 2;
      pads[i + axes.size()] = missing - missing / 2;
    }
  }
  return pad_known(c, x, "constant", pads, axes, number(0, x));
}

Tensor depth_to_space(const Call& c) {
  const Tensor& x = c.in(0);
  const int64_t b = c.integer("blocksize");
  const int64_t depth = known_dim(x, 1), h = known_dim(x, 2), w = known_dim(x, 3);
  if (b < 1 || b > depth || depth % (b * b) != 0)
    c.fail("channels must be a multiple of blocksize squared");
  const int64_t out = depth / (b * b);
  if (c.text("mode", "DCR") == "DCR") {
    const Tensor parts = reshaped(x, {-1, b, b, out, h, w});
    return reshaped(transposed(parts, {0, 3, 4, 1, 5, 2}), {-1, out, h * b, w * b});
  }
  const Tensor parts = reshaped(x, {-1, out, b, b, h, w});
  return reshaped(transposed(parts, {0, 1, 4, 2, 5, 3}), {-1, out, h * b, w * b});
}

Tensor space_to_depth(const Call& c) {
  const Tensor& x = c.in(0);
  const int64_t b = c.integer("blocksize");
  const int64_t depth = known_dim(x, 1), h = known_dim(x, 2), w = known_dim(x, 3);
  if (b < 1 || h % b != 0 || w % b != 0) c.fail("sizes must be multiples of blocksize");
  const Tensor parts = reshaped(x, {-1, depth, h / b, b, w / b, b});
  const bool is_dcr = c.text("mode", "DCR") == "DCR";
  return reshaped(transposed(parts, is_dcr ? Ints{0, 3, 5, 1, 2, 4} : Ints{0, 1, 3, 5, 2, 4}),
                  {-1, depth * b * b, h / b, w / b});
}

/// Column less row of the elements of the last two dimensions.
Tensor diagonal_of(const Tensor& x) {
  const Tensor zero(int64_t{0}), one(int64_t{1});
  const Tensor rows = range(zero, dim_of(x, -2), one), columns = range(zero, dim_of(x, -1), one);
  return expand_dims(columns, 0) - expand_dims(rows, 1);
}

Tensor trilu(const Call& c) {
  const Tensor& x = c.in(0);
  const Tensor k = c.has(1) ? reshaped(c.in(1), std::span<const int64_t>()) : Tensor(int64_t{0});
  const bool upper = c.integer("upper", 1) != 0;
  const Tensor seen = upper ? greater_equal(diagonal_of(x), k) : less_equal(diagonal_of(x), k);
  return select(seen, x, zeros_like(x));
}

Tensor eye_like(const Call& c) {
  const Tensor& x = c.in(0);
  const DType dtype = storage_of(c.element("dtype", element_of(x.dtype())));
  return as(equal(diagonal_of(x), Tensor(c.integer("k", 0))), dtype);
}

Tensor where_node(const Call& c) { return select(c.in(0), c.in(1), c.in(2)); }

Tensor range_node(const Call& c) {
  const auto scalar = [&](size_t i) { return reshaped(c.in(i), std::span<const int64_t>()); };
  return range(scalar(0), scalar(1), scalar(2));
}

Tensor tile_node(const Call& c) { return tile(c.in(0), c.in(1)); }

constexpr Entry kEntries[] = {
    {"Reshape", reshape_node},
    {"Squeeze", squeeze_node},
    {"Unsqueeze", unsqueeze_node},
    {"Flatten", flatten_node},
    {"Identity", identity_node},
    {"Transpose", transpose_node},
    {"Concat", concat_node},
    {"Split", split_node},
    {"Slice", slice_node},
    {"Expand", expand_node},
    {"Shape", shape_node},
    {"Size", size_node},
    {"Constant", constant_node},
    {"ConstantOfShape", constant_of_shape},
    {"Pad", pad_node},
    {"CenterCropPad", center_crop_pad},
    {"DepthToSpace", depth_to_space},
    {"SpaceToDepth", space_to_depth},
    {"Trilu", trilu},
    {"EyeLike", eye_like},
    {"Where", where_node},
    {"Range", range_node},
    {"Tile", tile_node},
};

}  // namespace

std::span<const Entry> array_entries() { return kEntries; }

}  // namespace tidemark::io::onnx
