// Which nodes run together.
#pragma once

#include "tidemark/compile/fuse_graph.h"

namespace tidemark::compile {

struct FuseGroup {
  std::vector<int> members;  // in the order of the program
  Shape space;
  int reduced_dims = 0;
  bool updates = false;  // what leaves it is assigned to variables, and goes nowhere else
};

/// Groups of two and more nodes, or of one whose value is assigned to a variable; no node is in two
/// of them, and contracting each to one node leaves no cycle.
std::vector<FuseGroup> find_groups(const FuseGraph& graph);

}  // namespace tidemark::compile
