// How many nodes there are, of all graphs together: a graph that grows shows itself here.
#pragma once

#include <tidemark/export.h>

#include <atomic>
#include <cstdint>

namespace tidemark::graph {

extern TIDEMARK_API std::atomic<int64_t> live_nodes;

}  // namespace tidemark::graph
