// How ops of ours that place, choose and gather elements are written.
#include "tidemark/io/onnx/emitter.h"

namespace tidemark::io::onnx {

namespace {

Ints known(const Emitted& e, size_t input) {
  try {
    return e.tensor(input).to_ints();
  } catch (const FailedPreconditionError&) {
    fail<UnimplementedError>("[", e.node.op->name(), "] with a ",
                             e.node.op->input_param(static_cast<int>(input)).name,
                             " that only a run knows has no form in ONNX");
  }
}

int64_t from_front(int64_t axis, int rank) { return axis < 0 ? axis + rank : axis; }

/// A number as a vector of one.
std::string as_vector(const Emitted& e, size_t input) {
  return e.put("Reshape", {e.as_int64(input), e.out.ints({-1})});
}
std::string as_number(const Emitted& e, size_t input) {
  return e.put("Reshape", {e.as_int64(input), e.out.ints({})});
}
std::string number(const Emitted& e, int64_t value) { return e.out.constant(Tensor(value)); }

// --- arrays: one tensor, whose elements have no size while nobody knows theirs ------------------

/// The array with so many rows of elements of a shape: zeros where there were none. Both are
/// vectors.
std::string fitted(const Emitted& e, const std::string& rows, const std::string& element) {
  const std::string have = e.sizes(0, 0, 1), none = e.out.ints({0});
  const std::string known = e.put("Max", {have, e.out.ints({1})});
  const std::string width = e.put("Div", {e.put("Size", {e.in(0)}), known});
  const std::string wanted = e.put("ReduceProd", {element}, {{"keepdims", true}});
  const std::string flat_shape = e.put("Concat", {have, width}, {{"axis", 0}});
  const std::string flat = e.put("Reshape", {e.in(0), flat_shape}, {{"allowzero", true}});
  const auto lacking = [&](const std::string& want, const std::string& is) {
    return e.put("Max", {e.put("Sub", {want, is}), none});
  };
  const std::string pads = e.put(
      "Concat", {e.out.ints({0, 0}), lacking(rows, have), lacking(wanted, width)}, {{"axis", 0}});
  const std::string padded = e.put("Pad", {flat, pads}, {{"mode", "constant"}});
  const std::string ends = e.put("Concat", {rows, wanted}, {{"axis", 0}});
  const std::string cut = e.put("Slice", {padded, e.out.ints({0, 0}), ends});
  const std::string shape = e.put("Concat", {rows, element}, {{"axis", 0}});
  return e.put("Reshape", {cut, shape}, {{"allowzero", true}});
}

/// As announced, or as the array has them.
std::string element_of(const Emitted& e) {
  const Attr& announced = e.attr("element_shape");
  if (!announced.is_none() && Shape(announced.as_ints()).is_fully_known()) {
    return e.out.ints(announced.as_ints());
  }
  return e.sizes(0, 1);
}

Names array_write(const Emitted& e) {
  const std::string at = as_vector(e, 1);
  std::string rows = e.sizes(0, 0, 1);
  if (e.attr("dynamic_size").as_bool()) {
    rows = e.put("Max", {rows, e.put("Add", {at, e.out.ints({1})})});
  }
  const std::string place = e.put("Reshape", {at, e.out.ints({1, 1})});
  const std::string value = e.put("Unsqueeze", {e.in(2), e.out.ints({0})});
  return {e.put("ScatterND", {fitted(e, rows, e.sizes(2)), place, value})};
}

Names array_read(const Emitted& e) {
  const std::string array = fitted(e, e.sizes(0, 0, 1), element_of(e));
  return {e.put("Gather", {array, as_number(e, 1)}, {{"axis", 0}})};
}

Names array_resize(const Emitted& e) {
  const std::string asked = as_vector(e, 1);
  const std::string is_all = e.put("Less", {asked, e.out.ints({0})});
  const std::string rows = e.chosen(is_all, e.sizes(0, 0, 1), asked);
  return {fitted(e, rows, element_of(e))};
}

// --- places --------------------------------------------------------------------------------------

/// 0, 1, 2, … up to a number, along one axis of a tensor of some rank.
std::string counted(const Emitted& e, const std::string& count, int64_t axis, int rank) {
  const std::string line = e.put("Range", {number(e, 0), count, number(e, 1)});
  Ints shape(static_cast<size_t>(rank), 1);
  shape[static_cast<size_t>(axis)] = -1;
  return e.put("Reshape", {line, e.out.ints(shape)});
}

Names one_hot(const Emitted& e) {
  const int rank = e.rank(0) + 1;
  const int64_t axis = from_front(e.attr("axis").as_int(), rank);
  const std::string classes = counted(e, as_number(e, 1), axis, rank);
  const std::string given = e.put("Unsqueeze", {e.as_int64(0), e.out.ints({axis})});
  return {e.chosen(e.put("Equal", {given, classes}), e.in(2), e.in(3))};
}

Names unstack(const Emitted& e) {
  const int64_t axis = from_front(e.attr("axis").as_int(), e.rank(0));
  Names parts, out;
  for (size_t i = 0; i < e.node.outputs.size(); ++i) parts.push_back(e.out.fresh());
  const Given attrs[] = {{"axis", axis}};
  e.out.put_all("Split", {e.in(0), e.out.ints(Ints(parts.size(), 1))}, parts, attrs);
  for (const std::string& part : parts) {
    out.push_back(e.put("Squeeze", {part, e.out.ints({axis})}));
  }
  return out;
}

Names nonzero(const Emitted& e) {
  const std::string found = e.put("NonZero", {e.in(0)});
  return {e.put("Transpose", {found}, {{"perm", Ints{1, 0}}})};
}

Names boolean_mask(const Emitted& e) {
  const int depth = e.rank(1);
  const Attr& given = e.attr("axis");
  const int64_t axis = given.is_none() ? 0 : from_front(given.as_int(), e.rank(0));
  std::string tensor = e.in(0), mask = e.in(1);
  if (depth > 1) {
    const std::string shape = e.put(
        "Concat", {e.sizes(0, 0, axis), e.out.ints({-1}), e.sizes(0, axis + depth)}, {{"axis", 0}});
    tensor = e.put("Reshape", {tensor, shape});
    mask = e.put("Reshape", {mask, e.out.ints({-1})});
  }
  return {e.put("Compress", {tensor, mask}, {{"axis", axis}})};
}

Names reverse(const Emitted& e) {
  const Ints& axes = e.attr("axis").as_ints();
  if (axes.empty()) return {e.put("Identity", {e.in(0)})};
  const Ints all(axes.size(), Emitted::kLast), none(axes.size(), -Emitted::kLast);
  return {e.put("Slice", {e.in(0), e.out.ints(all), e.out.ints(none), e.out.ints(axes),
                          e.out.ints(Ints(axes.size(), -1))})};
}

Names roll(const Emitted& e) {
  const Ints shifts = known(e, 1);
  const Ints& axes = e.attr("axis").as_ints();
  std::string out = e.in(0);
  for (size_t i = 0; i < axes.size() && i < shifts.size(); ++i) {
    const int64_t axis = from_front(axes[i], e.rank(0));
    const std::string size = e.sizes(0, axis, axis + 1);
    const std::string back = e.put("Mod", {e.out.ints({-shifts[i]}), size});
    const std::string at = e.out.ints({axis});
    const std::string tail = e.put("Slice", {out, back, e.out.ints({Emitted::kLast}), at});
    const std::string head = e.put("Slice", {out, e.out.ints({0}), back, at});
    out = e.put("Concat", {tail, head}, {{"axis", axis}});
  }
  return {out};
}

/// Each slice as often as one number says.
Names repeat(const Emitted& e) {
  const Ints times = known(e, 1);
  if (times.size() != 1) {
    fail<UnimplementedError>("[repeat] by several numbers has no form in ONNX");
  }
  const Attr& given = e.attr("axis");
  const bool is_flat = given.is_none();
  const int64_t axis = is_flat ? 0 : from_front(given.as_int(), e.rank(0));
  const std::string x = is_flat ? e.put("Reshape", {e.in(0), e.out.ints({-1})}) : e.in(0);
  const int64_t rank = is_flat ? 1 : e.rank(0);
  Ints wide(static_cast<size_t>(rank + 1), 1);
  wide[static_cast<size_t>(axis + 1)] = times[0];
  const std::string apart = e.put("Unsqueeze", {x, e.out.ints({axis + 1})});
  const std::string repeated = e.put("Expand", {apart, e.out.ints(wide)});
  if (is_flat) return {e.put("Reshape", {repeated, e.out.ints({-1})})};
  const std::string shape =
      e.put("Concat", {e.sizes(0, 0, axis), e.out.ints({-1}), e.sizes(0, axis + 1)}, {{"axis", 0}});
  return {e.put("Reshape", {repeated, shape})};
}

Names band_part(const Emitted& e) {
  const Ints lower = known(e, 1), upper = known(e, 2);
  const bool is_direct = e.dtype() == DType::float32 || e.dtype() == DType::float64;
  std::string out = is_direct ? e.in(0) : e.cast(e.in(0), e.dtype(), DType::int64);
  if (lower[0] >= 0) out = e.put("Trilu", {out, number(e, -lower[0])}, {{"upper", true}});
  if (upper[0] >= 0) out = e.put("Trilu", {out, number(e, upper[0])}, {{"upper", false}});
  return {is_direct ? out : e.cast(out, DType::int64, e.dtype())};
}

Names rank(const Emitted& e) {
  return {e.cast(e.put("Size", {e.put("Shape", {e.in(0)})}), DType::int64, e.made())};
}
Names size(const Emitted& e) { return {e.cast(e.put("Size", {e.in(0)}), DType::int64, e.made())}; }

Names scattered(const Emitted& e, const char* how) {
  return {e.put("ScatterND", {e.in(0), e.as_int64(1), e.in(2)}, {{"reduction", how}})};
}
Names scatter_add(const Emitted& e) { return scattered(e, "add"); }
Names scatter_min(const Emitted& e) { return scattered(e, "min"); }
Names scatter_max(const Emitted& e) { return scattered(e, "max"); }
Names scatter_nd(const Emitted& e) {
  const std::string empty = e.put("Expand", {e.out.real(0, e.dtype(1)), e.as_int64(2)});
  return {e.put("ScatterND", {empty, e.as_int64(0), e.in(1)}, {{"reduction", "add"}})};
}

/// Rows of ids below 0 belong to nobody: they go into a row that is cut off.
Names segments_added(const Emitted& e, const std::string& ids, const std::string& count) {
  const std::string rows = e.put("Add", {count, e.out.ints({1})});
  const std::string shape = e.put("Concat", {rows, e.sizes(0, e.rank(1))}, {{"axis", 0}});
  const std::string place = e.chosen(e.put("Less", {ids, e.out.ints({0})}), count, ids);
  const std::string places = e.put("Unsqueeze", {place, e.out.ints({-1})});
  const std::string empty = e.put("Expand", {e.real(0), shape});
  const std::string sums = e.put("ScatterND", {empty, places, e.in(0)}, {{"reduction", "add"}});
  return {e.put("Slice", {sums, e.out.ints({0}), count, e.out.ints({0})})};
}
Names unsorted_segment_sum(const Emitted& e) {
  return segments_added(e, e.as_int64(1), as_vector(e, 2));
}
Names segment_sum(const Emitted& e) {
  const std::string ids = e.as_int64(1);
  const std::string last = e.put("Slice", {ids, e.out.ints({-1}), e.out.ints({Emitted::kLast})});
  return segments_added(e, ids, e.put("Add", {last, e.out.ints({1})}));
}

// --- order ---------------------------------------------------------------------------------------

Names top_k(const Emitted& e) {
  Names made{e.out.fresh(), e.out.fresh()};
  const Given attrs[] = {{"axis", -1}, {"sorted", e.attr("sorted")}};
  e.out.put_all("TopK", {e.in(0), as_vector(e, 1)}, made, attrs);
  return {made[0], e.cast(made[1], DType::int64, e.attr("index_type").as_dtype())};
}

template <size_t output>
Names sorted(const Emitted& e) {
  const int64_t axis = from_front(e.attr("axis").as_int(), e.rank(0));
  Names made{e.out.fresh(), e.out.fresh()};
  const bool is_falling = e.attr("direction").as_string() == "DESCENDING";
  const Given attrs[] = {{"axis", axis}, {"largest", is_falling}};
  e.out.put_all("TopK", {e.in(0), e.sizes(0, axis, axis + 1)}, made, attrs);
  if constexpr (output == 0) return {made[0]};
  return {e.cast(made[1], DType::int64, e.made())};
}

/// How many numbers of the sequence are less, or not greater.
Names searchsorted(const Emitted& e) {
  const bool is_left = e.attr("side").as_string() == "left";
  const std::string row = e.put("Unsqueeze", {e.in(0), e.out.ints({-2})});
  const std::string values = e.put("Unsqueeze", {e.in(1), e.out.ints({-1})});
  const std::string below = e.put(is_left ? "Less" : "LessOrEqual", {row, values});
  const std::string counted = e.cast(below, DType::bool_, DType::int64);
  const std::string sum = e.put("ReduceSum", {counted, e.out.ints({-1})}, {{"keepdims", false}});
  return {e.cast(sum, DType::int64, e.made())};
}

Names linspace(const Emitted& e) {
  if (e.rank(0) != 0) fail<UnimplementedError>("[linspace] between tensors has no form in ONNX");
  const std::string count = as_number(e, 2);
  const std::string line = e.put("Range", {number(e, 0), count, number(e, 1)});
  const std::string gaps = e.put("Max", {e.put("Sub", {count, number(e, 1)}), number(e, 1)});
  const std::string part =
      e.put("Div", {e.cast(line, DType::int64, e.dtype()), e.cast(gaps, DType::int64, e.dtype())});
  const std::string span = e.put("Sub", {e.in(1), e.in(0)});
  return {e.put("Add", {e.in(0), e.put("Mul", {part, span})})};
}

// op names: how each of these is written
constexpr NamedEmit kEmits[] = {
    {"array_write", array_write},
    {"array_read", array_read},
    {"array_resize", array_resize},
    {"one_hot", one_hot},
    {"unstack", unstack},
    {"nonzero", nonzero},
    {"boolean_mask", boolean_mask},
    {"reverse", reverse},
    {"roll", roll},
    {"repeat", repeat},
    {"band_part", band_part},
    {"rank", rank},
    {"size", size},
    {"scatter_nd", scatter_nd},
    {"tensor_scatter_nd_add", scatter_add},
    {"tensor_scatter_nd_min", scatter_min},
    {"tensor_scatter_nd_max", scatter_max},
    {"unsorted_segment_sum", unsorted_segment_sum},
    {"segment_sum", segment_sum},
    {"top_k", top_k},
    {"sort", sorted<0>},
    {"argsort", sorted<1>},
    {"searchsorted", searchsorted},
    {"linspace", linspace},
};

}  // namespace

std::span<const NamedEmit> array_emits() { return kEmits; }

}  // namespace tidemark::io::onnx
