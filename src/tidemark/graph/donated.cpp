#include "tidemark/graph/donated.h"

#include "tidemark/graph/node_count.h"

namespace tidemark::graph {

namespace {

class Donated final : public Special {
 public:
  explicit Donated(std::string function) : function_(std::move(function)) {}
  std::string_view name() const override { return "donated"; }
  void run(std::span<Tensor>, std::span<Tensor>) const override {
    fail<FailedPreconditionError>("a tensor that was donated to ", function_, " has no value");
  }
  const std::string* donated_to() const override { return &function_; }

 private:
  std::string function_;
};

/// Null: the tensor was not donated.
const std::string* function_of(const Tensor& t) noexcept {
  if (!t.is_symbolic() || !symbolic(t).node || !node_of(t).special) return nullptr;
  return node_of(t).special->donated_to();
}

}  // namespace

Tensor donated_tensor(const Tensor& t, std::string function, memory::Site* site) {
  auto made = std::make_unique<Node>();
  live_nodes.fetch_add(1, std::memory_order_relaxed);  // its end counts it off
  const NodeRef node = NodeRef::adopt(made.release());
  node->special = std::make_shared<const Donated>(std::move(function));
  node->outputs.push_back({t.dtype(), t.shape()});
  node->site = site;
  if (site) memory::pin(*site);
  return output_of(*node, 0);
}

bool is_donated(const Tensor& t) noexcept { return function_of(t) != nullptr; }

bool was_donated_at(const Tensor& t, const memory::Site* site) noexcept {
  return function_of(t) && node_of(t).site == site;
}

std::string describe_donated(const Tensor& t) {
  const memory::Site* site = node_of(t).site;
  return message("a tensor of shape ", t.shape(), " was donated to ", *function_of(t),
                 site ? " at " : "", site ? memory::describe(*site) : std::string(),
                 " and has no value any more: use what that call returned, or give it "
                 "tf.identity(...) of what is needed later");
}

}  // namespace tidemark::graph
