// Ops whose form in TensorFlow depends on ranks or attributes; constants, variables.
#include <tidemark/create.h>
#include <tidemark/ops.h>

#include <algorithm>

#include "tidemark/graph/specials.h"
#include "tidemark/io/tensorflow/writing/node_writer.h"

namespace tidemark::io::tensorflow {

namespace {

using graph::Node;

std::vector<Given> all_given(NodeWriter& w, const Node& node, const std::string& label,
                             std::initializer_list<const char*> names) {
  std::vector<Given> out;
  for (const char* name : names) {
    if (out.size() == node.inputs.size()) break;
    out.push_back(w.given(node.inputs[out.size()], message(label, "/", name)));
  }
  return out;
}

Given int32_number(NodeWriter& w, const std::string& name, int64_t value) {
  return {w.constant(name, Tensor(static_cast<int32_t>(value))), DType::int32};
}

GivenAttrs dtype_and_shape(const Node& node) {
  return {{"dtype", type_attr(node.outputs[0].dtype)},
          {"shape", shape_attr(node.outputs[0].shape)}};
}

bool placeholder(NodeWriter& w, const Node& node, const std::string& label) {
  w.add(label, "Placeholder", {}, dtype_and_shape(node));
  return w.give_all(node, label);
}

bool constant(NodeWriter& w, const Node& node, const std::string& label) {
  const Tensor& value = node.inputs[0];
  if (value.is_symbolic()) return false;
  w.add(label, "Const", {}, {{"dtype", type_attr(value.dtype())}, {"value", tensor_attr(value)}});
  return w.give_all(node, label);
}

/// What only tapes see: the values themselves.
bool passed(NodeWriter& w, const Node& node, const std::string& label) {
  const size_t first = *node.special->passed_inputs_at();
  for (uint32_t i = 0; i < node.outputs.size(); ++i) {
    const std::string name = i == 0 ? label : w.fresh(message(label, "/output_", i));
    w.add(name, "Identity", {w.given(node.inputs[first + i], label + "/input")});
    w.give(node, i, name);
  }
  return true;
}

bool read_variable(NodeWriter& w, const Node& node, const std::string& label) {
  const auto use = use_of(node);
  if (!use) return false;
  const std::string handle = w.handle_of(use->variable);
  const bool has_its_name = use->variable.name == node.label;
  const std::string name = has_its_name ? w.fresh(label + "/Read/ReadVariableOp") : label;
  w.add(name, "ReadVariableOp", {{handle, kResource}}, {{"dtype", type_attr(use->variable.dtype)}});
  return w.give_all(node, name);
}

bool is_initialized(NodeWriter& w, const Node& node, const std::string& label) {
  const auto use = use_of(node);
  if (!use) return false;
  w.add(label, "VarIsInitializedOp", {{w.handle_of(use->variable), kResource}});
  return w.give_all(node, label);
}

bool update_variable(NodeWriter& w, const Node& node, const std::string& label) {
  const auto use = use_of(node);
  if (!use) return false;
  const std::string_view by = use->op ? std::string_view(use->op->name()) : "assign";
  const std::string_view op = by == "assign"     ? "AssignVariableOp"
                              : by == "add"      ? "AssignAddVariableOp"
                              : by == "subtract" ? "AssignSubVariableOp"
                                                 : "";
  if (op.empty()) return false;
  const Given handle(w.handle_of(use->variable), kResource);
  const WrittenAttr dtype = type_attr(use->variable.dtype);
  w.add(label, op, {handle, w.given(node.inputs[0], label + "/value")}, {{"dtype", dtype}});
  if (node.outputs.empty()) return true;
  // The value that the update leaves behind, for those who look at it.
  const std::string name = w.fresh(label + "/ReadVariableOp");
  w.add(name, "ReadVariableOp", {handle}, {{"dtype", dtype}}, {label});
  return w.give_all(node, name);
}

bool matmul(NodeWriter& w, const Node& node, const std::string& label) {
  const Tensor &a = node.inputs[0], &b = node.inputs[1];
  const auto flag = [&](const char* name) { return attr_of_node(node, name).as_bool(); };
  const bool is_complex_ = is_complex(a.dtype());
  if (is_complex_ && (flag("transpose_a") || flag("transpose_b"))) return false;
  const WrittenAttr flip_a = flag_attr(flag("transpose_a") || flag("adjoint_a"));
  const WrittenAttr flip_b = flag_attr(flag("transpose_b") || flag("adjoint_b"));
  const auto is_matrix = [](const Tensor& t) {
    return t.shape().has_rank() && t.shape().rank() == 2;
  };
  const bool is_plain = is_matrix(a) && is_matrix(b) && !is_complex_;
  GivenAttrs attrs{{is_plain ? "transpose_a" : "adj_x", flip_a},
                   {is_plain ? "transpose_b" : "adj_y", flip_b}};
  w.add(label, is_plain ? "MatMul" : "BatchMatMulV2", all_given(w, node, label, {"a", "b"}),
        std::move(attrs));
  return w.give_all(node, label);
}

// --- windows ------------------------------------------------------------------------------------

/// Numbers along the spatial dimensions, with those of batch and channels around them.
WrittenAttr spatial(const Attr& given, size_t count) {
  Ints values = given.is_none() ? Ints{} : given.as_ints();
  if (values.empty()) values.assign(count, 1);
  if (values.size() == 1) values.assign(count, values[0]);
  if (values.size() == count) {
    values.insert(values.begin(), 1);
    values.push_back(1);
  }
  return ints_attr(values);
}

std::string padding_of(const Node& node) { return attr_of_node(node, "padding").as_string(); }

GivenAttrs window_attrs(const Node& node, int rank) {
  const auto count = static_cast<size_t>(rank - 2);
  GivenAttrs out{{"strides", spatial(attr_of_node(node, "strides"), count)},
                 {"padding", text_attr(padding_of(node))}};
  if (padding_of(node) == "EXPLICIT") {
    Ints edges = attr_of_node(node, "explicit_paddings").as_ints();
    if (edges.size() == 2 * count) {
      edges.insert(edges.begin(), {0, 0});
      edges.insert(edges.end(), {0, 0});
    }
    out["explicit_paddings"] = ints_attr(edges);
  }
  return out;
}

int rank_of(const Shape& shape) { return shape.has_rank() ? shape.rank() : -1; }

/// Conv2D takes groups of channels; where each channel is one, there is an op for that.
bool convolution(NodeWriter& w, const Node& node, const std::string& label) {
  const Shape &image = node.inputs[0].shape(), &filters = node.inputs[1].shape();
  const int rank = rank_of(filters);
  if (rank != 4 && rank != 5) return false;
  const int64_t channels = image.has_rank() ? image[image.rank() - 1] : kUnknownDim;
  const bool is_alike = filters[rank - 2] == channels;
  if (rank == 5 && (!is_alike || padding_of(node) == "EXPLICIT")) return false;
  GivenAttrs attrs = window_attrs(node, rank);
  attrs["dilations"] = spatial(attr_of_node(node, "dilations"), static_cast<size_t>(rank - 2));
  std::vector<Given> given = all_given(w, node, label, {"input", "filter"});
  std::string op = rank == 4 ? "Conv2D" : "Conv3D";
  if (!is_alike && channels != kUnknownDim && filters[2] == 1) {
    op = "DepthwiseConv2dNative";
    const std::string to =
        w.constant(label + "/filter_shape",
                   int32_vector({filters[0], filters[1], channels, filters[3] / channels}));
    const std::string filter =
        w.add(w.fresh(label + "/filter"), "Reshape", {given[1], {to, DType::int32}});
    given[1] = {filter, node.inputs[1].dtype()};
  }
  w.add(label, op, given, std::move(attrs));
  return w.give_all(node, label);
}

bool convolution_grad(NodeWriter& w, const Node& node, const std::string& label) {
  const bool is_input = node.op->name() == "convolution_input_grad";
  const int rank = rank_of(node.inputs[2].shape());
  if ((rank != 4 && rank != 5) || (rank == 5 && padding_of(node) == "EXPLICIT")) return false;
  const std::string op = message(rank == 4 ? "Conv2DBackprop" : "Conv3DBackprop",
                                 is_input ? "Input" : "Filter", rank == 5 ? "V2" : "");
  std::vector<Given> given = all_given(w, node, label, {"input", "filter", "out_backprop"});
  Given& sizes = given[is_input ? 0 : 1];
  if (sizes.dtypes[0] != DType::int32) {
    const std::string narrow =
        w.add(w.fresh(label + "/sizes"), "Cast", {sizes}, {{"DstT", type_attr(DType::int32)}});
    sizes = {narrow, DType::int32};
  }
  GivenAttrs attrs = window_attrs(node, rank);
  attrs["dilations"] = spatial(attr_of_node(node, "dilations"), static_cast<size_t>(rank - 2));
  w.add(label, op, given, std::move(attrs));
  return w.give_all(node, label);
}

bool has_dilations(const Node& node) {
  const Attr& dilations = attr_of_node(node, "dilations");
  return !dilations.is_none() && std::any_of(dilations.as_ints().begin(), dilations.as_ints().end(),
                                             [](int64_t by) { return by != 1; });
}

bool pool(NodeWriter& w, const Node& node, const std::string& label) {
  const bool is_max = node.op->name() == "max_pool";
  const int rank = rank_of(node.inputs[0].shape());
  if ((rank != 4 && rank != 5) || has_dilations(node)) return false;
  if (padding_of(node) == "EXPLICIT" && (!is_max || rank == 5)) return false;
  GivenAttrs attrs = window_attrs(node, rank);
  attrs["ksize"] = spatial(attr_of_node(node, "ksize"), static_cast<size_t>(rank - 2));
  w.add(label, message(is_max ? "MaxPool" : "AvgPool", rank == 5 ? "3D" : ""),
        all_given(w, node, label, {"input"}), std::move(attrs));
  return w.give_all(node, label);
}

bool max_pool_grad(NodeWriter& w, const Node& node, const std::string& label) {
  if (rank_of(node.inputs[0].shape()) != 4 || has_dilations(node)) return false;
  GivenAttrs attrs = window_attrs(node, 4);
  attrs["ksize"] = spatial(attr_of_node(node, "ksize"), 2);
  w.add(label, "MaxPoolGrad", all_given(w, node, label, {"orig_input", "orig_output", "grad"}),
        std::move(attrs));
  return w.give_all(node, label);
}

// --- arrays -------------------------------------------------------------------------------------

bool split(NodeWriter& w, const Node& node, const std::string& label) {
  const Given axis = int32_number(w, label + "/split_dim", attr_of_node(node, "axis").as_int());
  const Given value = w.given(node.inputs[0], label + "/value");
  GivenAttrs attrs{{"num_split", int_attr(static_cast<int64_t>(node.outputs.size()))}};
  const Attr& sizes = attr_of_node(node, "sizes");
  if (sizes.is_none()) {
    w.add(label, "Split", {axis, value}, std::move(attrs));
  } else {
    const std::string list = w.constant(label + "/size_splits", int32_vector(sizes.as_ints()));
    w.add(label, "SplitV", {value, {list, DType::int32}, axis}, std::move(attrs));
  }
  return w.give_all(node, label);
}

bool pad(NodeWriter& w, const Node& node, const std::string& label) {
  std::vector<Given> given = all_given(w, node, label, {"input", "paddings", "constant_values"});
  const std::string& mode = attr_of_node(node, "mode").as_string();
  if (mode == "CONSTANT") {
    w.add(label, "PadV2", given);
  } else {
    given.resize(2, given[0]);
    w.add(label, "MirrorPad", given, {{"mode", text_attr(mode)}});
  }
  return w.give_all(node, label);
}

bool ensure_shape(NodeWriter& w, const Node& node, const std::string& label) {
  w.add(label, "EnsureShape", all_given(w, node, label, {"input"}),
        {{"shape", shape_attr(Shape(attr_of_node(node, "shape").as_ints()))}});
  return w.give_all(node, label);
}

bool linspace(NodeWriter& w, const Node& node, const std::string& label) {
  if (rank_of(node.inputs[0].shape()) != 0) return false;
  w.add(label, "LinSpace", all_given(w, node, label, {"start", "stop", "num"}));
  return w.give_all(node, label);
}

bool diagonal(NodeWriter& w, const Node& node, const std::string& label) {
  const bool is_part = node.op->name() == "diag_part";
  const DType dtype = node.inputs[0].dtype();
  std::vector<Given> given = all_given(w, node, label, {"input"});
  given.push_back(int32_number(w, label + "/k", attr_of_node(node, "k").as_int()));
  if (!is_part) {
    given.push_back(int32_number(w, label + "/num_rows", -1));
    given.push_back(int32_number(w, label + "/num_cols", -1));
  }
  given.emplace_back(w.constant(label + "/padding_value", zeros({}, dtype)), dtype);
  w.add(label, is_part ? "MatrixDiagPartV3" : "MatrixDiagV3", given);
  return w.give_all(node, label);
}

// --- random numbers -----------------------------------------------------------------------------

int64_t seed_of(const Node& node) {
  const Attr& seed = attr_of_node(node, "seed");
  return seed.is_none() ? 0 : seed.as_int();
}

/// Draws that ours scales and shifts.
bool random_real(NodeWriter& w, const Node& node, const std::string& label) {
  const std::string& kind = node.op->name();
  const std::string op = kind == "random_uniform"  ? "RandomUniform"
                         : kind == "random_normal" ? "RandomStandardNormal"
                                                   : "TruncatedNormal";
  const DType dtype = node.outputs[0].dtype;
  const auto real = [&](const char* name) {
    const Attr& value = attr_of_node(node, name);
    return value.kind() == AttrKind::integer ? static_cast<double>(value.as_int())
                                             : value.as_real();
  };
  const bool is_uniform = kind == "random_uniform";
  const double term = real(is_uniform ? "minval" : "mean");
  const double factor = is_uniform ? real("maxval") - term : real("stddev");
  const std::string drawn =
      w.add(w.fresh(message(label, "/", op)), op, all_given(w, node, label, {"shape"}),
            {{"dtype", type_attr(dtype)},
             {"seed", int_attr(seed_of(node))},
             {"seed2", int_attr(seed_of(node))}});
  const Given by(w.constant(label + "/stddev", cast(Tensor(factor), dtype)), dtype);
  const Given plus(w.constant(label + "/mean", cast(Tensor(term), dtype)), dtype);
  const std::string scaled = w.add(w.fresh(label + "/mul"), "Mul", {{drawn, dtype}, by});
  w.add(label, "AddV2", {{scaled, dtype}, plus});
  return w.give_all(node, label);
}

bool random_int(NodeWriter& w, const Node& node, const std::string& label) {
  w.add(label, "RandomUniformInt", all_given(w, node, label, {"shape", "minval", "maxval"}),
        {{"seed", int_attr(seed_of(node))}, {"seed2", int_attr(seed_of(node))}});
  return w.give_all(node, label);
}

// --- Fourier transforms -------------------------------------------------------------------------

bool real_fft(NodeWriter& w, const Node& node, const std::string& label) {
  const bool is_forward = node.op->name() == "rfft";
  const Shape& real = is_forward ? node.inputs[0].shape() : node.outputs[0].shape;
  if (rank_of(real) < 1 || real[real.rank() - 1] == kUnknownDim) return false;
  const DType in = node.inputs[0].dtype(), out = node.outputs[0].dtype;
  const std::string length =
      w.constant(label + "/fft_length", int32_vector({real[real.rank() - 1]}));
  w.add(label, is_forward ? "RFFT" : "IRFFT",
        {w.given(node.inputs[0], label + "/input"), {length, DType::int32}},
        {{"Treal", type_attr(is_forward ? in : out)},
         {"Tcomplex", type_attr(is_forward ? out : in)}});
  return w.give_all(node, label);
}

bool fft(NodeWriter& w, const Node& node, const std::string& label) {
  const Ints& axes = attr_of_node(node, "axes").as_ints();
  const int rank = rank_of(node.inputs[0].shape());
  const auto count = static_cast<int>(axes.size());
  if (count == 0 || count > 3 || rank < count) return false;
  for (int i = 0; i < count; ++i) {  // the last ones, in order
    const int64_t axis = axes[static_cast<size_t>(i)];
    if ((axis < 0 ? axis + rank : axis) != rank - count + i) return false;
  }
  const bool is_inverse = attr_of_node(node, "inverse").as_bool();
  w.add(label, message(is_inverse ? "IFFT" : "FFT", count == 1 ? "" : message(count, "D")),
        all_given(w, node, label, {"input"}));
  return w.give_all(node, label);
}

// op names: those whose form depends on ranks or attributes; a definition names one op.
constexpr NamedWriter kWriters[] = {
    {"avg_pool", pool},
    {"cond", write_control},
    {"constant", constant},
    {"convolution", convolution},
    {"convolution_filter_grad", convolution_grad},
    {"convolution_input_grad", convolution_grad},
    {"diag", diagonal},
    {"diag_part", diagonal},
    {"ensure_shape", ensure_shape},
    {"fft", fft},
    {"irfft", real_fft},
    {"is_variable_initialized", is_initialized},
    {"linspace", linspace},
    {"matmul", matmul},
    {"max_pool", pool},
    {"max_pool_grad", max_pool_grad},
    {"pad", pad},
    {"placeholder", placeholder},
    {"random_normal", random_real},
    {"random_truncated_normal", random_real},
    {"random_uniform", random_real},
    {"random_uniform_int", random_int},
    {"read_variable", read_variable},
    {"rfft", real_fft},
    {"split", split},
    {"update_variable", update_variable},
    {"while", write_control},
};

}  // namespace

WriteNode find_writer(const Node& node) {
  if (node.special && node.special->passed_inputs_at()) return passed;
  for (const NamedWriter& one : kWriters) {
    if (one.op == graph::kind_of(node)) return one.write;
  }
  return nullptr;
}

}  // namespace tidemark::io::tensorflow
