// Where in a graph the collectives of what is shared out stand: a pass over a traced graph whose
// sizes are known, before all others.
//
// A variable that is shared out is gathered where the program reads it, and gradients are reduced
// where the program says so: after the way back. Here each reduction moves to where the last of
// what it reduces is made, and a variable that others were gathered after is gathered again where
// it is needed then, so that it does not lie there meanwhile. All of it follows from the order of
// the program alone, never from sizes: all workers arrange alike.
#pragma once

#include "tidemark/graph/graph.h"

namespace tidemark::comm {

/// Whether variables are gathered in it. All workers have to plan such a graph, whenever they run
/// it: step by step the collectives come in the order of the program.
TIDEMARK_API bool is_arranged_when_planned(const graph::Graph& graph);
/// The graph itself where no variable is gathered.
TIDEMARK_API std::shared_ptr<graph::Graph> arranged(std::shared_ptr<graph::Graph> graph);

/// Whether in what the graph does, and makes of the values, each element depends on the elements at
/// its place and on single values alone, so that parts of tensors can be computed apart. `count`:
/// how many elements vectors have.
TIDEMARK_API bool works_on_elements(const graph::Graph& graph, std::span<const Tensor> values,
                                    int64_t count);

}  // namespace tidemark::comm
