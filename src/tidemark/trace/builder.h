// GraphBuilder: while on this thread's stack, calls become nodes of its graph.
//
//   GraphBuilder builder("step");
//   Tensor x = builder.add_input(DType::float32, {2, kUnknownDim});
//   {
//     TraceScope scope(builder);
//     y = tidemark::tanh(x) * v;          // v: a variable; read when the graph runs
//   }
//   std::shared_ptr<graph::Graph> graph = builder.finish({y});
#pragma once

#include <tidemark/call.h>
#include <tidemark/variable.h>

#include <map>

#include "tidemark/graph/graph.h"

namespace tidemark::trace {

/// One thread at a time.
class TIDEMARK_API GraphBuilder final : public LastHandler {
 public:
  explicit GraphBuilder(std::string name);
  /// Adds to a graph that several builders share and whose parts are run on request: effects wait
  /// until somebody asks for them.
  explicit GraphBuilder(std::shared_ptr<graph::Graph> shared);

  const std::shared_ptr<graph::Graph>& graph() const { return graph_; }
  /// Whether several builders add to the graph, whose parts are run on request.
  bool is_shared() const { return is_shared_; }
  Tensor add_input(DType dtype, const Shape& shape, Device device = {});
  /// A node that gives the value: constants in traced code are symbolic like everything else.
  Tensor constant(const Tensor& value);
  /// The tensor in this graph: itself, or an input that stands for a tensor of the graph around
  /// this one. Throws for tensors of any other graph.
  Tensor own(const Tensor& t);
  /// A node that has to be given a value; the graph does not keep it.
  Tensor add_placeholder(DType dtype, const Shape& shape);
  /// A node for the special, and its outputs as far as there are any.
  graph::NodeRef add_special(const std::shared_ptr<const graph::Special>& special,
                             std::span<const graph::OutputInfo> infos,
                             std::span<const Tensor> inputs, std::span<Tensor> outputs);
  /// What nodes made from now on run after.
  const std::vector<graph::NodeRef>& before() const { return before_; }
  void set_before(std::vector<graph::NodeRef> nodes) { before_ = std::move(nodes); }
  /// Nodes of graphs around this one that run before the step that this graph becomes part of.
  const std::vector<graph::NodeRef>& awaited() const { return awaited_; }
  void wait_for(graph::NodeRef node) { awaited_.push_back(std::move(node)); }
  /// The name of the node made next, inside the scope of names; empty: its kind's.
  void set_next_label(std::string label) { next_label_ = std::move(label); }
  /// Outer tensors that became inputs, in the order of those inputs, which follow the others.
  const std::vector<Tensor>& captures() const { return captures_; }
  /// The builder in charge when this one began; null: none was.
  const GraphBuilder* around() const { return around_; }
  /// Variables read or updated, in the order of their first use.
  const std::vector<Variable>& variables() const { return variables_; }
  /// What stood first for the value of the variable with this id, where that is computed, here or
  /// in a graph around this one; empty: nothing does.
  Tensor standing_for(uint64_t variable);
  bool has_effects() const { return !graph_->effects().empty(); }
  /// The graph with these outputs, constants among them made its own.
  std::shared_ptr<graph::Graph> finish(std::span<const Tensor> outputs);

  void handle(const OpCall& call, std::span<Tensor> outputs) override;
  void handle_step(const std::shared_ptr<const graph::Special>& special,
                   std::span<const graph::OutputInfo> infos, std::span<Tensor> inputs,
                   std::span<Tensor> outputs) override;
  Tensor read(const Variable& variable) override;
  void update(const Variable& variable, const OpDef* op, std::span<const Tensor> rest,
              std::span<const Attr> attrs) override;

 private:
  void note(const Variable& variable);
  graph::NodeRef new_node();
  void name(graph::Node& node);

  std::shared_ptr<graph::Graph> graph_;
  GraphBuilder* around_ = nullptr;
  std::map<std::pair<const graph::Node*, uint32_t>, Tensor> inner_of_;
  std::vector<Tensor> captures_;
  std::vector<Variable> variables_;
  std::map<uint64_t, Tensor> readings_;  // still valid: nothing was updated since
  std::map<uint64_t, Tensor> standing_;  // by the variables that they are to tapes
  std::vector<graph::NodeRef> before_, awaited_;
  std::string next_label_;
  bool is_shared_ = false;
  const uint32_t placement_depth_;  // scopes around it are its caller's
};

/// What stands before the names of nodes that this thread makes: "layer/", or nothing.
TIDEMARK_API void set_name_scope(std::string scope);
TIDEMARK_API const std::string& name_scope() noexcept;

/// The builder that answers on this thread; null: none does.
TIDEMARK_API GraphBuilder* current_builder() noexcept;

/// Puts a builder on this thread's stack of handlers until the end of the scope. Handlers put on
/// top of it meanwhile may outlive it.
class TIDEMARK_API TraceScope {
 public:
  explicit TraceScope(GraphBuilder& builder) noexcept : builder_(builder) { push_handler(builder); }
  ~TraceScope() { remove_handler(builder_); }
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  GraphBuilder& builder_;
};

}  // namespace tidemark::trace
