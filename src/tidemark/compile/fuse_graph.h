// What the fusion pass knows of a graph: who needs whom, and which nodes can be part of a group.
#pragma once

#include <unordered_map>

#include "tidemark/graph/graph.h"
#include "tidemark/graph/specials.h"
#include "tidemark/kernels/fusion/ir.h"

namespace tidemark::compile {

/// What a node that can be fused reads. Nodes that only repeat their input (broadcast_to, fill) or
/// put reduced dimensions back are looked through.
struct FusedOperand {
  Tensor load;        // what to read where the producer is not in the group
  int producer = -1;  // number of the node that computes it; -1: nothing to fuse with
};

/// A product runs with a group that uses it, and is none of its members.
/// Reductions over the last dimensions go through rows; those over the first ones collect columns,
/// and are results of a group alone.
enum class FusedKind : uint8_t { none, map, cast, select, reduce, collect, random, product };

struct FusableNode {
  graph::Node* node = nullptr;
  FusedKind kind = FusedKind::none;
  bool is_heavy = false;
  // reductions
  fusion::Reduction reduction = fusion::Reduction::sum;
  int row_dims = 0;          // how many of the last dimensions are a row
  Shape kept_shape;          // the result with reduced dimensions kept
  std::vector<int> aliases;  // nodes that only put the reduced dimensions back
  bool drops_dims = false;
  fusion::Drawn drawn = fusion::Drawn::uniform;
  std::vector<FusedOperand> operands;

  bool is_reduction() const { return kind == FusedKind::reduce || kind == FusedKind::collect; }
  bool can_be_member() const { return kind != FusedKind::none && kind != FusedKind::product; }
  /// Inside a group: reduced dimensions are kept there.
  const Shape& shape() const { return is_reduction() ? kept_shape : node->outputs[0].shape; }
};

class FuseGraph {
 public:
  explicit FuseGraph(const graph::Graph& graph);

  size_t size() const { return nodes.size(); }
  int number_of(const Tensor& t) const;  // -1: holds elements, or is no node of the graph

  std::vector<FusableNode> nodes;  // in the order of the program
  /// For every node, those that must come after it; through what is looked through.
  std::vector<std::vector<int>> after;
  std::vector<bool> is_output;  // of the graph
  /// First before second, though no tensor goes from one to the other.
  std::vector<std::pair<int, int>> ordered;
  /// The variable the node assigns its only input to; null: it does something else.
  const Variable* assigned(int node) const;
  /// The variable whose value the tensor is, as it was read; null: it is something else.
  const Variable* read(const Tensor& t) const;
  /// The node's value is, or may be, a part of a variable.
  bool lies_in_variable(int node) const { return lies_in_variable_[static_cast<size_t>(node)]; }
  /// How many nodes before this one may look at variables by themselves.
  int segment_of(int node) const { return segment_[static_cast<size_t>(node)]; }
  /// Nobody needs the node once those that can be fused look through it.
  bool is_looked_through(int node) const;
  /// The node shows all elements of its first input in another shape, and is that alone.
  bool is_reshaping(int node) const;
  /// The reduction whose dimensions the node puts back; -1: none.
  int alias_of(int node) const { return alias_of_[static_cast<size_t>(node)]; }

 private:
  void classify(FusableNode& n) const;
  void classify_reduction(FusableNode& n) const;
  void classify_random(FusableNode& n) const;
  void find_aliases();
  FusedOperand resolve(const Tensor& t) const;
  void order_effects();

  std::unordered_map<const graph::Node*, int> number_;
  std::vector<bool> lies_in_variable_;
  std::vector<int> segment_;
  std::vector<int> alias_of_;  // of a node that puts dimensions back: the reduction
};

/// As TIDEMARK_FUSION says. Throws InvalidArgumentError when that is none of its values.
bool is_fusion_on();

}  // namespace tidemark::compile
