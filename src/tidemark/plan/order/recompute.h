// Doing ops again instead of keeping what they gave, until a problem fits into a budget.
//
//   plan::Recomputation smaller = plan::recompute(problem, order, costs, budget);
//   smaller.problem.ops;   // in the order in which they run, some of them twice
//   smaller.peak;          // at most the budget, where smaller.fits
#pragma once

#include <tidemark/export.h>

#include "tidemark/plan/order/problem.h"

namespace tidemark::plan {

struct OpCost {
  double seconds = 0;
  bool is_repeatable = false;  ///< the same again, whenever it runs
};

struct RecomputeOptions {
  /// How long to look.
  double seconds = 2.0;
  /// By value: the op after which it is not what it was (the update of a variable); kNone: none.
  std::vector<int> valid_until{};
};

struct Recomputation {
  Problem problem;            ///< ops in the order in which they run, without other constraints
  std::vector<int> op_of;     ///< by op: the op of the given problem that it repeats, or is
  std::vector<int> value_of;  ///< by value: likewise
  int64_t peak = 0;
  int64_t given_peak = 0;    ///< in the given order, nothing repeated
  double added_seconds = 0;  ///< by the costs given
  double given_seconds = 0;
  int repeated = 0;  ///< how many ops run again
  bool fits = false;
};

/// `order` lists the ops of the problem as they run. Where the budget cannot be kept, the lowest
/// peak that was found.
TIDEMARK_API Recomputation recompute(const Problem& problem, const std::vector<int>& order,
                                     const std::vector<OpCost>& costs, int64_t budget,
                                     const RecomputeOptions& options = {});

}  // namespace tidemark::plan
