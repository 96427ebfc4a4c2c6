// Which nodes run together.
#pragma once

#include "tidemark/compile/fuse_graph.h"

namespace tidemark::compile {

/// A row that is passed over more than once stays in the cache.
inline constexpr int64_t kLongestFusedRow = 64 << 10;

struct FuseGroup {
  /// In the order in which they are computed: that of the program but for those behind `chained`,
  /// which read only what the others read and may be written where that lies.
  std::vector<int> members;
  size_t chained = 0;
  /// Of the chain.
  int last() const { return members[chained - 1]; }
  Shape space;
  int row_dims = 0;  // 0: it has no rows
  bool reduces_rows = false;
  bool updates = false;  // what leaves it is assigned to variables, and goes nowhere else
  /// The node whose result the group goes on with part by part, and nodes that only show that
  /// result in another shape, the nearest to the group first.
  int product = -1;
  std::vector<int> views;
};

/// Groups of two and more nodes, or of one whose value is assigned to a variable or that follows a
/// product; no node is in two of them, and contracting each to one node leaves no cycle.
std::vector<FuseGroup> find_groups(const FuseGraph& graph);

}  // namespace tidemark::compile
