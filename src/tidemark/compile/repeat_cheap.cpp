#include "tidemark/compile/repeat_cheap.h"

#include <tidemark/op.h>

#include <algorithm>
#include <map>
#include <set>

#include "tidemark/compile/lives.h"
#include "tidemark/compile/rewrite.h"
#include "tidemark/compile/step_cost.h"

namespace tidemark::compile {

namespace {

/// Below this many bytes alive at once nobody gains from less.
constexpr int64_t kWorthwhile = 1 << 20;
/// Values below this are not worth a step, and are kept where that helps.
constexpr int64_t kSmall = 64 << 10;
/// A peak that is not at least this much lower is not worth any time.
constexpr double kGain = 0.95;
/// How many ops may be repeated to have one value again.
constexpr size_t kLongestChain = 4;

/// Whose time is that of passing over their inputs and outputs, or little more.
bool is_cheap(const graph::Node& node) {
  return node.op && node.before.empty() && node.op->is_cheap();
}

/// One value that is made again just before `anchor`, the first that needs it late.
struct Choice {
  int life = 0;
  int anchor = 0;
  Tensor late;              // an input of the anchor that is made late: the repetition waits for it
  std::set<int> again;      // places of the nodes that run again
  std::vector<int> longer;  // lives that have to last until the anchor for it
  int64_t gained = 0;
  double seconds = 0;
};

class Chooser {
 public:
  explicit Chooser(Lives& lives) : lives_(lives) {
    for (size_t i = 0; i < lives.nodes.size(); ++i) {
      const graph::Node& node = *lives.nodes[i];
      if (graph::effects_of(node).may_change_variables()) changes_.push_back(static_cast<int>(i));
      if (!is_passing(node)) seconds_ += estimated_seconds(node);
    }
  }

  std::vector<Choice> run(double most_time) {
    std::vector<Choice> chosen;
    std::vector<int64_t> loads = lives_.loads();
    const int64_t before = *std::max_element(loads.begin(), loads.end());
    if (before < kWorthwhile) return {};
    const double most = most_time * seconds_;
    int64_t after = before;
    while (true) {
      const auto at = std::max_element(loads.begin(), loads.end());
      after = *at;
      std::optional<Choice> best = best_at(static_cast<int>(at - loads.begin()), most - added_);
      if (!best) break;
      added_ += best->seconds;
      apply(*best);
      chosen.push_back(std::move(*best));
      loads = lives_.loads();
    }
    if (static_cast<double>(after) > kGain * static_cast<double>(before)) return {};
    return chosen;
  }
  double added_time() const { return seconds_ > 0 ? added_ / seconds_ : 0; }

 private:
  Life& life(int index) const { return lives_.all[static_cast<size_t>(index)]; }

  bool is_passing(const graph::Node& node) const {
    const int made = node.outputs.size() == 1
                         ? lives_.of(graph::output_of(const_cast<graph::Node&>(node), 0))
                         : -1;
    return made >= 0 && life(made).is_passing && !(node.op && node.op->is_heavy());
  }

  /// What lies unused across that place and costs the least for its bytes.
  std::optional<Choice> best_at(int pivot, double most) const {
    std::optional<Choice> best;
    for (size_t i = 0; i < lives_.all.size(); ++i) {
      const Life& l = lives_.all[i];
      if (l.bytes < kSmall || l.is_external || l.is_kept || l.is_passing) continue;
      if (l.spans.size() > 1 || !is_cheap(*l.maker) || l.made >= pivot || !l.is_alive(pivot)) {
        continue;
      }
      const auto late = std::upper_bound(l.uses.begin(), l.uses.end(), pivot);
      if (late == l.uses.end() || (late != l.uses.begin() && *(late - 1) == pivot)) continue;
      Choice choice;
      choice.life = static_cast<int>(i);
      choice.anchor = *late;
      choice.gained = l.bytes;
      choice.late = late_input(choice.anchor, pivot);
      if (!choice.late) continue;
      if (!repeat(choice, l.made) || choice.gained * 2 < l.bytes) continue;
      if (choice.seconds > most) continue;
      if (!best || bargain(choice) > bargain(*best)) best = std::move(choice);
    }
    return best;
  }

