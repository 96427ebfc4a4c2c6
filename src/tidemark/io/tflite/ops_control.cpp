// Branches and loops: at once, or as steps of the graph being traced.
#include <tidemark/control_flow.h>

#include <functional>

#include "tidemark/base/interrupt.h"
#include "tidemark/io/onnx/interpreter.h"
#include "tidemark/io/tflite/ops.h"
#include "tidemark/trace/builder.h"
#include "tidemark/trace/infer.h"

namespace tidemark::io::tflite {

using namespace onnx;

namespace {

std::vector<Tensor> run(const Call& c, const Graph& graph, std::span<const Tensor> inputs) {
  if (inputs.size() != graph.inputs.size()) {
    c.fail("gives ", inputs.size(), " values to a graph of ", graph.inputs.size());
  }
  const Values given(inputs.begin(), inputs.end());
  std::vector<Tensor> out;
  for (Value& value : c.interpreter.run_inner(c, graph, given)) {
    out.push_back(std::move(value.tensor));
  }
  return out;
}

Tensor scalar(const Tensor& t) { return reshaped(t, std::span<const int64_t>()); }

bool is_yes(const Call& c, const Tensor& t) {
  const Ints given = t.to_ints();
  if (given.size() != 1) c.fail("has a condition of ", given.size(), " elements");
  return given[0] != 0;
}

Values values_of(const std::vector<Tensor>& tensors) { return {tensors.begin(), tensors.end()}; }

Values if_node(const Call& c) {
  const Graph &yes = c.graph("then_branch"), &no = c.graph("else_branch");
  const std::vector<Tensor> given = c.tensors(1);
  if (!c.in(0).is_symbolic()) return values_of(run(c, is_yes(c, c.in(0)) ? yes : no, given));
  return values_of(cond(
      scalar(c.in(0)), [&] { return run(c, yes, given); }, [&] { return run(c, no, given); }));
}

using Round = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

/// What the state is like in all rounds: what a round changes of its shapes is open.
std::vector<Shape> shapes_of_rounds(const Round& round, std::span<const Tensor> state) {
  std::vector<Shape> shapes;
  for (const Tensor& t : state) shapes.push_back(t.shape());
  for (bool is_open = true; is_open;) {
    trace::GraphBuilder never_run("round");
    std::vector<Tensor> inputs, made;
    for (size_t i = 0; i < state.size(); ++i) {
      inputs.push_back(never_run.add_input(state[i].dtype(), shapes[i]));
    }
    {
      const trace::TraceScope scope(never_run);
      made = round(inputs);
    }
    is_open = false;
    for (size_t i = 0; i < shapes.size(); ++i) {
      const Shape both = trace::common_shape(shapes[i], made.at(i).shape());
      is_open |= both != shapes[i];
      shapes[i] = both;
    }
  }
  return shapes;
}

Values while_node(const Call& c) {
  const Graph &asked = c.graph("cond"), &body = c.graph("body");
  const std::vector<Tensor> state = c.tensors();
  if (body.outputs.size() != state.size() || asked.outputs.size() != 1) {
    c.fail("calls graphs that do not fit its ", state.size(), " values");
  }
  const auto asking = [&](std::span<const Tensor> now) { return scalar(run(c, asked, now)[0]); };
  const auto doing = [&](std::span<const Tensor> now) { return run(c, body, now); };
  if (!trace::current_builder()) {
    std::vector<Tensor> now = state;
    while (is_yes(c, asking(now))) {
      check_interrupt();
      now = doing(now);
    }
    return values_of(now);
  }
  const LoopOptions options{.shapes = shapes_of_rounds(doing, state)};
  return values_of(while_loop(asking, doing, state, options));
}

// What they do depends on what is around them: they are never computed ahead of a run.
constexpr Entry kEntries[] = {
    entry("IF", if_node).drawn(),
    entry("WHILE", while_node).drawn(),
};

}  // namespace

std::span<const Entry> control_entries() { return kEntries; }

}  // namespace tidemark::io::tflite
