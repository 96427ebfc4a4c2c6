// How ops of ours are written that are not one op there.
#include <algorithm>
#include <limits>

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

Ints channels_first(int rank) {
  Ints perm{0, rank - 1};
  for (int i = 1; i < rank - 1; ++i) perm.push_back(i);
  return perm;
}
Ints channels_last(int rank) {
  Ints perm{0};
  for (int i = 2; i < rank; ++i) perm.push_back(i);
  perm.push_back(1);
  return perm;
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
    return given.empty() ? Ints(spatial, 1) : given;
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

Names convolution(const Emitted& e) {
  const int rank = e.rank(0);
  const Tensor &images = e.tensor(0), &filters = e.tensor(1);
  if (images.dim(-1) == kUnknownDim || filters.dim(-2) <= 0) {
    fail<UnimplementedError>("[convolution] of an unknown number of channels has no form in ONNX");
  }
  Ints perm{rank - 1, rank - 2};
  for (int i = 0; i < rank - 2; ++i) perm.push_back(i);
  std::vector<Given> attrs = window(e);
  add(attrs, "group", images.dim(-1) / filters.dim(-2));
  const std::string y = e.out.put(
      "Conv", {transposed(e, e.in(0), channels_first(rank)), transposed(e, e.in(1), perm)}, attrs);
  return {transposed(e, y, channels_last(rank))};
}

template <bool is_max>
Names pool(const Emitted& e) {
  const int rank = e.rank(0);
  std::vector<Given> attrs = window(e);
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
  const Ints begin = known(e, 1), size = known(e, 2);
  Ints end, axes;
  for (size_t i = 0; i < begin.size(); ++i) {
    end.push_back(size[i] < 0 ? std::numeric_limits<int64_t>::max() : begin[i] + size[i]);
    axes.push_back(static_cast<int64_t>(i));
  }
  return {e.out.put("Slice", {e.in(0), e.out.ints(begin), e.out.ints(end), e.out.ints(axes)})};
}

Names strided_slice(const Emitted& e) {
  const Ints begin = known(e, 1), end = known(e, 2), strides = known(e, 3);
  const auto mask = [&](const char* name) { return e.attr(name).as_int(); };
  if (mask("ellipsis_mask") || mask("new_axis_mask")) {
    fail<UnimplementedError>("[strided_slice] with `...` or new axes has no form in ONNX");
  }
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  Ints from, to, axes, steps, gone;
  for (size_t i = 0; i < begin.size(); ++i) {
    const bool is_back = strides[i] < 0, is_one = (mask("shrink_axis_mask") >> i) & 1;
    from.push_back((mask("begin_mask") >> i) & 1 ? (is_back ? kMost : 0) : begin[i]);
    to.push_back((mask("end_mask") >> i) & 1 ? (is_back ? -kMost : kMost) : end[i]);
    steps.push_back(strides[i]);
    axes.push_back(static_cast<int64_t>(i));
    if (!is_one) continue;
    gone.push_back(static_cast<int64_t>(i));
    from.back() = begin[i];
    to.back() = begin[i] == -1 ? kMost : begin[i] + 1;
    steps.back() = 1;
  }
  const std::string cut = e.out.put(
      "Slice", {e.in(0), e.out.ints(from), e.out.ints(to), e.out.ints(axes), e.out.ints(steps)});
  return {gone.empty() ? cut : e.out.put("Squeeze", {cut, e.out.ints(gone)})};
}

Names pad(const Emitted& e) {
  const std::string& mode = e.attr("mode").as_string();
  if (mode == "SYMMETRIC") fail<UnimplementedError>("[pad] by mode SYMMETRIC has no form in ONNX");
  const Ints table = known(e, 1);
  Ints pads(table.size());
  for (size_t i = 0; i < table.size() / 2; ++i) {
    pads[i] = table[2 * i];
    pads[i + table.size() / 2] = table[2 * i + 1];
  }
  if (mode == "REFLECT") {
    return {e.out.put("Pad", {e.in(0), e.out.ints(pads)}, {{"mode", "reflect"}})};
  }
  return {e.out.put("Pad", {e.in(0), e.out.ints(pads), e.in(2)}, {{"mode", "constant"}})};
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
  if (std::count(sizes.begin(), sizes.end(), kUnknownDim)) {
    fail<UnimplementedError>("[split] into parts of unknown sizes has no form in ONNX");
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

struct Entry {
  std::string_view op;
  Emit emit;
};

// op names: how each of these, which have no one op there, is written
constexpr Entry kEmits[] = {
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

Emit find_emit(std::string_view op) {
  const auto found = std::find_if(std::begin(kEmits), std::end(kEmits),
                                  [&](const Entry& entry) { return entry.op == op; });
  return found == std::end(kEmits) ? nullptr : found->emit;
}

}  // namespace tidemark::io::onnx
