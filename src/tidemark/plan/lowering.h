// From the nodes of a graph to what the planner packs: ops, values, sizes.
#pragma once

#include <tidemark/op.h>

#include <unordered_map>

#include "tidemark/plan/graph_plan.h"

namespace tidemark::plan {

class Lowering {
 public:
  explicit Lowering(const graph::Graph& graph);

  Problem problem;
  std::vector<PlannedStep> steps;  // one an op of the program, in the order of the graph
  std::vector<PlannedValue> values;
  std::unordered_map<const graph::Node*, int> first_value;

  int value_of(const Tensor& t) const;
  /// Whether the plan alone decides where the value lies.
  bool is_placed(int value) const { return is_placed_[static_cast<size_t>(root_of(value))] != 0; }
  int root_of(int value) const;

 private:
  void add_values(const graph::Node& node, bool external);
  void add_node(const graph::Node& node);
  bool follow_rule(const graph::Node& node, PlannedStep& step);
  bool find_kernel(const graph::Node& node, std::span<const Shape> shapes, PlannedStep& step) const;
  void make_views(const graph::Node& node, const InferContext& said);
  void find_kept_inputs(const graph::Node& node, const PlannedStep& step);
  void find_takeovers(size_t op);
  void put_in_order(size_t op);
  void keep_beside(size_t op);

  std::vector<char> is_placed_;
  std::unordered_map<const graph::Node*, int> op_of_;
  std::unordered_map<int, uint64_t> variable_of_;  // by root
  graph::EffectOrder order_;
};

}  // namespace tidemark::plan
