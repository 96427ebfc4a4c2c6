// The gradient of a while loop as steps of the same graph: the loop keeps what the way back needs
// of each round, and a second loop runs over that from the last round to the first.
#include <tidemark/call.h>
#include <tidemark/create.h>

#include <algorithm>
#include <numeric>

#include "tidemark/base/interrupt.h"
#include "tidemark/graph/cut.h"
#include "tidemark/ops/arrays.h"
#include "tidemark/tensor/storage.h"
#include "tidemark/trace/builder.h"
#include "tidemark/trace/graph_gradient.h"
#include "tidemark/trace/infer.h"
#include "tidemark/trace/kept_values.h"
#include "tidemark/trace/round_record.h"
#include "tidemark/trace/specialise.h"
#include "tidemark/trace/specials.h"

namespace tidemark::trace {

namespace {

[[noreturn]] void fail_unknown() {
  throw ValueUnknownError("the gradient across this loop is known only when the graph runs");
}

bool has_gradient(DType dtype) { return is_floating(dtype) || is_complex(dtype); }

/// A round in a graph of its own, for the sizes of its inputs, open to further nodes. The thread's
/// handlers are set aside.
struct Round {
  GraphBuilder builder{"round"};
  std::vector<Tensor> inputs, outputs;

  Round(const graph::Graph& body, std::span<const graph::OutputInfo> infos, Opens opens) {
    for (const graph::OutputInfo& info : infos) {
      inputs.push_back(builder.add_input(info.dtype, info.shape));
    }
    outputs = copy_into(builder, body, inputs, opens);
  }

  std::vector<graph::Node*> nodes() const {
    return graph::nodes_for(outputs, builder.graph()->effects());
  }
};

std::vector<graph::OutputInfo> infos_of(std::span<const Tensor> tensors) {
  std::vector<graph::OutputInfo> out;
  for (const Tensor& t : tensors) out.push_back({t.dtype(), t.shape()});
  return out;
}

/// The first `count` inputs have the shapes that a round leaves them with.
bool is_steady(const Round& round, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const Shape& shape = round.inputs[i].shape();
    if (!shape.is_fully_known() || !(round.outputs[i].shape() == shape)) return false;
  }
  return true;
}

/// A round for loop variables whose shape is the same in every round; null: it changes. An array
/// nobody has written to yet is taken for one of elements of the size that a round writes.
std::unique_ptr<Round> steady_round(const graph::Graph& body, std::vector<graph::OutputInfo> infos,
                                    size_t num_variables) {
  auto round = std::make_unique<Round>(body, infos, Opens::all);
  if (is_steady(*round, num_variables)) return round;
  for (size_t i = 0; i < num_variables; ++i) {
    const Shape& after = round->outputs[i].shape();
    if (!arrays::is_blank(infos[i].shape) || after.rank() < 1) continue;
    if (after[0] == infos[i].shape[0]) infos[i].shape = after;
  }
  round = std::make_unique<Round>(body, infos, Opens::all);
  return is_steady(*round, num_variables) ? std::move(round) : nullptr;
}

std::vector<Tensor> readings_in(std::span<graph::Node* const> nodes) {
  std::vector<Tensor> out;
  for (graph::Node* node : nodes) {
    if (graph::shown_variable(*node)) out.push_back(graph::output_of(*node, 0));
  }
  return out;
}

bool changes_variables(std::span<graph::Node* const> nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const graph::Node* node) {
    return graph::effects_of(*node).may_change_variables();
  });
}

Body body_of(std::shared_ptr<graph::Graph> graph, std::vector<uint32_t> captured) {
  Body body;
  body.program = exec::Program::build(*graph);
  body.graph = std::move(graph);
  body.captured = std::move(captured);
  return body;
}

/// What the way back over one round is made of.
struct WayBack {
  std::vector<Tensor> given, sums, results;
  std::vector<uint32_t> carried;  ///< loop variables
  std::vector<uint32_t> summed;   ///< captures
  uint64_t first_sequence = 0;
};

