// How layers of ours are written that are not one op there.
#include "tidemark/io/onnx/channel_order.h"
#include "tidemark/io/onnx/emitter.h"

namespace tidemark::io::onnx {

namespace {

std::string average(const Emitted& e, const std::string& x, const Ints& axes, bool keepdims) {
  return e.put("ReduceMean", {x, e.out.ints(axes)}, {{"keepdims", keepdims}});
}

Names batch_norm(const Emitted& e) {
  Ints axes;
  for (int i = 0; i < e.rank(0) - 1; ++i) axes.push_back(i);
  const DType wide = e.dtype(1);
  const std::string x = e.cast(e.in(0), e.dtype(), wide), mean = average(e, x, axes, false);
  const std::string apart = e.put("Sub", {x, mean});
  const std::string variance = average(e, e.put("Mul", {apart, apart}), axes, false);
  const std::string above = e.put("Add", {variance, e.out.real(e.attr("epsilon").as_real(), wide)});
  const std::string factor = e.put("Div", {e.in(1), e.put("Sqrt", {above})});
  const std::string y = e.put("Add", {e.put("Mul", {apart, factor}), e.in(2)});
  return {e.cast(y, wide, e.dtype()), mean, variance};
}

Names rms_norm(const Emitted& e) {
  const std::string x = e.in(0), square = average(e, e.put("Mul", {x, x}), {-1}, true);
  const std::string above = e.put("Add", {square, e.real(e.attr("epsilon").as_real())});
  const std::string factor = e.put("Reciprocal", {e.put("Sqrt", {above})});
  const std::string y = e.put("Mul", {e.put("Mul", {x, factor}), e.in(1)});
  return {y, e.put("Squeeze", {factor, e.out.ints({-1})})};
}

/// True where a query may see a key: up to its own place, counted from the end.
std::string seen_so_far(const Emitted& e) {
  const auto number = [&](int64_t value) { return e.out.constant(Tensor(value)); };
  const auto count = [&](size_t i) {
    return e.put("Squeeze", {e.sizes(i, -2, -1), e.out.ints({0})});
  };
  const std::string queries = count(0), keys = count(1);
  const auto line = [&](const std::string& size) {
    return e.put("Range", {number(0), size, number(1)});
  };
  const std::string rows = e.put("Unsqueeze", {line(queries), e.out.ints({-1})});
  const std::string last = e.put("Add", {rows, e.put("Sub", {keys, queries})});
  return e.put("LessOrEqual", {line(keys), last});
}

Names attention(const Emitted& e) {
  const int rank = e.rank(1);
  Ints perm;
  for (int i = 0; i < rank - 2; ++i) perm.push_back(i);
  perm.push_back(rank - 1);
  perm.push_back(rank - 2);
  const std::string keys = e.put("Transpose", {e.in(1)}, {{"perm", perm}});
  std::string scores = e.put("MatMul", {e.in(0), keys});
  scores = e.put("Mul", {scores, e.real(e.attr("scale").as_real())});
  const std::string low = e.real(e.dtype() == DType::float16 ? -3e4 : -1.7e38);
  if (e.attr("causal").as_bool()) scores = e.chosen(seen_so_far(e), scores, low);
  if (e.rank(3) != 0) scores = e.chosen(e.in(3), scores, low);
  const std::string weights = e.put("Softmax", {scores}, {{"axis", -1}});
  const std::string sums =
      e.put("ReduceLogSumExp", {scores, e.out.ints({-1})}, {{"keepdims", false}});
  return {e.put("MatMul", {weights, e.in(2)}), sums};
}

/// How far the result of a transposed convolution is cut at both ends, and made longer, along one
/// axis of the picture.
struct Fit {
  int64_t begin, end, more;
};

Fit fit_of(const Emitted& e, size_t axis, int64_t stride, int64_t reach) {
  const std::string& padding = e.attr("padding").as_string();
  if (padding == "EXPLICIT") {
    const Ints& pads = e.attr("explicit_paddings").as_ints();
    const int64_t given = e.tensor(2).dim(static_cast<int>(axis) + 1);
    const int64_t wanted = e.node.outputs[0].shape.dim(static_cast<int>(axis) + 1);
    const bool is_known = given >= 0 && wanted >= 0;
    const int64_t begin = pads[2 * axis], end = pads[2 * axis + 1];
    return {begin, end, is_known ? wanted - (stride * (given - 1) + reach - begin - end) : 0};
  }
  const int64_t given = e.tensor(2).dim(static_cast<int>(axis) + 1);
  int64_t wanted = e.node.outputs[0].shape.dim(static_cast<int>(axis) + 1);
  int64_t total = padding == "SAME" ? reach - stride : std::min<int64_t>(0, reach - stride);
  if (given >= 0 && wanted >= 0) total = stride * (given - 1) + reach - wanted;
  if (total < 0) return {0, 0, -total};
  const int64_t begin = padding == "SAME" ? total / 2 : 0;
  return {begin, total - begin, 0};
}

/// The gradient of a convolution for its input is what others call a transposed convolution.
Names transposed_convolution(const Emitted& e) {
  const int rank = e.rank(2);
  const auto spatial = static_cast<size_t>(rank - 2);
  const Tensor& filters = e.tensor(1);
  const int64_t channels = e.node.outputs[0].shape.dim(-1);
  if (channels <= 0 || filters.dim(-2) <= 0) {
    fail<UnimplementedError>(
        "[convolution_input_grad] of an unknown number of channels has no form in ONNX");
  }
  const auto filled = [&](const char* name) {
    const Ints& given = e.attr(name).as_ints();
    return given.size() > 1 ? given : Ints(spatial, given.empty() ? 1 : given[0]);
  };
  const Ints strides = filled("strides"), dilations = filled("dilations");
  Ints begins, ends, more, perm{rank - 1, rank - 2};
  for (size_t i = 0; i < spatial; ++i) {
    perm.push_back(static_cast<int64_t>(i));
    const int64_t reach = (filters.dim(static_cast<int>(i)) - 1) * dilations[i] + 1;
    const Fit fit = fit_of(e, i, strides[i], reach);
    begins.push_back(fit.begin);
    ends.push_back(fit.end);
    more.push_back(fit.more);
  }
  begins.insert(begins.end(), ends.begin(), ends.end());
  const std::string x = e.put("Transpose", {e.in(2)}, {{"perm", channels_first(rank)}});
  const std::string w = e.put("Transpose", {e.in(1)}, {{"perm", perm}});
  const std::string y = e.put("ConvTranspose", {x, w},
                              {{"strides", strides},
                               {"dilations", dilations},
                               {"pads", begins},
                               {"output_padding", more},
                               {"group", channels / filters.dim(-2)}});
  return {e.put("Transpose", {y}, {{"perm", channels_last(rank)}})};
}

Names resize_images(const Emitted& e) {
  const std::string& method = e.attr("method").as_string();
  const bool is_near = method == "nearest", is_cubic = method == "bicubic";
  if (!is_near && !is_cubic && method != "bilinear") {
    fail<UnimplementedError>("[resize_images] by ", method, " has no form in ONNX");
  }
  const DType wide = is_near ? e.dtype() : DType::float32;
  const std::string x =
      e.put("Transpose", {e.cast(e.in(0), e.dtype(), wide)}, {{"perm", channels_first(4)}});
  const std::string sizes =
      e.put("Concat", {e.put("Shape", {x}, {{"end", int64_t{2}}}), e.as_int64(1)}, {{"axis", 0}});
  const std::string y = e.put("Resize", {x, "", "", sizes},
                              {{"mode", is_near    ? "nearest"
                                        : is_cubic ? "cubic"
                                                   : "linear"},
                               {"coordinate_transformation_mode", "half_pixel"},
                               {"nearest_mode", is_near ? Attr("round_prefer_ceil") : Attr()},
                               {"cubic_coeff_a", is_cubic ? Attr(-0.5) : Attr()},
                               {"exclude_outside", is_cubic ? Attr(true) : Attr()},
                               {"antialias", e.attr("antialias").as_bool() ? Attr(true) : Attr()}});
  const std::string back = e.put("Transpose", {y}, {{"perm", channels_last(4)}});
  return {e.cast(back, wide, e.made())};
}

// op names: how each of these is written
constexpr NamedEmit kEmits[] = {
    {"batch_norm", batch_norm},       {"rms_norm", rms_norm},
    {"attention", attention},         {"convolution_input_grad", transposed_convolution},
    {"resize_images", resize_images},
};

}  // namespace

std::span<const NamedEmit> learned_emits() { return kEmits; }

}  // namespace tidemark::io::onnx
