#include "tidemark/plan/order/order.h"

#include <algorithm>
#include <numeric>

#include "tidemark/plan/order/order_search.h"

namespace tidemark::plan {

namespace {

constexpr size_t kBeamMemory = size_t{64} << 20;

OrderEffort effort_of(const OrderOptions& options) {
  return {deadline_in(options.seconds), options.step_cap};
}

class OrderSearch {
 public:
  OrderSearch(const OrderProblem& problem, OrderEffort effort)
      : problem_(problem), effort_(effort) {
    best_.order.resize(problem.problem.ops.size());
    std::iota(best_.order.begin(), best_.order.end(), 0);
    best_.peak = peak_of(best_.order);
  }

  int64_t peak() const { return best_.peak; }

  void run() {
    for (const Preference preference : {Preference::given, Preference::least_after,
                                        Preference::latest_inputs, Preference::least_during}) {
      if (done()) return;
      take(greedy_order(problem_, preference));
      take(backward_greedy_order(problem_, preference));
    }
    improve_by_moves(problem_, best_, effort_);
    const size_t widest = std::clamp<size_t>(kBeamMemory / trail_size(), 1, 65'536);
    for (size_t width = 1; width <= widest && !done() && !effort_.spent(); width *= 4) {
      bool tried_all = false;
      auto found = beam_order(problem_, width, best_.peak, effort_, tried_all);
      if (found) {
        best_ = std::move(*found);
        if (!tried_all) improve_by_moves(problem_, best_, effort_);
      }
      if (tried_all) is_optimal_ = true;
    }
  }

  OrderResult result() {
    OrderResult out;
    out.loads = loads_of(problem_.problem, problem_.storages, best_.order).steps;
    out.order = std::move(best_.order);
    out.peak = best_.peak;
    out.lower_bound = problem_.lower_bound;
    out.is_optimal = done();
    return out;
  }

 private:
  /// Bytes of what the beam keeps for one set of ops.
  size_t trail_size() const {
    return 64 + sizeof(int) * (3 * problem_.problem.ops.size() + problem_.storages.all.size());
  }
  bool done() const { return is_optimal_ || best_.peak <= problem_.lower_bound; }

  int64_t peak_of(const std::vector<int>& order) const {
    return loads_of(problem_.problem, problem_.storages, order).peak;
  }

  void take(std::vector<int> order) {
    const int64_t peak = peak_of(order);
    if (peak < best_.peak) best_ = {std::move(order), peak};
  }

  OrderProblem problem_;
  OrderEffort effort_;
  OrderCandidate best_;
  bool is_optimal_ = false;
};

}  // namespace

OrderResult find_order(const Problem& problem, const OrderOptions& options) {
  const OrderEffort effort = effort_of(options);
  const Storages storages = find_storages(problem);
  const int64_t start = LoadState(problem, storages).live();
  const int64_t bound = std::max(start, order_lower_bound(problem, storages));
  OrderSearch search({problem, storages, bound}, effort);
  const int64_t given_peak = search.peak();
  search.run();
  OrderResult result = search.result();
  result.given_peak = given_peak;
  return result;
}

}  // namespace tidemark::plan
