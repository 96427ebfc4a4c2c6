// For which device a graph is compiled: whose code passes make, and by whose costs they weigh.
#pragma once

#include "tidemark/base/backend.h"
#include "tidemark/graph/node.h"

namespace tidemark::compile {

/// The backend of the device on which the node will run.
inline const Backend& target_of(const graph::Node& node) {
  return backend_of(graph::device_of(node));
}

}  // namespace tidemark::compile