/// Nodes for the gradients of a round, behind the round's own.
WayBack add_way_back(Round& round, size_t num_variables, const std::vector<bool>& by_capture) {
  const TraceScope building(round.builder);
  WayBack back;
  std::vector<Tensor> ys, xs;
  for (uint32_t i = 0; i < num_variables; ++i) {
    const Tensor& x = round.inputs[i];
    if (!has_gradient(x.dtype())) continue;
    back.carried.push_back(i);
    back.given.push_back(round.builder.add_input(x.dtype(), x.shape()));
    ys.push_back(round.outputs[i]);
    xs.push_back(x);
  }
  if (back.carried.empty()) fail_unknown();
  back.first_sequence = graph::node_of(back.given[0]).sequence;
  std::vector<uint32_t> captures;
  for (uint32_t i = 0; i < by_capture.size(); ++i) {
    if (!by_capture[i]) continue;
    captures.push_back(i);
    xs.push_back(round.inputs[num_variables + i]);
  }
  std::vector<autodiff::Adjoint> adjoints = gradients(ys, xs, back.given);
  for (size_t i = 0; i < back.carried.size(); ++i) {
    back.results.push_back(adjoints[i] ? autodiff::dense(std::move(adjoints[i]))
                                       : zeros(xs[i].shape(), xs[i].dtype()));
  }
  for (size_t i = 0; i < captures.size(); ++i) {
    autodiff::Adjoint& adjoint = adjoints[back.carried.size() + i];
    if (!adjoint) continue;
    const Tensor& x = xs[back.carried.size() + i];
    back.summed.push_back(captures[i]);
    back.sums.push_back(round.builder.add_input(x.dtype(), x.shape()));
    autodiff::Adjoint sum{back.sums.back(), {}, {}};
    autodiff::accumulate(sum, std::move(adjoint));
    back.results.push_back(std::move(sum.values));
  }
  return back;
}

bool is_same(const Tensor& a, const Tensor& b) {
  return a.is_symbolic() && b.is_symbolic() && &graph::node_of(a) == &graph::node_of(b) &&
         graph::symbolic(a).index == graph::symbolic(b).index;
}

/// Where the tensor is in the list; its end: it is not.
size_t place_in(std::span<const Tensor> list, const Tensor& t) {
  const auto same = [&](const Tensor& other) { return is_same(t, other); };
  return static_cast<size_t>(std::find_if(list.begin(), list.end(), same) - list.begin());
}

/// What is recorded of a round, and which loop variables the records of the round before have.
struct Kept {
  std::vector<Tensor> recorded;
  std::vector<uint32_t> variables;  ///< their values before the round are needed
  std::vector<uint32_t> earlier;    ///< where those stand among the recorded
};

/// At least one value is recorded: there has to be a record that tells of the rounds.
Kept keep(std::span<const Tensor> needed, const Round& round, size_t num_variables) {
  Kept out;
  const std::span<const Tensor> before = std::span(round.inputs).first(num_variables);
  const std::span<const Tensor> after = std::span(round.outputs).first(num_variables);
  const auto known = std::span(round.outputs).subspan(num_variables);
  out.recorded.assign(known.begin(), known.end());
  std::vector<uint32_t> wanted;
  for (const Tensor& t : needed) {
    if (t.dtype() == DType::string || !t.shape().is_fully_known()) fail_unknown();
    if (place_in(out.recorded, t) < out.recorded.size()) continue;
    const size_t variable = place_in(before, t);
    const bool is_made_by_round = variable < num_variables && !is_same(after[variable], t) &&
                                  place_in(needed, after[variable]) < needed.size();
    if (is_made_by_round) {
      out.variables.push_back(static_cast<uint32_t>(variable));
    } else {
      out.recorded.push_back(t);
    }
  }
  for (const uint32_t i : out.variables) {
    out.earlier.push_back(static_cast<uint32_t>(place_in(out.recorded, after[i])));
  }
  if (out.recorded.empty()) {
    const auto smaller = [](const Tensor& a, const Tensor& b) { return a.nbytes() < b.nbytes(); };
    out.recorded.push_back(*std::min_element(before.begin(), before.end(), smaller));
  }
  return out;
}

graph::OutputInfo record_info(const graph::OutputInfo& kept, int64_t rounds) {
  Shape shape{rounds < 0 ? kUnknownDim : rounds};
  for (const int64_t size : kept.shape) shape.push_back(size);
  return {kept.dtype, shape};
}

