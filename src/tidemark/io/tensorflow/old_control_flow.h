// TensorFlow 1's control flow, found in a graph: which Switch a Merge undoes, and the parts of each
// loop between Enter and Exit.
//
// A node is dead unless all Switches before it went its way. Walking forward from the inputs tells
// for each node which conditions it lives under, as a path: the outermost first. The inputs of a
// Merge end in one condition and its opposite; the node itself lives under what is before that.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace tidemark::io::tensorflow {

struct NodeList;
struct Scope;
class Importer;

class OldControlFlow {
 public:
  /// What stands for the loop variable at each place of the loop; -1: it has no such node.
  struct LoopVariable {
    int enter = -1, merge = -1, after_test = -1, exit = -1, next = -1;
  };
  struct Loop {
    std::vector<LoopVariable> variables;
    std::vector<int> constants;  // Enter nodes of what does not change
    int test = -1;               // LoopCond
  };

  bool is_there() const { return !paths_.empty(); }
  /// Throws UnimplementedError for shapes that cond and while_loop do not make.
  void find(const NodeList& list);

  /// The nodes that must be made before this one, where these are not just its inputs.
  std::optional<std::vector<int>> needs(const NodeList& list, int node) const;
  /// Makes a Merge or an Exit. False: the node is an ordinary one.
  bool make(Importer& importer, const NodeList& list, int node, Scope& scope) const;

 private:
  struct Condition {
    int before = -1;  // in conditions_
    int pivot = -1;   // the node that chooses
    bool side = false;
    int depth = 0;
  };
  int under(int path, int pivot, bool side);
  int joined(int a, int b);
  bool holds(int path, int pivot, bool side) const;
  int path_of_edge(const NodeList& list, int node, int output);
  void find_loops(const NodeList& list);
  void visit(const NodeList& list, int node);
  /// What the branch of a Merge needs of the outside.
  void find_outside(const NodeList& list, int from, int pivot, bool side,
                    std::vector<int>& outside) const;
  void run_branch(Importer& importer, const NodeList& list, int merge, Scope& scope) const;
  void run_loop(Importer& importer, const NodeList& list, const Loop& loop, Scope& scope) const;

  std::vector<Condition> conditions_;
  std::vector<int> paths_;  // of each node; -1: it always lives
  struct Branch {
    int pivot = -1;
    int inputs[2] = {-1, -1};  // of the Merge: where the condition does not hold, where it does
  };
  std::map<int, Branch> branches_;  // Merge → what it undoes
  std::map<std::string_view, Loop> loops_;
  std::map<int, std::string_view> loop_of_;  // Enter, Merge, Switch, Exit, NextIteration → frame
};

}  // namespace tidemark::io::tensorflow
