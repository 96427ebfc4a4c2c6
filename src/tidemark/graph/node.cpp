#include "tidemark/graph/node.h"

#include <typeinfo>

#include "tidemark/graph/node_count.h"

#include "tidemark/graph/graph.h"
#include "tidemark/graph/op_facts.h"
#include "tidemark/graph/recording.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::graph {

namespace {

/// Nodes whose last reference went while another is being taken apart: a chain of a million nodes
/// must not take a million stack frames.
struct Dying {
  std::vector<Node*> nodes;
  bool is_draining = false;
};
thread_local Dying dying;

void release(Node* node) noexcept {
  if (node->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  dying.nodes.push_back(node);
  if (dying.is_draining) return;
  dying.is_draining = true;
  while (!dying.nodes.empty()) {
    Node* next = dying.nodes.back();
    dying.nodes.pop_back();
    delete next;
  }
  dying.is_draining = false;
}

bool are_equal(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.to_ints() == b.to_ints();
}

}  // namespace

void destroy_symbolic(detail::TensorImpl* impl) noexcept {
  auto* self = static_cast<SymbolicImpl*>(impl);
  Node* node = self->node;
  delete self;
  if (node) release(node);
}

std::vector<int64_t> known_ints(const detail::TensorImpl& impl) {
  const Tensor handle = [&] {
    auto* shared = const_cast<detail::TensorImpl*>(&impl);
    shared->refs.fetch_add(1, std::memory_order_relaxed);
    return Tensor::adopt(shared);
  }();
  const Tensor value = known_value(handle);
  if (!value) {
    throw ValueUnknownError(
        message("the value of ",
                static_cast<const SymbolicImpl&>(impl).node ? describe(handle) : "a tensor",
                " is needed while the graph is being built, and only a run can "
                "tell it"));
  }
  return value.to_ints();
}

constinit std::atomic<int64_t> live_nodes{0};

bool Special::is_same(const Special& other) const {
  return this == &other || (typeid(*this) == typeid(other) && equals(other));
}

void RecordingSpecial::run(std::span<Tensor>, std::span<Tensor>) const {
  fail<InternalError>("[", name(), "] runs as a step of a program only");
}

void Special::compute(std::span<const Tensor>, std::span<const Tensor>, void*) const {
  fail<InternalError>("'", name(), "' cannot compute into outputs that are given");
}

Node::~Node() {
  live_nodes.fetch_sub(1, std::memory_order_relaxed);
  if (site) memory::unpin(*site);
  if (!is_found) return;
  if (const std::shared_ptr<Graph> owner = graph.lock()) owner->forget(*this);
}

NodeRef NodeRef::adopt(Node* node) noexcept {
  NodeRef ref;
  ref.node_ = node;
  return ref;
}

NodeRef NodeRef::share(Node* node) noexcept {
  if (node) node->refs.fetch_add(1, std::memory_order_relaxed);
  return adopt(node);
}

NodeRef::~NodeRef() {
  if (node_) release(node_);
}

Tensor output_of(Node& node, uint32_t index, std::unique_ptr<Imagined> imagined) {
  auto impl = std::make_unique<SymbolicImpl>();
  OutputInfo& info = node.outputs[index];
  if (info.id == 0) info.id = new_tensor_id();
  impl->dtype = info.dtype;
  impl->is_symbolic = true;
  impl->device = info.device;
  impl->shape = info.shape;
  impl->num_elements = info.shape.is_fully_known() ? info.shape.num_elements() : 0;
  impl->index = index;
  impl->imagined = std::move(imagined);
  impl->id.store(info.id, std::memory_order_relaxed);
  impl->node = &node;
  node.refs.fetch_add(1, std::memory_order_relaxed);
  return Tensor::adopt(impl.release());
}

Tensor known_value(const Tensor& t) {
  if (!t.is_symbolic()) return t;
  const Imagined* imagined = symbolic(t).imagined.get();
  if (!imagined) return {};
  const Tensor& first = imagined->value[0];
  for (const Tensor& other : imagined->value) {
    if (!other || !first) return {};
    if (other.impl() != first.impl() && !are_equal(first, other)) return {};
  }
  return first;
}

std::string_view kind_of(const Node& node) {
  return node.op ? std::string_view(op_name(*node.op)) : node.special->name();
}

std::string describe(const Tensor& t) {
  if (!t.is_symbolic() || !symbolic(t).node) return message("a tensor of shape ", t.shape());
  const Node& node = node_of(t);
  std::string out = message("'", node.label.empty() ? kind_of(node) : std::string_view(node.label),
                            ":", symbolic(t).index, "' of shape ", t.shape());
  if (node.site) out += message(" made at ", memory::describe(*node.site));
  return out;
}

void set_shape(const Tensor& t, const Shape& shape, std::unique_ptr<Imagined> imagined) {
  SymbolicImpl& impl = symbolic(t);
  impl.shape = shape;
  impl.num_elements = shape.is_fully_known() ? shape.num_elements() : 0;
  if (!impl.imagined || !impl.imagined->value[0]) impl.imagined = std::move(imagined);
  if (impl.node) impl.node->outputs[impl.index].shape = shape;
}

}  // namespace tidemark::graph