  /// The last made of the node's inputs, if that is after the place; else empty.
  Tensor late_input(int node, int place) const {
    Tensor found;
    for (const Tensor& t : lives_.nodes[static_cast<size_t>(node)]->inputs) {
      const int made = lives_.of(t);
      if (made < 0 || life(made).is_external || life(made).made <= place) continue;
      place = life(made).made;
      found = t;
    }
    return found;
  }

  static double bargain(const Choice& choice) {
    return static_cast<double>(choice.gained) / (choice.seconds + 1e-7);
  }

  /// The node at that place runs again; false: it cannot.
  bool repeat(Choice& choice, int place) const {
    const graph::Node& node = *lives_.nodes[static_cast<size_t>(place)];
    if (!is_cheap(node) || choice.again.size() >= kLongestChain) return false;
    if (!choice.again.insert(place).second) return true;
    choice.seconds += seconds_of(choice, node);
    for (const Tensor& t : node.inputs) {
      const int needed = lives_.of(t);
      if (needed >= 0 && !provide(choice, needed)) return false;
    }
    return true;
  }

  /// What is there at the anchor, what can be made again, or what is worth keeping for it.
  bool provide(Choice& choice, int needed) const {
    const Life& l = life(needed);
    if (l.is_variable) {
      // Its value is in memory of its own only until somebody changes it.
      const auto change = std::upper_bound(changes_.begin(), changes_.end(), l.made);
      return change == changes_.end() || *change > choice.anchor;
    }
    if (l.is_external || (!l.is_passing && l.is_alive(choice.anchor))) return true;
    if (l.bytes <= kSmall && !l.is_passing) {
      choice.longer.push_back(needed);
      return true;
    }
    if (is_cheap(*l.maker) && l.views.empty()) return repeat(choice, l.made);
    if (l.is_passing || l.bytes * 2 > choice.gained) return false;
    choice.longer.push_back(needed);
    choice.gained -= l.bytes;
    return true;
  }

  /// Beside an elementwise op that reads the same late it is part of that op's pass over memory.
  double seconds_of(const Choice& choice, const graph::Node& node) const {
    if (!node.op->is_elementwise()) return estimated_seconds(node);
    for (const Tensor& t : node.inputs) {
      const int read = lives_.of(t);
      if (read < 0 || t.shape() != node.outputs[0].shape) continue;
      for (const int use : life(read).uses) {
        const graph::Node& other = *lives_.nodes[static_cast<size_t>(use)];
        if (use + 1 >= choice.anchor && other.op && other.op->is_elementwise()) {
          return estimated_seconds(node, life(choice.life).bytes);
        }
      }
    }
    return estimated_seconds(node);
  }

  void apply(const Choice& choice) {
    Life& l = life(choice.life);
    const auto late = std::lower_bound(l.uses.begin(), l.uses.end(), choice.anchor);
    const int early = late == l.uses.begin() ? l.made : *(late - 1);
    l.spans = {{l.made, early}, {choice.anchor, l.spans.back().second}};
    for (const int index : choice.longer) {
      int& last = life(index).spans.back().second;
      last = std::max(last, choice.anchor);
    }
  }

  Lives& lives_;
  std::vector<int> changes_;  // places where variables may change
  double seconds_ = 0, added_ = 0;
};

/// The graph with the chosen values made again.
class Repeater {
 public:
  Repeater(const graph::Graph& graph, const Lives& lives, const std::vector<Choice>& chosen)
      : lives_(lives), now_(graph) {
    for (const Choice& choice : chosen) at_[choice.anchor].push_back(&choice);
    for (auto& [anchor, choices] : at_) {
      std::sort(choices.begin(), choices.end(),
                [](const Choice* a, const Choice* b) { return a->life < b->life; });
    }
  }

