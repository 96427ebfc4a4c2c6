// Functions of a message's library: what they take, their nodes, what they give.
#include <algorithm>
#include <charconv>

#include "tidemark/io/tensorflow/writing/node_writer.h"

namespace tidemark::io::tensorflow {

namespace {

using graph::Node;

/// What nodes have in common that one function can stand for.
std::string likeness(const Node& node) {
  std::string out(graph::kind_of(node));
  for (const Attr& attr : node.attrs) {
    out += message(";", attr.is_none() ? std::string("none") : attr.to_string());
  }
  for (const Tensor& t : node.inputs) out += message(";", name_of(t.dtype()), t.shape());
  return out;
}

/// Real numbers as text, so that none of their digits is lost.
WrittenAttr noted_attr(const Attr& value) {
  if (value.kind() != AttrKind::real) return plain_attr(value);
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value.as_real()).ptr;
  return text_attr({digits, end});
}

/// ArgDef.
std::string argument_def(const std::string& name, DType dtype) {
  BytesSink out;
  put_bytes_field(out, 1, name);
  put_varint_field(out, 3, static_cast<uint64_t>(dtype));
  return std::move(out.bytes);
}

}  // namespace

FunctionWriter::FunctionWriter(Library& library, const std::string& name, std::vector<DType> inputs,
                               std::span<const NamedVariable> variables)
    : NodeWriter(library), name_(library.fresh(name)), types_(std::move(inputs)) {
  const size_t own = types_.size();
  types_.resize(own + variables.size(), kResource);
  for (size_t i = 0; i < types_.size(); ++i) arguments_.push_back(fresh(message("input_", i)));
  for (size_t i = 0; i < variables.size(); ++i) set_handle(variables[i].id, arguments_[own + i]);
}

void FunctionWriter::write_graph(const graph::Graph& graph, std::span<const size_t> places) {
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Node& input = graph::node_of(graph.inputs()[i]);
    give(input, 0, arguments_[places[i]]);
    made_by(input, arguments_[places[i]]);
  }
  write_all(graph);
  for (const Node* node : graph.nodes()) {
    if (!graph::is_placeholder(*node) && tensorflow::is_stateful(*node)) stateful_.push_back(node);
  }
}

Names FunctionWriter::write_results(std::span<const Tensor> outputs) {
  Names before;
  if (!stateful_.empty()) {
    Names waiting;
    for (const Node* node : stateful_) waiting.push_back(maker_of(*node));
    before.push_back(add(fresh("NoOp"), "NoOp", {}, {}, waiting));
  }
  Names out;
  for (const Tensor& t : outputs) {
    const std::string name = fresh("Identity");
    out.push_back(add(name, "Identity", {given(t, name + "/input")}, {}, before));
  }
  return out;
}

/// `node:2` as functions write it: `node:output:0`, by the names of the op's outputs.
std::string FunctionWriter::inside(const std::string& reference) const {
  const size_t colon = reference.find(':');
  const std::string name = reference.substr(0, colon);
  const auto found = std::find_if(nodes().begin(), nodes().end(),
                                  [&](const WrittenNode& node) { return node.name == name; });
  if (reference.starts_with('^') || found == nodes().end()) return reference;
  int64_t at = colon == std::string::npos ? 0 : std::stoll(reference.substr(colon + 1));
  const OpForm* form = library.ops.find(found->op);
  if (!form) return message(name, ":output:", at);
  for (const OpArgument& output : form->outputs) {
    int64_t count = 1;
    if (output.is_list) count = found->attrs.at(std::string(output.kind)).count;
    if (!output.number.empty()) count = found->attrs.at(std::string(output.number)).count;
    if (at < count) return message(name, ":", output.name, ":", at);
    at -= count;
  }
  return message(name, ":output:", at);
}

void FunctionWriter::finish(const Names& results, std::span<const DType> types) {
  BytesSink signature, function, body;
  put_bytes_field(signature, 1, name_);
  for (size_t i = 0; i < arguments_.size(); ++i) {
    put_bytes_field(signature, 2, argument_def(arguments_[i], types_[i]));
  }
  for (WrittenNode node : nodes()) {
    for (std::string& input : node.inputs) input = inside(input);
    put_bytes_field(body, 3, bytes_of(node));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string output = message("output_", i);
    put_bytes_field(signature, 3, argument_def(output, types[i]));
    put_entry(body, 4, output, inside(results[i]));
  }
  std::set<std::string> awaited;
  for (const Node* node : stateful_) awaited.insert(maker_of(*node));
  if (!awaited.empty()) put_varint_field(signature, 17, 1);
  for (const std::string& name : awaited) {
    put_bytes_field(signature, 20, name);
    put_entry(body, 6, name, name);
  }
  put_bytes_field(function, 1, signature.bytes);
  function.append(body.bytes);
  library.add(std::move(function.bytes));
}

bool FunctionWriter::write_composed(const Node& node, const std::string& label) {
  if (!library.notes_ours || is_noted_) return NodeWriter::write_composed(node, label);
  return write_noted(node, label);
}

bool FunctionWriter::write_noted(const Node& node, const std::string& label) {
  std::vector<DType> types, made;
  for (const Tensor& t : node.inputs) types.push_back(t.dtype());
  for (const graph::OutputInfo& output : node.outputs) made.push_back(output.dtype);
  const std::string key = likeness(node);
  if (!library.noted.contains(key)) {
    if (!find_composed(node.op->name()) && !find_expansion(node.op->name())) return false;
    FunctionWriter inner(library, message("tidemark_", node.op->name()), types, {});
    inner.is_noted_ = true;
    // The same op on arguments of the function.
    const std::shared_ptr<graph::Graph> graph = graph::Graph::create("inside");
    for (const Tensor& t : node.inputs) graph->add_input(t.dtype(), t.shape());
    const graph::NodeRef copy = graph->new_node();
    copy->op = node.op;
    copy->attrs = node.attrs;
    copy->inputs = graph->inputs();
    copy->outputs = node.outputs;
    for (size_t i = 0; i < graph->inputs().size(); ++i) {
      const Node& input = graph::node_of(graph->inputs()[i]);
      inner.give(input, 0, inner.argument(i));
      inner.made_by(input, inner.argument(i));
    }
    const std::string name = inner.fresh(node.op->name());
    if (!inner.NodeWriter::write_composed(*copy, name)) return false;
    Names results;
    for (uint32_t i = 0; i < made.size(); ++i) results.push_back(inner.given_reference(*copy, i));
    inner.finish(results, made);
    library.noted.emplace(key, inner.name());
  }
  std::vector<Given> inputs{Given(Names{}, std::vector<DType>{})};
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    inputs[0].references.push_back(reference(node.inputs[i], message(label, "/input_", i)));
    inputs[0].dtypes.push_back(node.inputs[i].dtype());
  }
  GivenAttrs attrs{{"Tout", types_attr(made)},
                   {"f", function_attr(library.noted.at(key))},
                   {"_tidemark_op", text_attr(node.op->name())}};
  for (size_t i = 0; i < node.attrs.size(); ++i) {
    const Param& param = node.op->params()[static_cast<size_t>(node.op->attrs()[i])];
    if (!node.attrs[i].is_none()) attrs["_tidemark_" + param.name] = noted_attr(node.attrs[i]);
  }
  add(label, "PartitionedCall", inputs, std::move(attrs));
  return give_all(node, label);
}

}  // namespace tidemark::io::tensorflow
