// What of a round is kept for the way back, and what is computed again there.
#pragma once

#include <tidemark/tensor.h>

#include <vector>

namespace tidemark::trace {

struct RoundValues {
  std::span<const Tensor> results;   ///< of the way back
  std::span<const Tensor> at_hand;   ///< inputs of the round that are there on the way back, too
  uint64_t first_sequence_back = 0;  ///< nodes from this one on are the way back's
};

/// Values of the round from which, with what is at hand, the way back can be computed. What took
/// long to compute, was drawn or did more than compute is never done twice. What is cheap to
/// compute is, unless it is no larger than what it is computed from and what nothing else needs.
std::vector<Tensor> find_kept(const RoundValues& round);

}  // namespace tidemark::trace
