#include "tidemark/trace/specialise.h"

#include <optional>
#include <unordered_map>

#include "tidemark/base/interrupt.h"
#include "tidemark/base/placement.h"
#include "tidemark/exec/step_site.h"
#include "tidemark/graph/recording.h"
#include "tidemark/graph/specials.h"
#include "tidemark/trace/builder.h"

namespace tidemark::trace {

namespace {

class Specialiser {
 public:
  Specialiser(const graph::Graph& from, std::span<const Tensor> inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Tensor& t = inputs[i];
      values_[&graph::node_of(from.inputs()[i])] = {
          t ? to_.add_input(t.dtype(), t.shape(), t.device()) : to_.add_input(DType::bool_, {})};
    }
  }

  void add(const graph::Node& node) {
    const auto [place, is_new] = values_.try_emplace(&node, node.outputs.size());
    if (!is_new) return;  // an input
    if (graph::is_constant(node)) {
      place->second = {node.inputs[0]};
      return;
    }
    const exec::StepSite line(node.site);
    std::optional<PlacementScope> scope;
    if (node.wish) scope.emplace(node.wish.value_or({}));
    std::vector<Tensor> inputs = at(node.inputs);
    const std::span<Tensor> outputs = place->second;
    if (node.op) {
      to_.handle({*node.op, inputs, node.attrs}, outputs);
    } else if (const graph::RecordingSpecial* asking = node.special->recording()) {
      const TraceScope building(to_);  // definitions of gradients are calls
      asking->expand(inputs, outputs);
    } else {
      to_.handle_step(node.special, node.outputs, inputs, outputs);
    }
  }

  std::shared_ptr<graph::Graph> finish(std::span<const Tensor> outputs) {
    return to_.finish(at(outputs));
  }

 private:
  std::vector<Tensor> at(std::span<const Tensor> old) const {
    std::vector<Tensor> out;
    out.reserve(old.size());
    for (const Tensor& t : old) {
      out.push_back(t.is_symbolic() ? values_.at(&graph::node_of(t))[graph::symbolic(t).index] : t);
    }
    return out;
  }

  GraphBuilder to_{"planned"};
  std::unordered_map<const graph::Node*, std::vector<Tensor>> values_;
};

}  // namespace

std::shared_ptr<graph::Graph> specialise(const graph::Graph& graph,
                                         std::span<const Tensor> inputs) {
  const NoHandlers outside;  // whatever is being built or recorded on this thread
  Specialiser specialiser(graph, inputs);
  for (const graph::Node* node : graph.nodes()) {
    check_interrupt();
    specialiser.add(*node);
  }
  std::shared_ptr<graph::Graph> known = specialiser.finish(graph.outputs());
  for (const graph::Node* node : known->nodes()) {
    // What has to be recorded while it runs cannot be put in another order.
    if (graph::effects_of(*node).needs_record) return nullptr;
  }
  return known;
}

}  // namespace tidemark::trace