void append(std::vector<Tensor>& list, std::span<const Tensor> more) {
  list.insert(list.end(), more.begin(), more.end());
}

/// A loop that records, and the round of the way back over it.
struct LoopAndWayBack {
  Body body;
  std::vector<graph::OutputInfo> recorded;  ///< of one round
  std::shared_ptr<const exec::Program> round;
  LoopGradient::Layout layout;
  std::vector<uint32_t> carried;    ///< loop variables
  std::vector<uint32_t> variables;  ///< those that the records of the round before have
};

LoopAndWayBack turn_back(const Body& body, size_t num_variables,
                         const std::vector<bool>& by_capture) {
  const NoHandlers apart;
  Round round(*body.graph, infos_of(body.graph->inputs()), Opens::if_asked);
  if (!is_steady(round, num_variables)) fail_unknown();
  WayBack back = add_way_back(round, num_variables, by_capture);
  const std::span<const Tensor> captures = std::span(round.inputs).subspan(num_variables);
  std::vector<Tensor> at_hand(captures.begin(), captures.end());
  append(at_hand, back.given);
  append(at_hand, back.sums);
  const Kept kept =
      keep(find_kept({back.results, at_hand, back.first_sequence}), round, num_variables);

  LoopAndWayBack out;
  std::vector<Tensor> outputs(round.outputs.begin(),
                              round.outputs.begin() + static_cast<std::ptrdiff_t>(num_variables));
  append(outputs, kept.recorded);
  out.body =
      body_of(graph::cut(round.inputs, outputs, round.builder.graph()->effects()), body.captured);
  out.recorded = infos_of(kept.recorded);
  std::vector<Tensor> given = back.given;
  append(given, back.sums);
  append(given, captures);
  append(given, kept.recorded);
  for (const uint32_t i : kept.variables) given.push_back(round.inputs[i]);
  std::vector<uint32_t> sums(back.sums.size());  // nobody else has them
  std::iota(sums.begin(), sums.end(), static_cast<uint32_t>(back.given.size()));
  out.round = exec::Program::build(*graph::cut(given, back.results, {}),
                                   exec::Compile::when_repeated, 0, std::move(sums));
  if (!is_pure(*out.round)) fail_unknown();
  out.layout = {back.carried.size(), captures.size(), std::move(back.summed), kept.earlier};
  out.carried = std::move(back.carried);
  out.variables = kept.variables;
  return out;
}

}  // namespace

std::shared_ptr<const graph::Special> WhileLoop::opened(
    std::vector<Tensor>& inputs, std::vector<graph::OutputInfo>& outputs) const {
  GraphBuilder& around = *current_builder();
  std::vector<graph::OutputInfo> infos = infos_of(std::span(inputs).first(num_variables_));
  for (const uint32_t i : body_.captured) infos.push_back({inputs[i].dtype(), inputs[i].shape()});
  std::vector<uint32_t> captured = body_.captured;
  std::vector<Variable> read;
  Body body;
  {
    const NoHandlers apart;
    const std::unique_ptr<Round> round = steady_round(*body_.graph, infos, num_variables_);
    if (!round) return nullptr;
    const std::vector<graph::Node*> nodes = round->nodes();
    if (changes_variables(nodes) || needs_record(nodes)) return nullptr;
    const std::vector<Tensor> readings = readings_in(nodes);
    std::vector<Tensor> given = round->inputs;
    for (const Tensor& t : readings) {
      given.push_back(t);
      read.push_back(*graph::shown_variable(graph::node_of(t)));
      captured.push_back(static_cast<uint32_t>(inputs.size() + read.size() - 1));
    }
    for (size_t i = 0; i < num_variables_; ++i) outputs[i].shape = round->inputs[i].shape();
    body = body_of(graph::cut(given, round->outputs, round->builder.graph()->effects()), captured);
  }
  for (const Variable& variable : read) inputs.push_back(around.read(variable));
  for (size_t i = 0; i < num_variables_; ++i) {
    const Shape& shape = outputs[i].shape;
    if (inputs[i].shape() == shape) continue;  // not the blank of an array
    const Attr element(Ints(shape.begin() + 1, shape.end()));
    inputs[i] = call("array_resize", {inputs[i], Tensor(-1)}, {{"element_shape", element}});
  }
  return std::make_shared<WhileLoop>(condition_, std::move(body), num_variables_);
}

