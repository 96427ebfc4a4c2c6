// A graph from bytes that nobody vouches for.
#pragma once

#include "tidemark/graph/graph.h"
#include "tidemark/io/tensor_file.h"
#include "tidemark/tables/hash_table.h"
#include "tidemark/trace/builder.h"

namespace tidemark::io {

/// What the graphs of a model refer to by number.
struct GraphParts {
  std::vector<Variable> variables;
  std::vector<Tensor> constants;
  std::vector<std::shared_ptr<HashTable>> tables;
};

struct ReadGraph {
  std::shared_ptr<graph::Graph> graph;
  std::vector<Variable> variables;
};

/// Built anew, call by call, so that every rule of the ops is checked again. Throws DataLossError
/// for bytes that are no graph and the op's error for calls that cannot be.
TIDEMARK_API ReadGraph read_graph(std::string_view bytes, const GraphParts& parts);

}  // namespace tidemark::io
