// A part of a graph that works row by row, run piece by piece: of what lies inside it only one
// piece is in memory at a time.
//
//   const plan::Lowering lowered(*graph);                  // before fusion
//   if (auto region = find_region(lowered, order, 0, order.size(), 64, peak_ops))
//     graph = split_rows(*graph, lowered, *region, 4);     // four pieces of 16 units each
#pragma once

#include "tidemark/compile/row_rules.h"
#include "tidemark/graph/graph.h"
#include "tidemark/plan/lowering.h"

namespace tidemark::compile {

/// Ops that may run together on a part of the rows: no way leads out of the region and back in.
struct RowRegion {
  int64_t units = 0;             // the leading dimension of all its rows is a multiple of this
  std::vector<int> ops;          // of the lowering, ascending
  std::vector<RowRule> rules;    // one an op
  std::vector<char> is_inside;   // by op of the lowering
  std::vector<int> inner;        // values that nobody outside needs whole
  std::vector<int> boundary;     // rows that somebody outside needs
  std::vector<int> accumulated;  // values to which every piece contributes
};

/// The ops at the positions [first, last) of an order that works, as many as fit together and are
/// connected with one of the `wanted` ops. None: there are none, or nothing would lie inside.
TIDEMARK_API std::optional<RowRegion> find_region(const plan::Lowering& lowered,
                                                  const std::vector<int>& order, size_t first,
                                                  size_t last, int64_t units,
                                                  const std::vector<int>& wanted);

/// How many pieces there will be: all but the last of one size.
TIDEMARK_API int64_t pieces_of(int64_t units, int64_t wanted);

/// Null: effects would change places.
TIDEMARK_API std::shared_ptr<graph::Graph> split_rows(const graph::Graph& graph,
                                                      const plan::Lowering& lowered,
                                                      const RowRegion& region, int64_t pieces);

}  // namespace tidemark::compile
