#include <algorithm>
#include <numeric>
#include <tuple>

#include "tidemark/plan/order/order_search.h"

namespace tidemark::plan {

void run_harmless_ops(LoadState& state, int64_t peak, std::vector<int>& order) {
  for (bool found = true; found;) {
    found = false;
    for (const int op : state.ready()) {
      const LoadState::Effect effect = state.effect(op);
      if (effect.during > peak || effect.after > state.live()) continue;
      state.run(op);
      order.push_back(op);
      found = true;
      break;  // the list of ready ops has changed
    }
  }
}

namespace {

using Key = std::tuple<int64_t, int64_t, int>;

Key key_of(Preference preference, LoadState::Effect effect, int64_t made_last, int op) {
  switch (preference) {
    case Preference::least_after:
      return {effect.after, effect.during, op};
    case Preference::least_during:
      return {effect.during, effect.after, op};
    case Preference::latest_inputs:
      return {-made_last, effect.after, op};
    case Preference::given:
      break;
  }
  return {op, 0, op};
}

/// The latest position of any of these ops; -1 where there is none.
int64_t latest(const std::vector<int>& ops, const std::vector<int64_t>& position) {
  int64_t last = -1;
  for (const int op : ops) last = std::max(last, position[op]);
  return last;
}

/// Which ops could be the last of those left, and what is alive before them.
class BackwardState {
 public:
  explicit BackwardState(const OrderProblem& problem)
      : problem_(problem.problem), storages_(problem.storages) {
    for (const Storage& storage : storages_.all) {
      is_live_.push_back(storage.kept);
      if (storage.kept) live_ += storage.bytes;
    }
    for (size_t op = 0; op < storages_.next.size(); ++op) {
      waits_for_.push_back(static_cast<int>(storages_.next[op].size()));
      if (waits_for_.back() == 0) ready_.push_back(static_cast<int>(op));
    }
  }

  const std::vector<int>& ready() const { return ready_; }

  /// `after` is what is alive before the op, which is where a walk backward goes to.
  LoadState::Effect effect(int op) const {
    int64_t during = live_ + problem_.ops[op].workspace;
    int64_t created = 0;
    for (const int s : storages_.of_op[op].creates) {
      created += storages_.all[s].bytes;
      if (!is_live_[s]) during += storages_.all[s].bytes;
    }
    for (const int s : storages_.of_op[op].reads) {
      if (!is_live_[s]) during += storages_.all[s].bytes;
    }
    return {during, during - problem_.ops[op].workspace - created};
  }

  void take(int op) {
    live_ = effect(op).after;
    for (const int s : storages_.of_op[op].reads) is_live_[s] = true;
    for (const int s : storages_.of_op[op].creates) is_live_[s] = false;
    std::erase(ready_, op);
    for (const int before : storages_.before[op]) {
      if (--waits_for_[before] == 0) ready_.push_back(before);
    }
  }

 private:
  const Problem& problem_;
  const Storages& storages_;
  std::vector<char> is_live_;
  std::vector<int> waits_for_;
  std::vector<int> ready_;
  int64_t live_ = 0;
};

}  // namespace

std::vector<int> greedy_order(const OrderProblem& problem, Preference preference) {
  LoadState state(problem.problem, problem.storages);
  std::vector<int> order;
  std::vector<int64_t> position(problem.problem.ops.size(), -1);
  size_t noted = 0;
  int64_t peak = problem.lower_bound;
  while (true) {
    run_harmless_ops(state, peak, order);
    for (; noted < order.size(); ++noted) position[order[noted]] = static_cast<int64_t>(noted);
    if (state.ready().empty()) return order;
    Key best{std::numeric_limits<int64_t>::max(), 0, kNone};
    for (const int op : state.ready()) {
      const int64_t made_last = latest(problem.storages.before[op], position);
      best = std::min(best, key_of(preference, state.effect(op), made_last, op));
    }
    const int op = std::get<2>(best);
    peak = std::max(peak, state.run(op).during);
    order.push_back(op);
  }
}

std::vector<int> backward_greedy_order(const OrderProblem& problem, Preference preference) {
  BackwardState state(problem);
  std::vector<int> order;
  std::vector<int64_t> position(problem.problem.ops.size(), -1);
  while (!state.ready().empty()) {
    Key best{std::numeric_limits<int64_t>::max(), 0, kNone};
    for (const int op : state.ready()) {
      const int64_t taken_last = latest(problem.storages.next[op], position);
      // Backward, the given order prefers the op that comes last.
      const int number = preference == Preference::given ? -op : op;
      best = std::min(best, key_of(preference, state.effect(op), taken_last, number));
    }
    const int op = std::abs(std::get<2>(best));
    position[op] = static_cast<int64_t>(order.size());
    state.take(op);
    order.push_back(op);
  }
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace tidemark::plan
