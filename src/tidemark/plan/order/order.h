// The order of ops that needs the least memory at once.
//
//   plan::OrderResult best = plan::find_order(problem);
//   best.order;        // the ops as they should run
//   best.peak;         // never more than the given order's
//   best.lower_bound;  // no order can need less
#pragma once

#include <limits>

#include "tidemark/plan/order/problem.h"

namespace tidemark::plan {

struct OrderOptions {
  /// How long to look beyond the first heuristics.
  double seconds = 0.3;
  /// Ops run on trial. With enough seconds the result depends on this alone.
  int64_t step_cap = std::numeric_limits<int64_t>::max();
};

struct OrderResult {
  std::vector<int> order;
  std::vector<int64_t> loads;  ///< bytes alive during each step, workspaces included
  int64_t peak = 0;            ///< the largest load
  int64_t given_peak = 0;      ///< of the order the problem came in
  int64_t lower_bound = 0;     ///< what the dependences alone make alive at once
  bool is_optimal = false;     ///< proven, by the bound or by having tried all
};

/// Throws InvalidArgumentError as find_storages does.
TIDEMARK_API OrderResult find_order(const Problem& problem, const OrderOptions& options = {});

/// No order has a lower peak than this: the largest, over all ops, of what must be alive with it.
TIDEMARK_API int64_t order_lower_bound(const Problem& problem, const Storages& storages);

/// The lowest peak there is, by trying every set of ops that can have run. For up to 20 ops.
TIDEMARK_API int64_t lowest_order_peak(const Problem& problem);

}  // namespace tidemark::plan
