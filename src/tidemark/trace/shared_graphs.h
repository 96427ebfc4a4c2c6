// Finished graphs that are alive, known by their content: one that is made again is shared.
//
//   auto [graph, program] = trace::shared(builder.finish(outputs));
//
// The table owns nothing: a graph lives as long as a trace that uses it.
#pragma once

#include <memory>

#include "tidemark/exec/program.h"
#include "tidemark/graph/graph.h"

namespace tidemark::trace {

struct Ready {
  std::shared_ptr<graph::Graph> graph;
  std::shared_ptr<const exec::Program> program;
};

/// This graph and a program for it, or those of an equal graph from the same lines that is alive.
/// Graphs with state of their own (random numbers, tables) are never shared, nor those with a
/// memory budget or donated inputs. Any thread.
TIDEMARK_API Ready shared(std::shared_ptr<graph::Graph> graph,
                          exec::Compile compile = exec::Compile::when_repeated, int64_t budget = 0,
                          std::vector<uint32_t> donated = {});

/// Entries of the table, of graphs alive or gone: for tests.
TIDEMARK_API size_t num_shared_graphs();

}  // namespace tidemark::trace
