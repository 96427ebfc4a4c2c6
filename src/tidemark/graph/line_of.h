// Nodes that stand for others, at their source lines.
#pragma once

#include <utility>

#include "tidemark/graph/node.h"
#include "tidemark/memory/context.h"

namespace tidemark::graph {

/// Nodes made until the end of the scope belong to another node's line.
class LineOf {
 public:
  explicit LineOf(const Node& node)
      : outer_(std::exchange(memory::thread_context.site, node.site)) {}
  ~LineOf() { memory::thread_context.site = outer_; }
  LineOf(const LineOf&) = delete;
  LineOf& operator=(const LineOf&) = delete;

 private:
  memory::Site* outer_;
};

}  // namespace tidemark::graph
