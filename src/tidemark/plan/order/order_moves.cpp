#include <algorithm>

#include "tidemark/plan/order/order_search.h"

namespace tidemark::plan {

namespace {

/// How bad an order is: its peak, then how many steps reach it.
std::pair<int64_t, int64_t> badness(const Loads& loads) {
  return {loads.peak, std::count(loads.steps.begin(), loads.steps.end(), loads.peak)};
}

class Moves {
 public:
  Moves(const OrderProblem& problem, OrderCandidate& best, OrderEffort& effort)
      : problem_(problem), best_(best), effort_(effort) {}

  void run() {
    note_positions();
    Loads loads = loads_of(problem_.problem, problem_.storages, best_.order);
    while (best_.peak > problem_.lower_bound && !effort_.spent()) {
      const auto highest = std::max_element(loads.steps.begin(), loads.steps.end());
      const auto at = static_cast<size_t>(highest - loads.steps.begin());
      if (!improve_around(at, loads)) return;
    }
  }

 private:
  /// Tries to bring later ops before the peak (they may free something), then earlier ones behind
  /// it (what they make is not needed yet). Near ones first.
  bool improve_around(size_t at, Loads& loads) {
    const size_t count = best_.order.size();
    constexpr size_t kReach = 400;
    for (size_t distance = 1; distance < std::min(count, kReach); ++distance) {
      if (effort_.spent()) return false;
      if (at + distance < count && accept(earlier(at, at + distance), loads)) return true;
      if (distance <= at && accept(later(at - distance, at), loads)) return true;
    }
    return false;
  }

  bool accept(const std::vector<int>& order, Loads& loads) {
    if (order.empty()) return false;
    Loads moved = loads_of(problem_.problem, problem_.storages, order);
    effort_.steps -= static_cast<int64_t>(order.size());
    if (badness(moved) >= badness(loads)) return false;
    loads = std::move(moved);
    best_ = {order, loads.peak};
    note_positions();
    return true;
  }

  /// The order with the op at `from` and all between that it waits for moved before `to`; empty
  /// where the op at `to` is one of those.
  std::vector<int> earlier(size_t to, size_t from) {
    mark(from, to, from, problem_.storages.before);
    if (reached_[best_.order[to]]) return {};
    return partition(to, from, true);
  }

  /// The order with the op at `from` and all between that wait for it moved behind `to`.
  std::vector<int> later(size_t from, size_t to) {
    mark(from, from, to, problem_.storages.next);
    if (reached_[best_.order[to]]) return {};
    return partition(from, to, false);
  }

  /// The order with the marked ops of [begin, end] before the others of it, or behind them.
  std::vector<int> partition(size_t begin, size_t end, bool marked_first) const {
    std::vector<int> order = best_.order;
    std::stable_partition(order.begin() + begin, order.begin() + end + 1,
                          [&](int op) { return static_cast<bool>(reached_[op]) == marked_first; });
    return order;
  }

  /// Marks the op at `root` and what is reached from it over `edges` without leaving [begin, end].
  void mark(size_t root, size_t begin, size_t end, const std::vector<std::vector<int>>& edges) {
    reached_.assign(best_.order.size(), 0);
    std::vector<int> open{best_.order[root]};
    reached_[open.back()] = 1;
    while (!open.empty()) {
      const int current = open.back();
      open.pop_back();
      for (const int other : edges[current]) {
        if (reached_[other] || position_[other] < begin || position_[other] > end) continue;
        reached_[other] = 1;
        open.push_back(other);
      }
    }
  }

  void note_positions() {
    position_.resize(best_.order.size());
    for (size_t i = 0; i < best_.order.size(); ++i) position_[best_.order[i]] = i;
  }

  const OrderProblem& problem_;
  OrderCandidate& best_;
  OrderEffort& effort_;
  std::vector<char> reached_;
  std::vector<size_t> position_;
};

}  // namespace

void improve_by_moves(const OrderProblem& problem, OrderCandidate& best, OrderEffort& effort) {
  Moves(problem, best, effort).run();
}

}  // namespace tidemark::plan
