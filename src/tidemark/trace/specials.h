// What nodes do that is no op: branches, loops, gradients at run time.
#pragma once

#include <tidemark/variable.h>

#include "tidemark/exec/program.h"
#include "tidemark/graph/recording.h"
#include "tidemark/graph/specials.h"
#include "tidemark/trace/hoisting.h"

namespace tidemark::trace {

using graph::constant_special;
using graph::ReadVariable;
using graph::UpdateVariable;

/// A graph that is part of a special, ready to run: its own inputs first, then what it captured.
struct TIDEMARK_API Body {
  std::shared_ptr<graph::Graph> graph;
  std::shared_ptr<const exec::Program> program;
  /// Where among the special's inputs each captured value lies.
  std::vector<uint32_t> captured;
  std::vector<Variable> variables;

  size_t num_inputs() const { return program->num_inputs(); }
  /// `arguments`: room for all inputs of the graph, its own filled in. They are moved from.
  void run(std::span<Tensor> arguments, std::span<const Tensor> special_inputs,
           std::span<Tensor> outputs) const;
};

class GraphBuilder;

/// The body that a finished trace is; what it captured joins the inputs of the special.
TIDEMARK_API Body finish_body(GraphBuilder& builder, std::span<const Tensor> outputs,
                              std::vector<Tensor>& special_inputs);

/// Input 0 chooses which body runs; a number outside picks the last. A bool chooses 1 or 0.
class TIDEMARK_API Branch final : public graph::Special {
 public:
  explicit Branch(std::vector<Body> bodies);
  std::string_view name() const override { return "cond"; }
  size_t bytes() const override;
  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const override;
  graph::Effects effects() const override {
    return {.reads = variables_, .is_barrier = true, .must_run = has_effect_};
  }
  std::vector<graph::InnerGraph> inner_graphs() const override;
  graph::InnerNeed inner_need(std::span<const Tensor> inputs) const override;
  void prepare(std::span<const Tensor> inputs) const override;

 private:
  bool equals(const Special& other) const override;

  std::vector<Body> bodies_;
  std::vector<Variable> variables_;
  bool has_effect_ = false;
};

/// Inputs: the loop variables, the largest number of rounds (int64; negative: any), the captures.
/// What the body gives beside the variables is kept of every round: then the outputs are the
/// variables, the number of rounds, and a record (round_record.h) of each such value.
class TIDEMARK_API WhileLoop final : public graph::DifferentiableSpecial {
 public:
  WhileLoop(Body condition, Body body, size_t num_variables);
  std::string_view name() const override { return "while"; }
  size_t bytes() const override;
  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const override;
  graph::Effects effects() const override {
    return {.reads = body_.variables, .is_barrier = true, .must_run = has_effect_};
  }
  std::vector<graph::InnerGraph> inner_graphs() const override;
  graph::InnerNeed inner_need(std::span<const Tensor> inputs) const override;
  void prepare(std::span<const Tensor> inputs) const override;
  std::optional<size_t> round_records_at() const override;
  std::shared_ptr<const graph::Special> opened(
      std::vector<Tensor>& inputs, std::vector<graph::OutputInfo>& outputs) const override;
  std::vector<Tensor> add_gradient(graph::Node& node, std::span<const Tensor> dy,
                                   const std::vector<bool>& wanted) const override;

 private:
  bool equals(const Special& other) const override;
  size_t num_recorded() const { return body_.program->num_outputs() - num_variables_; }
  /// The number of rounds for these inputs, at the most; -1: only a run can tell.
  int64_t most_rounds(std::span<const Tensor> inputs) const;
  /// What runs once before the rounds, with what the body captured; null: nothing does. Its results
  /// follow the inputs of a round.
  const exec::Program* before() const { return hoisted_.before.get(); }
  const exec::Program& round() const { return hoisted_.rest ? *hoisted_.rest : *body_.program; }
  /// Calls `visit` for each part with what it gets; a visit gives the outputs, as far as they are
  /// known.
  template <class Visit>
  void visit_parts(std::span<const Tensor> given, Visit visit) const;
  bool goes_on(std::span<Tensor> arguments, std::span<const Tensor> values,
               std::span<const Tensor> inputs) const;

  Body condition_, body_;
  size_t num_variables_;
  /// Fills in what a round gets beside the variables, alike in every one.
  void find_fixed(std::span<const Tensor> inputs, std::span<Tensor> fixed) const;

  Hoisted hoisted_;
  std::vector<uint32_t> asked_;  // the variables that the condition looks at
  bool has_effect_ = false;
};

/// Whether a run gives what its inputs say and does nothing else.
bool is_pure(const exec::Program& program);

/// The way back over a loop. Inputs: the gradients of the loop variables that have one, what the
/// body captured, some loop variables as they were before the first round, the number of rounds,
/// the records. Outputs: those gradients before the first round, then the sums over all rounds of
/// the gradients by some of the captures.
class TIDEMARK_API LoopGradient final : public graph::Special {
 public:
  struct Layout {
    size_t num_carried = 0, num_captured = 0;
    std::vector<uint32_t> summed;  ///< captures
    /// A record for each loop variable that is given as it was before the first round: what it was
    /// before any other is what the record has of the round before that.
    std::vector<uint32_t> earlier;
  };
  /// `round` is a pure function of the gradients, the sums so far, the captures, what the records
  /// have of a round, and those loop variables; it gives the gradients and sums of the round
  /// before.
  LoopGradient(std::shared_ptr<const exec::Program> round, Layout layout);
  std::string_view name() const override { return "while_gradient"; }
  size_t bytes() const override;
  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const override;
  graph::Effects effects() const override { return {}; }
  graph::InnerNeed inner_need(std::span<const Tensor> inputs) const override;
  void prepare(std::span<const Tensor> inputs) const override;

 private:
  /// Its inputs, by what they are.
  template <class T>
  struct Given {
    std::span<T> carried, captures, before_first, rounds, records;
  };
  template <class T>
  Given<T> split(std::span<T> inputs) const;
  bool equals(const Special& other) const override;
  /// Stand-ins for what a round gets.
  std::vector<Tensor> inputs_of_round(std::span<const Tensor> inputs) const;

  std::shared_ptr<const exec::Program> round_;
  Layout layout_;
};

template <class T>
LoopGradient::Given<T> LoopGradient::split(std::span<T> inputs) const {
  Given<T> out;
  size_t at = 0;
  const auto next = [&](size_t count) {
    return inputs.subspan(std::exchange(at, at + count), count);
  };
  out.carried = next(layout_.num_carried);
  out.captures = next(layout_.num_captured);
  out.before_first = next(layout_.earlier.size());
  out.rounds = next(1);
  out.records = inputs.subspan(at);
  return out;
}

/// Inputs: x…, y…, what the backward program captured. Outputs: the y again, whose gradient by the
/// x is what the program gives for (dy…, captured…).
TIDEMARK_API std::shared_ptr<const graph::Special> attach_gradient(
    size_t num_inputs, size_t num_outputs, std::shared_ptr<const exec::Program> backward,
    std::vector<Variable> variables);
/// A gradient that the run of the graph tells.
TIDEMARK_API std::shared_ptr<const graph::Special> gradient_at_run(
    graph::GradientQuestion question);

}  // namespace tidemark::trace
