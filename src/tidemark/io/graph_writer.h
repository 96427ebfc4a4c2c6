// A graph as bytes; the variables, constants and tables it uses stand beside it, by number.
#pragma once

#include <tidemark/variable.h>

#include <unordered_map>

#include "tidemark/graph/graph.h"
#include "tidemark/tables/hash_table.h"

namespace tidemark::io {

/// What the graphs of a model share, each thing once.
class TIDEMARK_API SharedParts {
 public:
  uint64_t add(const Variable& variable);
  uint64_t add(const Tensor& constant);
  /// By the number that ops know the table by.
  uint64_t add_table(int64_t number);

  std::vector<Variable> variables;
  std::vector<Tensor> constants;
  std::vector<std::shared_ptr<HashTable>> tables;

 private:
  std::unordered_map<uint64_t, uint64_t> variable_at_;
  std::unordered_map<const void*, uint64_t> constant_at_;
  std::unordered_map<int64_t, uint64_t> table_at_;
};

/// Throws InvalidArgumentError, with the line, for a node that needs Python or a session.
TIDEMARK_API std::string write_graph(const graph::Graph& graph, SharedParts& parts);

}  // namespace tidemark::io