std::vector<Tensor> WhileLoop::add_gradient(graph::Node& node, std::span<const Tensor> dy,
                                            const std::vector<bool>& wanted) const {
  std::vector<bool> by_capture;
  for (const uint32_t i : body_.captured) {
    by_capture.push_back(wanted[i] && has_gradient(node.inputs[i].dtype()));
  }
  const int64_t rounds = most_rounds(node.inputs);
  const LoopAndWayBack made = turn_back(body_, num_variables_, by_capture);
  // The node keeps its place in the program and gives more than before.
  node.special = std::make_shared<WhileLoop>(condition_, made.body, num_variables_);
  node.outputs.resize(num_variables_);
  node.outputs.push_back({DType::int64, Shape()});
  for (const graph::OutputInfo& info : made.recorded) {
    node.outputs.push_back(record_info(info, rounds));
  }

  std::vector<Tensor> inputs;
  std::vector<graph::OutputInfo> infos;
  for (const uint32_t i : made.carried) {
    const graph::OutputInfo& info = node.outputs[i];
    inputs.push_back(dy[i] ? dy[i] : zeros(info.shape, info.dtype));
    infos.push_back({info.dtype, info.shape});
  }
  for (const uint32_t i : body_.captured) inputs.push_back(node.inputs[i]);
  for (const uint32_t i : made.variables) inputs.push_back(node.inputs[i]);
  for (auto i = static_cast<uint32_t>(num_variables_); i < node.outputs.size(); ++i) {
    inputs.push_back(graph::output_of(node, i, imagine(node.outputs[i].shape)));
  }
  for (const uint32_t i : made.layout.summed) {
    const Tensor& x = node.inputs[body_.captured[i]];
    infos.push_back({x.dtype(), x.shape()});
  }
  std::vector<Tensor> outputs(infos.size());
  current_builder()->add_special(std::make_shared<LoopGradient>(made.round, made.layout), infos,
                                 inputs, outputs);
  std::vector<Tensor> dx(node.inputs.size());
  auto next = outputs.begin();
  for (const uint32_t i : made.carried) dx[i] = *next++;
  for (const uint32_t i : made.layout.summed) dx[body_.captured[i]] = *next++;
  return dx;
}

LoopGradient::LoopGradient(std::shared_ptr<const exec::Program> round, Layout layout)
    : round_(std::move(round)), layout_(std::move(layout)) {}

void LoopGradient::run(std::span<Tensor> inputs, std::span<Tensor> outputs) const {
  const LongWorkInterrupt interrupt;
  const Given<Tensor> given = split(inputs);
  auto next = std::move(given.carried.begin(), given.carried.end(), outputs.begin());
  for (const uint32_t i : layout_.summed) {
    const Tensor& x = given.captures[i];
    *next++ = zeros(x.shape(), x.dtype()).to(x.device());
  }
  std::vector<Tensor> row(round_->num_inputs());
  for (int64_t round = given.rounds[0].item<int64_t>(); round-- > 0;) {
    // Moved in: sums are added to in place.
    auto argument = std::move(outputs.begin(), outputs.end(), row.begin());
    argument = std::copy(given.captures.begin(), given.captures.end(), argument);
    for (const Tensor& record : given.records) *argument++ = take_round(record, round);
    for (size_t i = 0; i < layout_.earlier.size(); ++i) {
      const Tensor& record = given.records[layout_.earlier[i]];
      *argument++ = round > 0 ? value_of_round(record, round - 1) : given.before_first[i];
    }
    round_->run(row, outputs);
  }
}

bool LoopGradient::equals(const Special& other) const {
  const auto& that = static_cast<const LoopGradient&>(other);
  return that.round_ == round_ && that.layout_.summed == layout_.summed &&
         that.layout_.earlier == layout_.earlier;  // the program tells the rest
}

size_t LoopGradient::bytes() const {
  return sizeof(*this) + round_->bytes() + round_->graph().node_bytes();
}

}  // namespace tidemark::trace
