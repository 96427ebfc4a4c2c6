// The parts of find_order: each makes orders, none promises the best.
#pragma once

#include <optional>

#include "tidemark/plan/order/load.h"
#include "tidemark/plan/search_clock.h"

namespace tidemark::plan {

struct OrderProblem {
  const Problem& problem;
  const Storages& storages;
  int64_t lower_bound;
};

/// What may still be spent on looking.
struct OrderEffort {
  Deadline deadline;
  int64_t steps;
  bool spent() const { return steps <= 0 || SearchClock::now() >= deadline; }
};

struct OrderCandidate {
  std::vector<int> order;
  int64_t peak;
};

/// Runs every ready op that frees at least what it makes and whose load stays within `peak`. That
/// is never a mistake: later it would free no more, and until then its bytes would be in the way.
void run_harmless_ops(LoadState& state, int64_t peak, std::vector<int>& order);

/// Takes the ready op that leaves the least alive, that needs the least while it runs, that reads
/// what was made last, or that comes first in the given order.
enum class Preference { least_after, least_during, latest_inputs, given };
std::vector<int> greedy_order(const OrderProblem& problem, Preference preference);

/// The same, from the last op to the first.
std::vector<int> backward_greedy_order(const OrderProblem& problem, Preference preference);

/// Follows up to `width` sets of ops that have run at a time; drops those that reach `limit`. If
/// none had to be dropped for the width, `tried_all` is set: no order has a peak below the limit
/// but the one returned.
std::optional<OrderCandidate> beam_order(const OrderProblem& problem, size_t width, int64_t limit,
                                         OrderEffort& effort, bool& tried_all);

/// Moves ops away from the peak, with those they wait for or that wait for them, while it helps.
void improve_by_moves(const OrderProblem& problem, OrderCandidate& best, OrderEffort& effort);

}  // namespace tidemark::plan
