// From an order of ops to live ranges of bytes, ready to be packed.
#pragma once

#include "tidemark/plan/order/problem.h"
#include "tidemark/plan/pack/live_range.h"

namespace tidemark::plan {

struct Lifetimes {
  /// Alive in [first step, one after the last step). Values that share bytes are one range.
  std::vector<LiveRange> ranges;
  std::vector<int> of_value;         ///< the range of each value; kNone: external, or no bytes
  std::vector<int> workspace_of_op;  ///< the range of each op's workspace; kNone: it has none
  /// Outputs that took over an input's bytes, as {op, output, input}.
  struct Takeover {
    int op;
    int output;
    int input;
  };
  std::vector<Takeover> takeovers;
};

/// `order` lists the ops as they run; throws InvalidArgumentError when it cannot be. Sizes are
/// kept, offsets shall be multiples of `alignment`.
TIDEMARK_API Lifetimes find_lifetimes(const Problem& problem, const std::vector<int>& order,
                                      int64_t alignment = 1);

}  // namespace tidemark::plan
