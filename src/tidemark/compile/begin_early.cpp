#include <tidemark/op.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "tidemark/compile/pass.h"
#include "tidemark/compile/rewrite.h"
#include "tidemark/graph/specials.h"

namespace tidemark::compile {

namespace {

using graph::Node;

/// A step in two: between `begin` and `end`, places in the program, it goes on.
struct Apart {
  graph::TwoSteps steps;
  size_t begin = 0;  // behind the step that stands there
  size_t end = 0;    // before it
  size_t chain = 0;  // of those that go on in one scratch memory
  graph::NodeRef begun{};
};

bool lies_on_host(const Tensor& t) { return t.device().is_cpu() && t.shape().is_fully_known(); }

class Apartness {
 public:
  explicit Apartness(const graph::Graph& graph) : graph_(graph), nodes_(graph.nodes()) {
    for (size_t i = 0; i < nodes_.size(); ++i) place_[nodes_[i]] = i;
    find_first_uses();
    find_begins();
    find_ends();
  }

  bool changes_anything() const { return !apart_.empty(); }

  std::shared_ptr<graph::Graph> run() {
    // What ends at a place, the step there, what begins behind it.
    enum class Part { end, whole, begin };
    struct Item {
      size_t place;
      Part part;
      size_t node;
    };
    std::vector<Item> items;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (graph::is_placeholder(*nodes_[i])) continue;
      const auto apart = apart_.find(i);
      if (apart == apart_.end()) {
        items.push_back({i, Part::whole, i});
      } else {
        items.push_back({apart->second.begin, Part::begin, i});
        items.push_back({apart->second.end, Part::end, i});
      }
    }
    std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
      return std::pair(a.place, a.part) < std::pair(b.place, b.part);
    });
    Rewriter now(graph_);
    for (const Item& item : items) {
      const Node& node = *nodes_[item.node];
      if (item.part == Part::whole) now.copy(node);
      if (item.part == Part::begin) begin(now, node, apart_.at(item.node));
      if (item.part == Part::end) end(now, node, apart_.at(item.node));
    }
    return now.finish();
  }

 private:
  void find_first_uses() {
    first_use_.assign(nodes_.size(), nodes_.size());
    const auto use = [&](const Node* node, size_t place) {
      if (const auto at = place_.find(node); at != place_.end()) {
        first_use_[at->second] = std::min(first_use_[at->second], place);
      }
    };
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (const Tensor& t : nodes_[i]->inputs) {
        if (t.is_symbolic()) use(&graph::node_of(t), i);
      }
      for (const graph::NodeRef& before : nodes_[i]->before) use(before.get(), i);
    }
  }

  /// As early as what it needs, and what it has to come after, lets it.
  void find_begins() {
    graph::EffectOrder order;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = *nodes_[i];
      const std::vector<int> after = order.add(static_cast<int>(i), graph::effects_of(node));
      auto steps = node.special ? node.special->in_two_steps() : std::nullopt;
      if (!steps || !std::all_of(node.inputs.begin(), node.inputs.end(), lies_on_host)) continue;
      size_t begin = 0;
      for (const int before : after) begin = std::max(begin, begin_of(static_cast<size_t>(before)));
      for (const Tensor& t : node.inputs) {
        if (t.is_symbolic()) begin = std::max(begin, place_.at(&graph::node_of(t)));
      }
      for (const graph::NodeRef& before : node.before) {
        if (const auto at = place_.find(before.get()); at != place_.end()) {
          begin = std::max(begin, at->second);
        }
      }
      apart_.emplace(i, Apart{std::move(*steps), begin});
    }
  }
  size_t begin_of(size_t place) const {
    const auto apart = apart_.find(place);
    return apart == apart_.end() ? place : apart->second.begin;
  }

  /// Where it is needed, or something comes that keeps its place. Who has nothing heavy to go on
  /// beside stays whole.
  void find_ends() {
    std::vector<size_t> heavy = {0};  // before each place
    for (const Node* node : nodes_) heavy.push_back(heavy.back() + is_heavy(*node));
    size_t fence = nodes_.size();
    for (size_t i = nodes_.size(); i-- > 0;) {
      const auto apart = apart_.find(i);
      if (apart != apart_.end()) {
        apart->second.end = std::min(first_use_[i], fence);
        if (heavy[apart->second.end] > heavy[apart->second.begin + 1]) continue;
        apart_.erase(apart);
      }
      const graph::Effects effects = graph::effects_of(*nodes_[i]);
      if (effects.is_barrier || effects.token != 0) fence = i;
    }
    // Those that stay whole keep the others in order, too.
    size_t least = 0;
    size_t chain = 0, chain_ends = std::numeric_limits<size_t>::max();
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const auto found = apart_.find(i);
      if (found == apart_.end()) {
        if (graph::effects_of(*nodes_[i]).token != 0) least = i;
        continue;
      }
      Apart& apart = found->second;
      apart.begin = least = std::max(apart.begin, least);
      if (apart.begin >= chain_ends) {
        ++chain;
        chain_ends = std::numeric_limits<size_t>::max();
      }
      apart.chain = chain;
      chain_ends = std::min(chain_ends, apart.end);
    }
  }
  static bool is_heavy(const Node& node) {
    return node.op ? node.op->is_heavy() : bool(node.special && node.special->heavy_work());
  }

  void begin(Rewriter& now, const Node& node, Apart& apart) {
    std::vector<Tensor> inputs = now.at(node.inputs);
    std::vector<graph::OutputInfo> outputs = node.outputs;
    for (graph::OutputInfo& out : outputs) out.id = 0;
    outputs.push_back({DType::uint64, Shape({1})});
    outputs.push_back({DType::uint8, Shape({static_cast<int64_t>(apart.steps.scratch)})});
    if (const Tensor scratch = scratch_of(apart.chain)) inputs.push_back(scratch);
    apart.begun = now.add(apart.steps.begin, std::move(inputs), std::move(outputs), node);
    now.keep(apart.begun);
    last_begun_[apart.chain] = apart.begun;
  }

  void end(Rewriter& now, const Node& node, Apart& apart) {
    const auto count = static_cast<uint32_t>(node.outputs.size());
    std::vector<Tensor> inputs;
    for (uint32_t i = 0; i <= count; ++i) inputs.push_back(graph::output_of(*apart.begun, i));
    inputs.push_back(scratch_of(apart.chain));
    const graph::NodeRef ended = now.add(apart.steps.end, std::move(inputs), node.outputs, node);
    now.keep(ended);
    for (uint32_t i = 0; i < count; ++i) now.set(node, i, graph::output_of(*ended, i));
  }

  /// As those that began last have it; empty: none has.
  Tensor scratch_of(size_t chain) const {
    const auto begun = last_begun_.find(chain);
    if (begun == last_begun_.end()) return {};
    const auto last = static_cast<uint32_t>(begun->second->outputs.size() - 1);
    return graph::output_of(*begun->second, last);
  }

  const graph::Graph& graph_;
  const std::vector<Node*> nodes_;
  std::unordered_map<const Node*, size_t> place_;
  std::vector<size_t> first_use_;
  std::unordered_map<size_t, Apart> apart_;  // by place
  std::unordered_map<size_t, graph::NodeRef> last_begun_;
};

}  // namespace

std::shared_ptr<graph::Graph> begin_early(const std::shared_ptr<graph::Graph>& graph) {
  Apartness apart(*graph);
  return apart.changes_anything() ? apart.run() : graph;
}

}  // namespace tidemark::compile
