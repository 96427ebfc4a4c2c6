// The names of nodes.
#include <algorithm>
#include <charconv>

#include "tidemark/graph/graph.h"

namespace tidemark::graph {

namespace {

std::string key_of(std::string name) {
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name;
}

/// A reference, unless the last one is gone already.
NodeRef share_if_alive(Node* node) {
  uint32_t refs = node->refs.load(std::memory_order_relaxed);
  while (refs != 0) {
    if (node->refs.compare_exchange_weak(refs, refs + 1, std::memory_order_relaxed)) {
      return NodeRef::adopt(node);
    }
  }
  return {};
}

}  // namespace

const std::string& name_of(Node& node) {
  if (node.label.empty()) {
    std::string kind(kind_of(node));
    const std::shared_ptr<Graph> graph = node.graph.lock();
    node.label = graph ? graph->unique_name(kind) : std::move(kind);
  }
  return node.label;
}

std::string Graph::default_name(std::string_view kind) const {
  std::string own(kind);
  if (!kinds_) return own;
  const auto known = kinds_->find(own);
  return known == kinds_->end() ? own : known->second;
}

std::string Graph::new_name(const std::string& name) {
  const std::string key = key_of(name);
  int64_t& count = asked_[key];
  if (count == 0 && !named_.contains(key)) {
    count = 1;
    return name;
  }
  for (count = std::max<int64_t>(count, 1);; ++count) {
    const std::string candidate = message(key, "_", count);
    if (asked_.contains(candidate) || named_.contains(candidate)) continue;
    return message(name, "_", count++);
  }
}

std::string Graph::unique_name(const std::string& name) {
  const std::lock_guard hold(names_mutex_);
  return new_name(name);
}

void Graph::give_back(const std::string& name) {
  std::string key = key_of(name);
  named_.erase(key);
  if (const auto whole = asked_.find(key); whole != asked_.end() && whole->second == 1) {
    asked_.erase(whole);
    return;
  }
  // The number that was given out last is given out again.
  const size_t bar = key.rfind('_');
  if (bar == std::string::npos) return;
  int64_t number = 0;
  const char* end = key.data() + key.size();
  const auto read = std::from_chars(key.data() + bar + 1, end, number);
  if (read.ec != std::errc{} || read.ptr != end) return;
  const auto base = asked_.find(key.substr(0, bar));
  if (base != asked_.end() && base->second == number + 1) base->second = number;
}

void Graph::set_name(Node& node, const std::string& name) {
  const std::lock_guard hold(names_mutex_);
  if (node.is_found) give_back(node.label);
  node.label = new_name(name);
  node.is_found = true;
  named_[key_of(node.label)] = &node;
}

void Graph::set_unique_name(Node& node, std::string name) {
  const std::lock_guard hold(names_mutex_);
  if (node.is_found) give_back(node.label);
  node.label = std::move(name);
  node.is_found = true;
  named_[key_of(node.label)] = &node;
}

void Graph::forget(const Node& node) noexcept {
  const std::lock_guard hold(names_mutex_);
  const auto found = named_.find(key_of(node.label));
  if (found != named_.end() && found->second == &node) named_.erase(found);
}

NodeRef Graph::find(const std::string& name) const {
  const std::lock_guard hold(names_mutex_);
  const auto found = named_.find(key_of(name));
  if (found == named_.end() || found->second->label != name) return {};
  return share_if_alive(found->second);
}

std::vector<NodeRef> Graph::named_nodes() const {
  std::vector<NodeRef> out;
  {
    const std::lock_guard hold(names_mutex_);
    out.reserve(named_.size());
    for (const auto& [name, node] : named_) {
      if (NodeRef ref = share_if_alive(node)) out.push_back(std::move(ref));
    }
  }
  std::sort(out.begin(), out.end(),
            [](const NodeRef& a, const NodeRef& b) { return a->sequence < b->sequence; });
  return out;
}

}  // namespace tidemark::graph
