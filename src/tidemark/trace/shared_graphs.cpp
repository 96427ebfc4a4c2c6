#include "tidemark/trace/shared_graphs.h"

#include <tidemark/op.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "tidemark/comm/arrange.h"
#include "tidemark/graph/compare.h"

namespace tidemark::trace {

namespace {

/// Graphs alike but for their variables share a hash: a look-up stays short all the same.
constexpr size_t kMostCompared = 8;
constexpr size_t kFewestBeforeSweep = 64;

class SharedGraphs {
 public:
  /// Those that may be the same, the newest first.
  std::vector<Ready> candidates(uint64_t hash) {
    std::vector<Ready> out;
    const std::lock_guard lock(mutex_);
    auto [first, last] = entries_.equal_range(hash);
    for (; first != last && out.size() < kMostCompared; ++first) {
      Ready ready{first->second.graph.lock(), first->second.program.lock()};
      if (ready.graph && ready.program) out.push_back(std::move(ready));
    }
    return out;
  }

  void add(uint64_t hash, const Ready& ready) {
    const std::lock_guard lock(mutex_);
    if (entries_.size() >= sweep_at_) sweep();
    // With a hint an equal key goes before those that are there.
    entries_.emplace_hint(entries_.find(hash), hash, Entry{ready.graph, ready.program});
  }

  size_t size() {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  struct Entry {
    std::weak_ptr<graph::Graph> graph;
    std::weak_ptr<const exec::Program> program;
  };

  /// What is gone takes at most as many entries as what is alive, or a few.
  void sweep() {
    std::erase_if(entries_, [](const auto& pair) { return pair.second.graph.expired(); });
    sweep_at_ = std::max(kFewestBeforeSweep, 2 * entries_.size());
  }

  std::mutex mutex_;
  std::unordered_multimap<uint64_t, Entry> entries_;
  size_t sweep_at_ = kFewestBeforeSweep;
};

SharedGraphs& table() {
  static auto* const shared = new SharedGraphs;  // graphs may outlive static destructors
  return *shared;
}

bool has_state(const graph::Graph& graph) {
  const std::vector<graph::Node*> nodes = graph.nodes();
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const graph::Node* n) { return graph::effects_of(*n).draws; });
}

}  // namespace

Ready shared(std::shared_ptr<graph::Graph> graph, exec::Compile compile, int64_t budget,
             std::vector<uint32_t> donated) {
  if (comm::is_arranged_when_planned(*graph)) compile = exec::Compile::always;
  if (budget > 0 || !donated.empty() || has_state(*graph)) {
    return {graph, exec::Program::build(*graph, compile, budget, std::move(donated))};
  }
  const uint64_t hash = graph::content_hash(*graph);
  // Compared and let go without the lock: the last owner's end may run the user's code.
  for (Ready& known : table().candidates(hash)) {
    if (graph::are_same(*known.graph, *graph, graph::Lines::compared)) return std::move(known);
  }
  Ready made{graph, exec::Program::build(*graph, compile)};
  table().add(hash, made);
  return made;
}

size_t num_shared_graphs() { return table().size(); }

}  // namespace tidemark::trace
