#include <algorithm>
#include <memory>
#include <tuple>
#include <unordered_set>

#include "tidemark/plan/order/order_search.h"

namespace tidemark::plan {

namespace {

/// A set of ops that have run, and the best order of them seen.
struct Trail {
  LoadState state;
  std::vector<int> order;
  int64_t peak;
};

/// One op more than a trail; made into a trail only if it is among the best.
struct Extension {
  int64_t peak;
  int64_t live;
  size_t trail;
  int op;
  auto rank() const { return std::tuple(peak, live, trail, op); }
};

class Beam {
 public:
  Beam(const OrderProblem& problem, size_t width, int64_t limit, OrderEffort& effort)
      : problem_(problem), width_(width), limit_(limit), effort_(effort) {}

  std::optional<OrderCandidate> run(bool& tried_all) {
    Trail start{LoadState(problem_.problem, problem_.storages), {}, problem_.lower_bound};
    add(std::move(start));
    while (!trails_.empty() && !effort_.spent()) step();
    tried_all = !dropped_ && trails_.empty();
    return std::move(best_);
  }

 private:
  /// Goes on with the harmless ops; keeps the trail unless its set of ops has been seen.
  void add(Trail trail) {
    run_harmless_ops(trail.state, std::max(trail.peak, problem_.lower_bound), trail.order);
    if (trail.order.size() == problem_.problem.ops.size()) {
      if (trail.peak < limit_) {
        limit_ = trail.peak;
        best_ = OrderCandidate{std::move(trail.order), trail.peak};
      }
      return;
    }
    if (!seen_.insert(trail.state.hash()).second) return;
    trails_.push_back(std::move(trail));
  }

  void step() {
    std::vector<Extension> extensions;
    for (size_t t = 0; t < trails_.size(); ++t) {
      const Trail& trail = trails_[t];
      for (const int op : trail.state.ready()) {
        const LoadState::Effect effect = trail.state.effect(op);
        const int64_t peak = std::max(trail.peak, effect.during);
        if (peak < limit_) extensions.push_back({peak, effect.after, t, op});
      }
      effort_.steps -= static_cast<int64_t>(trail.state.ready().size());
    }
    std::sort(extensions.begin(), extensions.end(),
              [](const Extension& a, const Extension& b) { return a.rank() < b.rank(); });
    const std::vector<Trail> parents = std::exchange(trails_, {});
    seen_.clear();
    for (const Extension& extension : extensions) {
      if (extension.peak >= limit_) break;
      if (trails_.size() >= width_) {
        dropped_ = true;
        break;
      }
      Trail trail = parents[extension.trail];
      trail.state.run(extension.op);
      trail.order.push_back(extension.op);
      trail.peak = extension.peak;
      add(std::move(trail));
    }
  }

  const OrderProblem& problem_;
  size_t width_;
  int64_t limit_;
  OrderEffort& effort_;
  bool dropped_ = false;
  std::vector<Trail> trails_;
  std::unordered_set<uint64_t> seen_;
  std::optional<OrderCandidate> best_;
};

}  // namespace

std::optional<OrderCandidate> beam_order(const OrderProblem& problem, size_t width, int64_t limit,
                                         OrderEffort& effort, bool& tried_all) {
  return Beam(problem, width, limit, effort).run(tried_all);
}

}  // namespace tidemark::plan
