// Branches and loops: functions that take all that the node takes, whether they need it or not.
#include <tidemark/create.h>

#include <algorithm>

#include "tidemark/io/tensorflow/writing/node_writer.h"

namespace tidemark::io::tensorflow {

namespace {

using graph::InnerGraph;
using graph::Node;

/// What a node's functions take: tensors, then the variables that graphs inside use.
struct Taken {
  Given tensors{Names{}, std::vector<DType>{}};
  Names handles;
  std::vector<NamedVariable> variables;

  Given all() const {
    Given out = tensors;
    out.references.insert(out.references.end(), handles.begin(), handles.end());
    out.dtypes.resize(out.dtypes.size() + handles.size(), kResource);
    return out;
  }
};

Taken taken_by(NodeWriter& writer, const Node& node, const std::string& label,
               std::span<const Tensor> tensors) {
  Taken out;
  for (size_t i = 0; i < tensors.size(); ++i) {
    out.tensors.references.push_back(writer.reference(tensors[i], message(label, "/input_", i)));
    out.tensors.dtypes.push_back(tensors[i].dtype());
  }
  for (const InnerGraph& inner : node.special->inner_graphs()) {
    for (const NamedVariable& variable : variables_of(*inner.graph)) {
      const std::string handle = writer.handle_of(variable);
      if (std::find(out.handles.begin(), out.handles.end(), handle) != out.handles.end()) continue;
      out.handles.push_back(handle);
      out.variables.push_back(variable);
    }
  }
  return out;
}

/// What a part of a node is called; functions of all graphs are in one place.
std::string name_of_part(const Node& node, const std::string& label, std::string_view what) {
  std::string name = message(label, "_", what, "_", node.sequence);
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

std::vector<DType> dtypes_of(std::span<const Tensor> tensors) {
  std::vector<DType> out;
  for (const Tensor& t : tensors) out.push_back(t.dtype());
  return out;
}

bool write_choice(NodeWriter& writer, const Node& node, const std::string& label,
                  std::span<const InnerGraph> branches) {
  const Tensor& chosen = node.inputs[0];
  const Taken taken = taken_by(writer, node, label, std::span(node.inputs).subspan(1));
  const bool is_bool = chosen.dtype() == DType::bool_;
  Names functions;
  for (size_t number = 0; number < branches.size(); ++number) {
    const std::string what = !is_bool ? message("branch", number) : number == 1 ? "true" : "false";
    FunctionWriter body(writer.library, name_of_part(node, label, what), taken.tensors.dtypes,
                        taken.variables);
    std::vector<size_t> places;
    for (const uint32_t at : branches[number].captured) places.push_back(at - 1);
    body.write_graph(*branches[number].graph, places);
    const std::vector<Tensor>& outputs = branches[number].graph->outputs();
    body.finish(body.write_results(outputs), dtypes_of(outputs));
    functions.push_back(body.name());
  }
  std::vector<DType> made;
  std::vector<Shape> shapes;
  for (const graph::OutputInfo& output : node.outputs) {
    made.push_back(output.dtype);
    shapes.push_back(output.shape);
  }
  GivenAttrs attrs{{"Tout", types_attr(made)}, {"output_shapes", shapes_attr(shapes)}};
  if (is_bool) {
    attrs["else_branch"] = function_attr(functions.at(0));
    attrs["then_branch"] = function_attr(functions.at(1));
  } else {
    attrs["branches"] = functions_attr(functions);
  }
  const std::string op = message(is_stateful(node) ? "" : "Stateless", is_bool ? "If" : "Case");
  writer.add(label, op, {writer.given(chosen, label + "/branch_index"), taken.all()},
             std::move(attrs));
  writer.made_by(node, label);
  for (uint32_t i = 0; i < made.size(); ++i) {
    const std::string output = i == 0 ? label : message(label, ":", i);
    const std::string name = writer.fresh(label + "/Identity");
    writer.give(node, i, writer.add(name, "Identity", {{output, made[i]}}));
  }
  return true;
}

/// The most rounds, as far as they are known; negative: any number.
std::optional<int64_t> known_most(const Tensor& most) {
  const Tensor known = most.is_symbolic() ? graph::known_value(most) : most;
  if (!known) return {};
  return known.to_ints().at(0);
}

bool write_loop(NodeWriter& writer, const Node& node, const std::string& label,
                const InnerGraph& asks, const InnerGraph& round) {
  const size_t count = node.outputs.size();
  const Tensor& limit = node.inputs[count];
  const std::optional<int64_t> most = known_most(limit);
  // Between the values of a round and what is captured stand the most rounds.
  std::vector<Tensor> tensors(node.inputs.begin(), node.inputs.begin() + static_cast<long>(count));
  tensors.insert(tensors.end(), node.inputs.begin() + static_cast<long>(count) + 1,
                 node.inputs.end());
  const Taken taken = taken_by(writer, node, label, tensors);
  std::vector<DType> types{DType::int32, DType::int32};  // rounds so far, most rounds
  types.insert(types.end(), taken.tensors.dtypes.begin(), taken.tensors.dtypes.end());
  const auto places_of = [&](const InnerGraph& inner) {
    std::vector<size_t> out;
    for (size_t i = 0; i < count; ++i) out.push_back(i + 2);
    for (const uint32_t at : inner.captured) out.push_back(at < count ? at + 2 : at + 1);
    return out;
  };
  const auto counter = [](const std::string& name) { return Given(name, DType::int32); };

  FunctionWriter condition(writer.library, name_of_part(node, label, "cond"), types,
                           taken.variables);
  condition.write_graph(*asks.graph, places_of(asks));
  const Given goes_on = condition.given(asks.graph->outputs()[0], "going_on");
  std::string answer = goes_on.references[0];
  if (!most || *most >= 0) {
    const std::string within =
        condition.add(condition.fresh("Less"), "Less",
                      {counter(condition.argument(0)), counter(condition.argument(1))});
    answer = condition.add(condition.fresh("LogicalAnd"), "LogicalAnd",
                           {{within, DType::bool_}, goes_on});
  }
  const DType bool_[] = {DType::bool_};
  condition.finish({condition.add(condition.fresh("Identity"), "Identity", {{answer, bool_[0]}})},
                   bool_);

  FunctionWriter body(writer.library, name_of_part(node, label, "body"), types, taken.variables);
  body.write_graph(*round.graph, places_of(round));
  const Given one(body.constant("one", Tensor(1)), DType::int32);
  Names results{body.add(body.fresh("add"), "AddV2", {counter(body.argument(0)), one}),
                body.argument(1)};
  for (const std::string& made : body.write_results(round.graph->outputs())) {
    results.push_back(made);
  }
  for (size_t i = results.size(); i < body.types().size(); ++i) results.push_back(body.argument(i));
  body.finish(results, body.types());

  Given all = taken.all();
  const std::string zero = writer.constant(label + "/loop_counter", Tensor(0));
  const std::string name = label + "/maximum_iterations";
  const std::string most_rounds =
      most ? writer.constant(name, Tensor(static_cast<int32_t>(*most)))
           : writer.add(writer.fresh(name), "Cast", {writer.given(limit, name)},
                        {{"DstT", type_attr(DType::int32)}});
  all.references.insert(all.references.begin(), {zero, most_rounds});
  all.dtypes.insert(all.dtypes.begin(), {DType::int32, DType::int32});
  std::vector<Shape> shapes(2);
  for (const graph::OutputInfo& output : node.outputs) shapes.push_back(output.shape);
  for (size_t i = count; i < tensors.size(); ++i) shapes.push_back(tensors[i].shape());
  shapes.resize(all.references.size());
  writer.add(label, is_stateful(node) ? "While" : "StatelessWhile", {all},
             {{"cond", function_attr(condition.name())},
              {"body", function_attr(body.name())},
              {"output_shapes", shapes_attr(shapes)},
              {"parallel_iterations", int_attr(10)}});
  for (uint32_t i = 0; i < count; ++i) writer.give(node, i, message(label, ":", i + 2));
  return true;
}

}  // namespace

bool write_control(NodeWriter& writer, const Node& node, const std::string& label) {
  const std::vector<InnerGraph> inner = node.special->inner_graphs();
  if (inner[0].role == InnerGraph::Role::choice) return write_choice(writer, node, label, inner);
  if (node.special->round_records_at()) return false;  // a loop that keeps a record of its rounds
  const bool asks_first = inner[0].role == InnerGraph::Role::condition;
  return write_loop(writer, node, label, inner[asks_first ? 0 : 1], inner[asks_first ? 1 : 0]);
}

}  // namespace tidemark::io::tensorflow
