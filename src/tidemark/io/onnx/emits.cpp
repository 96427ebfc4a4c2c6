// How ops of ours are written that are not one op there.
#include <algorithm>
#include <limits>

#include "tidemark/io/onnx/channel_order.h"
#include "tidemark/io/onnx/emitter.h"

namespace tidemark::io::onnx {

namespace {

Ints known(const Emitted& e, size_t input) {
  const Tensor& t = e.tensor(input);
  if (!t.is_symbolic()) return t.to_ints();
  try {
    return t.to_ints();
  } catch (const FailedPreconditionError&) {
    fail<UnimplementedError>("[", e.node.op->name(), "] with a ",
                             e.node.op->input_param(static_cast<int>(input)).name,
                             " that only a run knows has no form in ONNX");
  }
}

std::string transposed(const Emitted& e, const std::string& x, const Ints& perm) {
  return e.out.put("Transpose", {x}, {{"perm", perm}});
}

std::string turned(const Emitted& e, size_t input) {
  Ints perm;
  const int rank = e.rank(input);
  for (int i = 0; i < rank - 2; ++i) perm.push_back(i);
  perm.push_back(rank - 1);
  perm.push_back(rank - 2);
  return transposed(e, e.in(input), perm);
}

Names matmul(const Emitted& e) {
  const auto operand = [&](size_t i, const char* plain, const char* adjoint) {
    return e.attr(plain).as_bool() || e.attr(adjoint).as_bool() ? turned(e, i) : e.in(i);
  };
  return {e.out.put(
      "MatMul", {operand(0, "transpose_a", "adjoint_a"), operand(1, "transpose_b", "adjoint_b")})};
}

/// Not inlined: the compiler loses sight of what a moved Attr holds, and warns.
[[gnu::noinline]] void add(std::vector<Given>& to, std::string_view name, const Attr& value) {
  to.push_back({name, value});
}

/// strides, dilations and padding as attributes there.
std::vector<Given> window(const Emitted& e) {
  std::vector<Given> out;
  const auto spatial = static_cast<size_t>(e.rank(0) - 2);
  const auto filled = [&](const char* name) {
    const Ints& given = e.attr(name).as_ints();
    if (given.size() > 1) return given;
    return Ints(spatial, given.empty() ? 1 : given[0]);
  };
  add(out, "strides", filled("strides"));
  add(out, "dilations", filled("dilations"));
  const std::string& padding = e.attr("padding").as_string();
  if (padding == "SAME") add(out, "auto_pad", "SAME_UPPER");
  if (padding == "EXPLICIT") {
    const Ints& pairs = e.attr("explicit_paddings").as_ints();
    Ints pads(pairs.size());
    for (size_t i = 0; i < pairs.size() / 2; ++i) {
      pads[i] = pairs[2 * i];
      pads[i + pairs.size() / 2] = pairs[2 * i + 1];
    }
    add(out, "pads", pads);
  }
  return out;
}

/// SAME as numbers, where filters have gaps: runtimes know auto_pad without gaps alone. Nothing
/// where they depend on sizes that only a run knows.
void put_same_as_pads(const Emitted& e, std::vector<Given>& attrs) {
  const auto numbers = [&](std::string_view name) {
    return std::ranges::find(attrs, name, &Given::name)->value.as_ints();
  };
  const Ints strides = numbers("strides"), dilations = numbers("dilations");
  const size_t spatial = strides.size();
  if (e.attr("padding").as_string() != "SAME" || dilations == Ints(spatial, 1)) return;
  Ints pads(2 * spatial);
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t size = e.tensor(0).dim(static_cast<int>(i) + 1);
    const int64_t width = (e.tensor(1).dim(static_cast<int>(i)) - 1) * dilations[i] + 1;
    if (size == kUnknownDim && strides[i] != 1) return;
    const int64_t last = strides[i] == 1 ? 0 : (size - 1) / strides[i] * strides[i] - (size - 1);
    const int64_t total = std::max<int64_t>(0, width - 1 + last);
    pads[i] = total / 2;
    pads[spatial + i] = total - total / 2;
  }
  std::erase_if(attrs, [](const Given& one) { return one.name == "auto_pad"; });
  add(attrs, "pads", pads);
}

Names convolution(const Emitted& e) {
  const int rank = e.rank(0);
  const Tensor &images = e.tensor(0), &filters = e.tensor(1);
  if (images.dim(-1) == kUnknownDim || filters.dim(-2) <= 0) {
    fail<UnimplementedError>("[convolution] of an unknown number of channels has no form in ONNX");
  }
  Ints perm{rank - 1, rank - 2};
  for (int i = 0; i < rank - 2; ++i) perm.push_back(i);
  std::vector<Given> attrs = window(e);
  put_same_as_pads(e, attrs);
  add(attrs, "group", images.dim(-1) / filters.dim(-2));
  const std::string y = e.out.put(
      "Conv", {transposed(e, e.in(0), channels_first(rank)), transposed(e, e.in(1), perm)}, attrs);
  return {transposed(e, y, channels_last(rank))};
}

template <bool is_max>
Names pool(const Emitted& e) {
  const int rank = e.rank(0);
  std::vector<Given> attrs = window(e);
  const auto is_spread = [](const Given& one) {
    return one.name == "dilations" && one.value.as_ints() != Ints(one.value.as_ints().size(), 1);
  };
  const bool has_gaps = std::any_of(attrs.begin(), attrs.end(), is_spread);
  if (has_gaps && !is_max) {
    fail<UnimplementedError>("[avg_pool] with dilations has no form in ONNX before opset 19");
  }
  if (!has_gaps) std::erase_if(attrs, [](const Given& one) { return one.name == "dilations"; });
  add(attrs, "kernel_shape", e.attr("ksize"));
  const std::string y = e.out.put(is_max ? "MaxPool" : "AveragePool",
                                  {transposed(e, e.in(0), channels_first(rank))}, attrs);
  return {transposed(e, y, channels_last(rank))};
}

Names reshape(const Emitted& e) {
  return {e.out.put("Reshape", {e.in(0), e.as_int64(1)}, {{"allowzero", true}})};
}
Names expand(const Emitted& e) { return {e.out.put("Expand", {e.in(0), e.as_int64(1)})}; }
Names fill(const Emitted& e) { return {e.out.put("Expand", {e.in(1), e.as_int64(0)})}; }
Names squeeze(const Emitted& e) {
  const Attr& axis = e.attr("axis");
  if (axis.is_none()) return {e.out.put("Squeeze", {e.in(0)})};
  return {e.out.put("Squeeze", {e.in(0), e.out.ints(axis.as_ints())})};
}
Names expand_dims(const Emitted& e) {
  return {e.out.put("Unsqueeze", {e.in(0), e.out.ints({e.attr("axis").as_int()})})};
}

Names slice(const Emitted& e) {
  const std::string begin = e.as_int64(1), size = e.as_int64(2);
  const std::string past = e.put("Add", {begin, size});
  const std::string is_rest = e.put("Less", {size, e.out.ints({0})});
  const std::string end = e.chosen(is_rest, e.out.ints({Emitted::kLast}), past);
  return {e.put("Slice", {e.in(0), begin, end})};
}

/// What a strided slice says of one axis of the input, or of a new one.
struct Cut {
  int64_t place = -1;  // in begin, end and strides; -1: the whole axis is taken
  bool is_new = false, is_one = false;
};

/// `...` stands for as many whole axes as are left.
std::vector<Cut> cuts_of(const Emitted& e, int64_t count) {
  const auto mask = [&](const char* name, int64_t i) { return (e.attr(name).as_int() >> i) & 1; };
  int64_t named = 0;
  for (int64_t i = 0; i < count; ++i) {
    named += !mask("new_axis_mask", i) && !mask("ellipsis_mask", i);
  }
  std::vector<Cut> out;
  for (int64_t i = 0; i < count; ++i) {
    if (mask("ellipsis_mask", i)) {
      for (int64_t n = named; n < e.rank(0); ++n) out.emplace_back();
    } else if (mask("new_axis_mask", i)) {
      out.push_back({.is_new = true});
    } else {
      out.push_back({.place = i, .is_one = mask("shrink_axis_mask", i) != 0});
    }
  }
  return out;
}

/// Numbers of the places that are cut, in their order; `masked`: another number instead of some.
std::string bounds(const Emitted& e, size_t input, const Ints& places, const Ints& masked,
                   const Ints& instead) {
  const std::string all = e.put("Gather", {e.as_int64(input), e.out.ints(places)});
  if (std::count(masked.begin(), masked.end(), 0) == std::ssize(masked)) return all;
  const std::string is_masked = e.cast(e.out.ints(masked), DType::int64, DType::bool_);
  return e.chosen(is_masked, e.out.ints(instead), all);
}

Names strided_slice(const Emitted& e) {
  const Ints strides = known(e, 3);
  Ints places, axes, steps, first, last, no_begin, no_end, gone, added;
  int64_t axis = 0, made = 0;
  for (const Cut& cut : cuts_of(e, std::ssize(strides))) {
    if (cut.is_new) {
      added.push_back(made++);
      continue;
    }
    if (cut.place >= 0) {
      const auto at = static_cast<size_t>(cut.place);
      const auto has = [&](const char* mask) { return (e.attr(mask).as_int() >> at) & 1; };
      places.push_back(cut.place);
      axes.push_back(axis);
      steps.push_back(cut.is_one ? 1 : strides[at]);
      first.push_back(strides[at] < 0 ? Emitted::kLast : 0);
      last.push_back(strides[at] < 0 ? -Emitted::kLast : Emitted::kLast);
      no_begin.push_back(!cut.is_one && has("begin_mask"));
      no_end.push_back(!cut.is_one && has("end_mask"));
      if (cut.is_one) gone.push_back(axis);
    }
    made += !cut.is_one;
    ++axis;
  }
  std::string out = e.in(0);
  if (!places.empty()) {
    const std::string begin = bounds(e, 1, places, no_begin, first);
    std::string end = bounds(e, 2, places, no_end, last);
    if (!gone.empty()) {  // one element: up to the next, or to the end where it is the last
      Ints is_one;
      for (int64_t at : axes) is_one.push_back(std::count(gone.begin(), gone.end(), at));
      const std::string next = e.put("Add", {begin, e.out.ints({1})});
      const std::string is_end = e.put("Equal", {next, e.out.ints({0})});
      const std::string stop = e.chosen(is_end, e.out.ints({Emitted::kLast}), next);
      end = e.chosen(e.cast(e.out.ints(is_one), DType::int64, DType::bool_), stop, end);
    }
    out = e.put("Slice", {out, begin, end, e.out.ints(axes), e.out.ints(steps)});
  }
  if (!gone.empty()) out = e.put("Squeeze", {out, e.out.ints(gone)});
  if (!added.empty()) out = e.put("Unsqueeze", {out, e.out.ints(added)});
  return {out};
}

Names pad(const Emitted& e) {
  const std::string& mode = e.attr("mode").as_string();
  if (mode == "SYMMETRIC") fail<UnimplementedError>("[pad] by mode SYMMETRIC has no form in ONNX");
  const std::string by_side = e.put("Transpose", {e.as_int64(1)}, {{"perm", Ints{1, 0}}});
  const std::string pads = e.put("Reshape", {by_side, e.out.ints({-1})});
  if (mode == "REFLECT") return {e.put("Pad", {e.in(0), pads}, {{"mode", "reflect"}})};
  return {e.put("Pad", {e.in(0), pads, e.in(2)}, {{"mode", "constant"}})};
}

Names stack(const Emitted& e) {
  Names parts;
  int64_t axis = e.attr("axis").as_int();
  if (axis < 0) axis += e.rank(0) + 1;
  for (size_t i = 0; i < e.node.inputs.size(); ++i) {
    parts.push_back(e.out.put("Unsqueeze", {e.in(i), e.out.ints({axis})}));
  }
  return {e.out.put("Concat", parts, {{"axis", axis}})};
}

Names split(const Emitted& e) {
  Names outputs;
  for (size_t i = 0; i < e.node.outputs.size(); ++i) outputs.push_back(e.out.fresh());
  Ints sizes;
  for (const graph::OutputInfo& part : e.node.outputs)
    sizes.push_back(part.shape.dim(static_cast<int>(e.attr("axis").as_int())));
  if (std::count(sizes.begin(), sizes.end(), kUnknownDim)) {  // equal parts of an unknown size
    const Given attrs[] = {{"axis", e.attr("axis")},
                           {"num_outputs", static_cast<int64_t>(outputs.size())}};
    e.out.put_all("Split", {e.in(0)}, outputs, attrs);
    return outputs;
  }
  const Given attrs[] = {{"axis", e.attr("axis")}};
  e.out.put_all("Split", {e.in(0), e.out.ints(sizes)}, outputs, attrs);
  return outputs;
}

Names reduced(const Emitted& e, std::string_view op) {
  const Attr& axis = e.attr("axis");
  Names inputs{e.in(0)};
  if (!axis.is_none()) inputs.push_back(e.out.ints(axis.as_ints()));
  const bool is_noop = !axis.is_none() && axis.as_ints().empty();
  return {
      e.out.put(op, inputs, {{"keepdims", e.attr("keepdims")}, {"noop_with_empty_axes", is_noop}})};
}
Names sum(const Emitted& e) { return reduced(e, "ReduceSum"); }
Names mean(const Emitted& e) { return reduced(e, "ReduceMean"); }
Names max(const Emitted& e) { return reduced(e, "ReduceMax"); }
Names min(const Emitted& e) { return reduced(e, "ReduceMin"); }
Names prod(const Emitted& e) { return reduced(e, "ReduceProd"); }

Names variance(const Emitted& e) {
  const Attr& axis = e.attr("axis");
  Names inputs{e.in(0)};
  if (!axis.is_none()) inputs.push_back(e.out.ints(axis.as_ints()));
  const std::string average = e.out.put("ReduceMean", inputs, {{"keepdims", true}});
  const std::string apart = e.out.put("Sub", {e.in(0), average});
  inputs[0] = e.out.put("Mul", {apart, apart});
  return {e.out.put("ReduceMean", inputs, {{"keepdims", e.attr("keepdims")}})};
}

template <bool is_max>
Names arg_extreme(const Emitted& e) {
  const Attr& axis = e.attr("axis");
  const std::string at =
      e.out.put(is_max ? "ArgMax" : "ArgMin", {e.in(0)},
                {{"axis", axis.is_none() ? Attr(0) : axis}, {"keepdims", false}});
  const DType dtype = e.attr("output_type").as_dtype();
  return {dtype == DType::int64 ? at : e.out.put("Cast", {at}, {{"to", dtype}})};
}

Names shape(const Emitted& e) {
  const std::string sizes = e.out.put("Shape", {e.in(0)});
  const DType dtype = e.attr("out_type").as_dtype();
  return {dtype == DType::int64 ? sizes : e.out.put("Cast", {sizes}, {{"to", dtype}})};
}

std::string like(const Emitted& e, double value) {
  const std::string sizes = e.out.put("Shape", {e.in(0)});
  return e.out.put("Expand", {e.out.real(value, e.node.outputs[0].dtype), sizes});
}
Names zeros_like(const Emitted& e) { return {like(e, 0)}; }
Names ones_like(const Emitted& e) { return {like(e, 1)}; }

Names tile(const Emitted& e) { return {e.put("Tile", {e.in(0), e.as_int64(1)})}; }
Names gather_nd(const Emitted& e) {
  return {e.put("GatherND", {e.in(0), e.as_int64(1)}, {{"batch_dims", e.attr("batch_dims")}})};
}
Names scatter(const Emitted& e) { return {e.put("ScatterND", {e.in(0), e.as_int64(1), e.in(2)})}; }

Names square(const Emitted& e) { return {e.out.put("Mul", {e.in(0), e.in(0)})}; }
Names rsqrt(const Emitted& e) { return {e.out.put("Reciprocal", {e.out.put("Sqrt", {e.in(0)})})}; }
Names squared_difference(const Emitted& e) {
  const std::string apart = e.out.put("Sub", {e.in(0), e.in(1)});
  return {e.out.put("Mul", {apart, apart})};
}
Names relu6(const Emitted& e) {
  const DType dtype = e.tensor(0).dtype();
  return {e.out.put("Clip", {e.in(0), e.out.real(0, dtype), e.out.real(6, dtype)})};
}
Names swish(const Emitted& e) {
  const double beta = e.attr("beta").as_real();
  const std::string x =
      beta == 1 ? e.in(0) : e.out.put("Mul", {e.in(0), e.out.real(beta, e.tensor(0).dtype())});
  return {e.out.put("Mul", {e.in(0), e.out.put("Sigmoid", {x})})};
}
Names gelu(const Emitted& e) {
  const DType dtype = e.tensor(0).dtype();
  const auto n = [&](double value) { return e.out.real(value, dtype); };
  const std::string x = e.in(0);
  std::string inside;
  if (e.attr("approximate").as_bool()) {
    const std::string cube = e.out.put("Mul", {e.out.put("Mul", {x, x}), x});
    const std::string sum = e.out.put("Add", {x, e.out.put("Mul", {cube, n(0.044715)})});
    inside = e.out.put("Tanh", {e.out.put("Mul", {sum, n(0.7978845608028654)})});
  } else {
    inside = e.out.put("Erf", {e.out.put("Mul", {x, n(0.7071067811865476)})});
  }
  const std::string half = e.out.put("Mul", {x, n(0.5)});
  return {e.out.put("Mul", {half, e.out.put("Add", {inside, n(1)})})};
}
Names layer_norm(const Emitted& e) {
  Names outputs{e.out.fresh(), e.out.fresh(), e.out.fresh()};
  const Given attrs[] = {{"axis", -1}, {"epsilon", e.attr("epsilon")}};
  e.out.put_all("LayerNormalization", {e.in(0), e.in(1), e.in(2)}, outputs, attrs);
  return outputs;
}
Names same(const Emitted& e) { return {e.out.put("Identity", {e.in(0)})}; }
Names not_equal(const Emitted& e) {
  return {e.out.put("Not", {e.out.put("Equal", {e.in(0), e.in(1)})})};
}

// op names: how each of these, which have no one op there, is written
constexpr NamedEmit kEmits[] = {
    {"matmul", matmul},
    {"convolution", convolution},
    {"max_pool", pool<true>},
    {"avg_pool", pool<false>},
    {"reshape", reshape},
    {"broadcast_to", expand},
    {"fill", fill},
    {"squeeze", squeeze},
    {"expand_dims", expand_dims},
    {"slice", slice},
    {"strided_slice", strided_slice},
    {"pad", pad},
    {"stack", stack},
    {"split", split},
    {"sum", sum},
    {"mean", mean},
    {"max", max},
    {"min", min},
    {"prod", prod},
    {"variance", variance},
    {"argmax", arg_extreme<true>},
    {"argmin", arg_extreme<false>},
    {"shape", shape},
    {"zeros_like", zeros_like},
    {"ones_like", ones_like},
    {"tile", tile},
    {"gather_nd", gather_nd},
    {"tensor_scatter_nd_update", scatter},
    {"square", square},
    {"rsqrt", rsqrt},
    {"squared_difference", squared_difference},
    {"relu6", relu6},
    {"swish", swish},
    {"gelu", gelu},
    {"layer_norm", layer_norm},
    {"stop_gradient", same},
    {"ensure_shape", same},
    {"not_equal", not_equal},
};

}  // namespace

std::span<const NamedEmit> plain_emits() { return kEmits; }

Emit find_emit(std::string_view op) {
  for (const auto& some : {plain_emits(), array_emits(), learned_emits(), math_emits()}) {
    for (const NamedEmit& one : some) {
      if (one.op == op) return one.emit;
    }
  }
  return nullptr;
}

}  // namespace tidemark::io::onnx
