#include "tidemark/io/onnx/writer.h"

#include <tidemark/call.h>

#include <algorithm>
#include <set>

#include "tidemark/graph/specials.h"
#include "tidemark/io/onnx/emitter.h"

namespace tidemark::io::onnx {

namespace {

constexpr int64_t kIrVersion = 8;

/// Whether every attribute that has no place there has its default.
bool says_all(const graph::Node& node, const ForeignOp& foreign) {
  for (size_t i = 0; i < node.attrs.size(); ++i) {
    const Param& param = node.op->params()[static_cast<size_t>(node.op->attrs()[i])];
    bool is_said = node.attrs[i] == param.fallback || (node.attrs[i].is_none() && param.optional);
    for (const auto& [theirs, ours] : foreign.attrs) is_said |= ours == param.name;
    for (const std::string& input : foreign.inputs) is_said |= input == param.name;
    if (!is_said) return false;
  }
  return true;
}

bool is_written(const graph::Node& node) {
  if (!node.op) {
    return graph::is_constant(node) || (node.special && node.special->shown_variable()) ||
           (node.special && node.outputs.empty());
  }
  if (find_emit(node.op->name())) return true;
  const ForeignOp* foreign = node.op->foreign(Vocabulary::onnx);
  return foreign && says_all(node, *foreign);
}

/// An attribute of ours that is an input there.
std::string attr_as_input(Emitter& out, const Attr& attr) {
  if (attr.is_none()) return {};
  if (attr.kind() == AttrKind::ints) return out.ints(attr.as_ints());
  return out.constant(
      Tensor(attr.kind() == AttrKind::boolean ? int64_t{attr.as_bool()} : attr.as_int()));
}

Names put_one_to_one(Emitter& out, const graph::Node& node) {
  const OpDef& op = *node.op;
  const ForeignOp& foreign = *op.foreign(Vocabulary::onnx);
  Names inputs;
  for (const std::string& name : foreign.inputs) {
    if (const int attr = op.attr_index(name); attr >= 0) {
      inputs.push_back(attr_as_input(out, node.attrs[static_cast<size_t>(attr)]));
      continue;
    }
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (op.input_param(static_cast<int>(i)).name == name)
        inputs.push_back(out.name_of(node.inputs[i]));
    }
  }
  std::vector<Given> attrs;
  for (const auto& [theirs, ours] : foreign.attrs) {
    Attr value = node.attrs[static_cast<size_t>(op.attr_index(ours))];
    if (value.is_none() && op.is_along_axis()) value = Attr(int64_t{op.axis_unless_given()});
    attrs.push_back({theirs, std::move(value)});
  }
  Names outputs;
  for (size_t i = 0; i < node.outputs.size(); ++i) outputs.push_back(out.fresh());
  out.put_all(foreign.name, inputs, outputs, attrs);
  return outputs;
}

void put_node(Emitter& out, const graph::Node& node) {
  if (node.op) {
    const Emit emit = find_emit(node.op->name());
    const Names names = emit ? emit({out, node}) : put_one_to_one(out, node);
    for (size_t i = 0; i < names.size(); ++i) {
      out.set_name(node, static_cast<uint32_t>(i), names[i]);
    }
    return;
  }
  if (graph::is_constant(node)) return out.set_name(node, 0, out.name_of(node.inputs[0]));
  if (const Variable* variable = node.special->shown_variable();
      variable && !node.outputs.empty()) {
    const NoHandlers now;
    out.set_name(node, 0, out.constant(variable->value()));
  }
}

std::string value_info(const std::string& name, const Tensor& t) {
  BytesSink shape, tensor, type, out;
  for (int i = 0; t.shape().has_rank() && i < t.rank(); ++i) {
    BytesSink dim;
    if (t.dim(i) == kUnknownDim) {
      put_bytes_field(dim, 2, message(name, "_", i));
    } else {
      put_varint_field(dim, 1, static_cast<uint64_t>(t.dim(i)));
    }
    put_bytes_field(shape, 1, dim.bytes);
  }
  put_varint_field(tensor, 1, static_cast<uint64_t>(element_of(t.dtype())));
  if (t.shape().has_rank()) put_bytes_field(tensor, 2, shape.bytes);
  put_bytes_field(type, 1, tensor.bytes);
  put_bytes_field(out, 1, name);
  put_bytes_field(out, 2, type.bytes);
  return std::move(out.bytes);
}

void check_all_written(const graph::Graph& graph) {
  std::set<std::string> missing;
  for (const graph::Node* node : graph.nodes()) {
    if (graph.inputs().end() !=
        std::find_if(graph.inputs().begin(), graph.inputs().end(),
                     [&](const Tensor& t) { return &graph::node_of(t) == node; })) {
      continue;
    }
    if (!is_written(*node)) missing.insert(std::string(graph::kind_of(*node)));
  }
  if (missing.empty()) return;
  std::string text = "the function uses what has no form in ONNX yet:";
  for (const std::string& op : missing) text += "\n  " + op;
  throw UnimplementedError(text);
}

}  // namespace

std::string write_model(const graph::Graph& graph, std::span<const std::string> inputs,
                        std::span<const std::string> outputs, int64_t opset) {
  if (opset < kOldestWritten) {
    fail("ONNX models are written for opset ", kOldestWritten, " and later; ", opset, " was asked");
  }
  if (inputs.size() != graph.inputs().size() || outputs.size() != graph.outputs().size()) {
    fail("the function has ", graph.inputs().size(), " inputs and ", graph.outputs().size(),
         " outputs; ", inputs.size(), " and ", outputs.size(), " names were given");
  }
  check_all_written(graph);
  Emitter out;
  std::set<const graph::Node*> given;
  BytesSink ports, names;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& t = graph.inputs()[i];
    given.insert(&graph::node_of(t));
    out.set_name(graph::node_of(t), 0, inputs[i]);
    put_bytes_field(ports, 11, value_info(inputs[i], t));
  }
  for (const graph::Node* node : graph.nodes()) {
    if (!given.contains(node)) put_node(out, *node);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& t = graph.outputs()[i];
    out.put_all("Identity", {out.name_of(t)}, {outputs[i]}, {});
    put_bytes_field(ports, 12, value_info(outputs[i], t));
  }
  BytesSink body, version, model;
  body.append(out.nodes);
  put_bytes_field(body, 2, graph.name());
  body.append(out.initializers);
  body.append(ports.bytes);
  put_varint_field(model, 1, kIrVersion);
  put_bytes_field(model, 2, "tidemark");
  put_bytes_field(model, 7, body.bytes);
  put_bytes_field(version, 1, "");
  put_varint_field(version, 2, static_cast<uint64_t>(opset));
  put_bytes_field(model, 8, version.bytes);
  return std::move(model.bytes);
}

}  // namespace tidemark::io::onnx
