#include "tidemark/trace/specialise.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "tidemark/base/interrupt.h"
#include "tidemark/base/placement.h"
#include "tidemark/comm/arrange.h"
#include "tidemark/exec/step_site.h"
#include "tidemark/graph/recording.h"
#include "tidemark/graph/specials.h"
#include "tidemark/trace/builder.h"

namespace tidemark::trace {

namespace {

class Specialiser {
 public:
  Specialiser(GraphBuilder& to, const graph::Graph& from, std::span<const Tensor> inputs,
              Opens opens)
      : to_(to) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      values_[&graph::node_of(from.inputs()[i])] = {inputs[i]};
    }
    const std::vector<graph::Node*> nodes = from.nodes();
    // Where gradients are asked for, the way may lead across any step.
    opens_ =
        opens == Opens::all || std::any_of(nodes.begin(), nodes.end(), [](const graph::Node* node) {
          return node->special && node->special->recording();
        });
    for (const graph::Node* node : nodes) {
      check_interrupt();
      add(*node);
    }
  }

  std::vector<Tensor> at(std::span<const Tensor> old) const {
    std::vector<Tensor> out;
    out.reserve(old.size());
    for (const Tensor& t : old) {
      out.push_back(t.is_symbolic() ? values_.at(&graph::node_of(t))[graph::symbolic(t).index] : t);
    }
    return out;
  }

 private:
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
      add_special(node, inputs, outputs);
    }
  }

  void add_special(const graph::Node& node, std::vector<Tensor>& inputs,
                   std::span<Tensor> outputs) {
    std::shared_ptr<const graph::Special> special = node.special;
    std::vector<graph::OutputInfo> infos = node.outputs;
    if (const auto* step = opens_ ? special->differentiable() : nullptr) {
      const TraceScope building(to_);
      if (auto opened = step->opened(inputs, infos)) special = std::move(opened);
    }
    to_.handle_step(special, infos, inputs, outputs);
  }

  GraphBuilder& to_;
  bool opens_ = false;
  std::unordered_map<const graph::Node*, std::vector<Tensor>> values_;
};

}  // namespace

std::vector<Tensor> copy_into(GraphBuilder& to, const graph::Graph& from,
                              std::span<const Tensor> inputs, Opens opens) {
  return Specialiser(to, from, inputs, opens).at(from.outputs());
}

bool needs_record(std::span<graph::Node* const> nodes) {
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const graph::Node* node) { return graph::effects_of(*node).needs_record; });
}

std::shared_ptr<graph::Graph> specialise(const graph::Graph& graph,
                                         std::span<const Tensor> inputs) {
  const NoHandlers outside;  // whatever is being built or recorded on this thread
  GraphBuilder builder("planned");
  std::vector<Tensor> known;
  for (const Tensor& t : inputs) {
    known.push_back(t ? builder.add_input(t.dtype(), t.shape(), t.device())
                      : builder.add_input(DType::bool_, {}));
  }
  const std::shared_ptr<graph::Graph> out = builder.finish(copy_into(builder, graph, known));
  // What has to be recorded while it runs cannot be put in another order.
  return needs_record(out->nodes()) ? nullptr : comm::arranged(out);
}

}  // namespace tidemark::trace
