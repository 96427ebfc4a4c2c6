// How branches and loops of ours are written: If and Loop over graphs that see the names around
// them.
#include "tidemark/graph/specials.h"
#include "tidemark/io/onnx/emitter.h"

namespace tidemark::io::onnx {

namespace {

using graph::InnerGraph;

/// Fields of a graph being written; the nodes around it wait.
class Inside {
 public:
  explicit Inside(Emitter& out) : out_(out), around_(std::move(out.nodes)) { out.nodes.clear(); }
  Inside(const Inside&) = delete;

  void add_input(const std::string& name, DType dtype, const Shape& shape) {
    put_bytes_field(ports_, 11, value_info(name, dtype, shape));
  }
  /// An output is a value of its own, also where it comes from around the graph.
  void add_output(const std::string& value, DType dtype, const Shape& shape) {
    const std::string name = out_.put("Identity", {value});
    put_bytes_field(ports_, 12, value_info(name, dtype, shape));
  }
  std::string finish() {
    BytesSink fields;
    fields.append(out_.nodes);
    put_bytes_field(fields, 2, out_.fresh());
    fields.append(ports_.bytes);
    out_.nodes = std::move(around_);
    return std::move(fields.bytes);
  }

 private:
  Emitter& out_;
  std::string around_;
  BytesSink ports_;
};

/// Writes the nodes of an inner graph for these names of its inputs; names of what it gives.
Names inlined(Emitter& out, const graph::Graph& graph, const Names& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    out.set_name(graph::node_of(graph.inputs()[i]), 0, inputs[i]);
  }
  emit_graph(out, graph);
  Names made;
  for (const Tensor& t : graph.outputs()) made.push_back(out.name_of(t));
  return made;
}

Names captured_by(Emitter& out, const graph::Node& node, const InnerGraph& inner) {
  Names names;
  for (const uint32_t at : inner.captured) names.push_back(out.name_of(node.inputs[at]));
  return names;
}

std::string branch(Emitter& out, const graph::Node& node, const InnerGraph& inner) {
  const Names given = captured_by(out, node, inner);
  Inside body(out);
  const Names made = inlined(out, *inner.graph, given);
  for (size_t i = 0; i < made.size(); ++i) {
    const graph::OutputInfo& info = node.outputs[i];
    body.add_output(made[i], info.dtype, info.shape);
  }
  return body.finish();
}

/// By a number: a chain of questions, the last branch for all other numbers.
Names chosen(Emitter& out, const graph::Node& node, std::span<const InnerGraph> branches,
             size_t first) {
  const bool is_bool = node.inputs[0].dtype() == DType::bool_;
  Names made;
  for (size_t i = 0; i < node.outputs.size(); ++i) made.push_back(out.fresh());
  const std::string index = out.name_of(node.inputs[0]);
  if (is_bool) {
    const std::string yes = branch(out, node, branches[1]), no = branch(out, node, branches[0]);
    out.put_with_graphs("If", {index}, made, {{"then_branch", yes}, {"else_branch", no}});
    return made;
  }
  const DType dtype = node.inputs[0].dtype();
  const std::string is_it = out.put("Equal", {index, out.real(static_cast<double>(first), dtype)});
  const std::string yes = branch(out, node, branches[first]);
  std::string no;
  if (first + 2 >= branches.size()) {
    no = branch(out, node, branches.back());
  } else {
    Inside rest(out);
    const Names others = chosen(out, node, branches, first + 1);
    for (size_t i = 0; i < others.size(); ++i) {
      rest.add_output(others[i], node.outputs[i].dtype, node.outputs[i].shape);
    }
    no = rest.finish();
  }
  out.put_with_graphs("If", {is_it}, made, {{"then_branch", yes}, {"else_branch", no}});
  return made;
}

/// Inputs: the values of a round, the most rounds, what is captured.
Names loop(Emitter& out, const graph::Node& node, const InnerGraph& asks, const InnerGraph& round) {
  const size_t count = node.outputs.size();
  Names first, made, around_condition = captured_by(out, node, asks),
                     around_round = captured_by(out, node, round);
  for (size_t i = 0; i < count; ++i) first.push_back(out.name_of(node.inputs[i]));
  const auto with = [](Names values, const Names& captured) {
    values.insert(values.end(), captured.begin(), captured.end());
    return values;
  };
  const std::string most =
      out.put("Cast", {out.name_of(node.inputs[count])}, {{"to", DType::int64}});
  const std::string any_number = out.put("Less", {most, out.constant(Tensor(int64_t{0}))});
  const std::string limit = out.put(
      "Where", {any_number, out.constant(Tensor(std::numeric_limits<int64_t>::max())), most});
  const std::string begins = inlined(out, *asks.graph, with(first, around_condition))[0];

  Inside body(out);
  const std::string index = out.fresh(), going_on = out.fresh();
  body.add_input(index, DType::int64, Shape{});
  body.add_input(going_on, DType::bool_, Shape{});
  Names values;
  for (size_t i = 0; i < count; ++i) {
    values.push_back(out.fresh());
    body.add_input(values.back(), node.outputs[i].dtype, node.outputs[i].shape);
  }
  const Names next = inlined(out, *round.graph, with(values, around_round));
  const std::string goes_on = inlined(out, *asks.graph, with(next, around_condition))[0];
  body.add_output(goes_on, DType::bool_, Shape{});
  for (size_t i = 0; i < count; ++i) {
    body.add_output(next[i], node.outputs[i].dtype, node.outputs[i].shape);
    made.push_back(out.fresh());
  }
  const std::string graph = body.finish();
  Names inputs{limit, begins};
  inputs.insert(inputs.end(), first.begin(), first.end());
  out.put_with_graphs("Loop", inputs, made, {{"body", graph}});
  return made;
}

}  // namespace

Names emit_control(Emitter& out, const graph::Node& node) {
  const std::vector<InnerGraph> inner = node.special->inner_graphs();
  if (inner[0].role == InnerGraph::Role::choice) return chosen(out, node, inner, 0);
  const bool asks_first = inner[0].role == InnerGraph::Role::condition;
  return loop(out, node, inner[asks_first ? 0 : 1], inner[asks_first ? 1 : 0]);
}

}  // namespace tidemark::io::onnx
