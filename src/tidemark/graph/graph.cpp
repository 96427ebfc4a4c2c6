#include "tidemark/graph/graph.h"

#include "tidemark/graph/node_count.h"

#include <algorithm>
#include <unordered_set>

#include "tidemark/memory/buffer.h"
#include "tidemark/memory/context.h"

namespace tidemark::graph {

namespace {

uint64_t next_sequence() noexcept {
  static constinit std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

std::shared_ptr<const Special> placeholder_special() {
  static const auto& shared = *new auto(std::make_shared<const Placeholder>());
  return shared;
}

void Placeholder::run(std::span<Tensor>, std::span<Tensor>) const {
  fail<InvalidArgumentError>("[placeholder] no value was given for an input of the graph");
}

bool is_placeholder(const Node& node) { return node.special == placeholder_special(); }

Graph::Graph(std::string name) : name_(std::move(name)), id_(next_sequence()) {}

std::shared_ptr<Graph> Graph::create(std::string name) {
  return std::make_shared<Graph>(std::move(name));
}

NodeRef Graph::new_node() {
  if (is_finalized()) {
    const memory::Site* site = memory::thread_context.site;
    throw FinalizedError(message("Graph is finalized and cannot be modified.",
                                 site ? " A node was to be added at " : "",
                                 site ? memory::describe(*site) : std::string()));
  }
  auto node = std::make_unique<Node>();
  live_nodes.fetch_add(1, std::memory_order_relaxed);  // its end counts it off
  node->sequence = next_sequence();
  node->graph = weak_from_this();
  node->graph_id = id_;
  node->site = memory::thread_context.site;
  if (node->site) memory::pin(*node->site);
  return NodeRef::adopt(node.release());
}

Tensor Graph::add_input(DType dtype, const Shape& shape, std::unique_ptr<Imagined> imagined,
                        Device device) {
  const NodeRef node = new_node();
  node->special = placeholder_special();
  node->outputs.push_back({dtype, shape, 0, device});
  inputs_.push_back(output_of(*node, 0, std::move(imagined)));
  return inputs_.back();
}

std::vector<Node*> nodes_for(std::span<const Tensor> tensors, std::span<const NodeRef> effects,
                             std::span<const Tensor> given) {
  std::unordered_set<Node*> seen;
  std::vector<Node*> out;
  const auto visit = [&](Node* node) {
    if (seen.insert(node).second) out.push_back(node);
  };
  for (const Tensor& t : given) visit(&node_of(t));
  const size_t num_given = out.size();
  for (const Tensor& t : tensors) {
    if (t.is_symbolic()) visit(&node_of(t));
  }
  for (const NodeRef& effect : effects) visit(effect.get());
  for (size_t i = num_given; i < out.size(); ++i) {
    for (const Tensor& t : out[i]->inputs) {
      if (t.is_symbolic()) visit(&node_of(t));
    }
    for (const NodeRef& before : out[i]->before) visit(before.get());
  }
  std::sort(out.begin(), out.end(),
            [](const Node* a, const Node* b) { return a->sequence < b->sequence; });
  return out;
}

std::vector<Node*> Graph::nodes() const { return nodes_for(outputs_, effects_); }

namespace {

size_t bytes_of(const Node& node) {
  return sizeof(Node) + node.outputs.size() * (sizeof(OutputInfo) + sizeof(SymbolicImpl)) +
         node.attrs.size() * sizeof(Attr) + node.inputs.size() * sizeof(Tensor) +
         (node.special ? node.special->bytes() : 0);
}

}  // namespace

size_t Graph::node_bytes() const {
  size_t bytes = sizeof(Graph);
  for (const Node* node : nodes()) bytes += bytes_of(*node);
  return bytes;
}

size_t Graph::bytes() const {
  std::unordered_set<const memory::Buffer*> seen;
  size_t bytes = sizeof(Graph);
  for (const Node* node : nodes()) {
    bytes += bytes_of(*node);
    for (const Tensor& t : node->inputs) {
      const memory::Buffer* buffer = t.impl()->buffer;
      if (buffer && seen.insert(buffer).second) bytes += buffer->charged;
    }
  }
  return bytes;
}

}  // namespace tidemark::graph
