// A program for the sizes at hand: replayed into a graph in which all of them are known.
#include "tidemark/exec/versions.h"
#include "tidemark/trace/builder.h"

namespace tidemark::trace {

namespace {

/// Gradients that were left to the run become nodes here: their sizes are known now.
std::shared_ptr<graph::Graph> replay(const exec::Program& program, std::span<const Tensor> inputs) {
  const EagerScope outside;
  GraphBuilder builder("planned");
  std::vector<Tensor> symbolic;
  for (const Tensor& t : inputs) {
    // An input that nobody looks at may be missing.
    symbolic.push_back(t ? builder.add_input(t.dtype(), t.shape(), t.device())
                         : builder.add_input(DType::bool_, {}));
  }
  std::vector<Tensor> outputs(program.num_outputs());
  {
    const TraceScope scope(builder);
    program.run(symbolic, outputs);
  }
  std::shared_ptr<graph::Graph> graph = builder.finish(outputs);
  for (const graph::Node* node : graph->nodes()) {
    // What has to be recorded while it runs cannot be put in another order.
    if (graph::effects_of(*node).needs_record) return nullptr;
  }
  return graph;
}

const bool registered = (exec::set_specialiser(replay), true);

}  // namespace

}  // namespace tidemark::trace