  std::shared_ptr<graph::Graph> run() {
    for (size_t i = 0; i < lives_.nodes.size(); ++i) {
      const graph::Node& node = *lives_.nodes[i];
      if (const auto here = at_.find(static_cast<int>(i)); here != at_.end()) {
        for (const Choice* choice : here->second) make_again(*choice);
      }
      if (!graph::is_placeholder(node)) now_.copy(node);
    }
    return now_.finish();
  }

 private:
  void make_again(const Choice& choice) {
    const Life& life = lives_.all[static_cast<size_t>(choice.life)];
    made_.clear();
    for (const int place : choice.again) {
      for (const Tensor& t : lives_.nodes[static_cast<size_t>(place)]->inputs) hold(t, choice);
    }
    for (const int place : choice.again) repeat(*lives_.nodes[static_cast<size_t>(place)]);
    now_.set(*life.maker, life.output, made_.at({life.maker, life.output}));
    for (const graph::Node* view : life.views) {
      if (lives_.place_of(*view) >= choice.anchor) break;
      repeat(*view);
      for (uint32_t o = 0; o < view->outputs.size(); ++o) now_.set(*view, o, made_.at({view, o}));
    }
  }

  /// From now on the tensor stands behind a step that waits for something late. So nobody makes
  /// the repetition early, or together with what made it first, and those that need the tensor from
  /// here on can be fused with the repetition.
  void hold(const Tensor& t, const Choice& choice) {
    const int read = lives_.of(t);
    if (read < 0) return;
    const Life& life = lives_.all[static_cast<size_t>(read)];
    if (life.is_external || choice.again.contains(life.made)) return;
    const std::vector<int64_t> dims(t.shape().begin(), t.shape().end());
    const Tensor shape = Tensor::of(std::span<const int64_t>(dims), {t.shape().rank()});
    const Tensor held =
        now_.add(OpRegistry::instance().get("reshape"), {now_.at(t), shape}, {}, *life.maker);
    graph::node_of(held).before.push_back(
        graph::NodeRef::share(&graph::node_of(now_.at(choice.late))));
    now_.set(graph::node_of(t), graph::symbolic(t).index, held);
  }

  void repeat(const graph::Node& node) {
    std::vector<Tensor> inputs;
    for (const Tensor& t : node.inputs) {
      const auto known = t.is_symbolic()
                             ? made_.find({&graph::node_of(t), graph::symbolic(t).index})
                             : made_.end();
      inputs.push_back(known == made_.end() ? now_.at(t) : known->second);
    }
    const graph::NodeRef again = now_.copy_over(node, std::move(inputs));
    for (uint32_t o = 0; o < node.outputs.size(); ++o) {
      made_[{&node, o}] = graph::output_of(*again, o);
    }
  }

  const Lives& lives_;
  Rewriter now_;
  std::map<int, std::vector<const Choice*>> at_;                    // by anchor
  std::map<std::pair<const graph::Node*, uint32_t>, Tensor> made_;  // again
};

std::string line_of(const graph::Node& node) {
  return node.site ? memory::describe(*node.site) : std::string();
}

}  // namespace

std::shared_ptr<graph::Graph> repeat_cheap(const std::shared_ptr<graph::Graph>& graph,
                                           double most_time, Repetitions* repetitions) {
  if (most_time <= 0) return graph;
  Lives lives(*graph);
  if (lives.nodes.empty()) return graph;
  Chooser chooser(lives);
  const std::vector<Choice> chosen = chooser.run(most_time);
  if (chosen.empty()) return graph;
  if (repetitions) {
    repetitions->added_time = chooser.added_time();
    for (const Choice& choice : chosen) {
      const Life& life = lives.all[static_cast<size_t>(choice.life)];
      const graph::Node& late = *lives.nodes[static_cast<size_t>(choice.anchor)];
      const std::string line = line_of(late);
      repetitions->steps.push_back(
          {std::string(graph::kind_of(*life.maker)), line_of(*life.maker), life.bytes,
           message(graph::kind_of(late), line.empty() ? "" : " at ", line)});
    }
  }
  return Repeater(*graph, lives, chosen).run();
}

}  // namespace tidemark::compile
