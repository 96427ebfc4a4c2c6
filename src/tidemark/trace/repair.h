// Sizes under which a call makes sense, where those of the worlds do not.
#pragma once

#include "tidemark/trace/imagined.h"

namespace tidemark::trace {

enum class Found {
  something,  ///< what holds for all sizes that were found
  nothing,    ///< of all that were tried none will do
  untried     ///< there are too many unknown sizes to try
};

/// What is found holds, but for what differs between
/// two worlds: that came from sizes that nobody knows.
Found find_sizes(const OpCall& call, size_t count, std::vector<Output>& out);

/// Counts up in the given base, from all 0; false: all have come up.
bool next_combination(std::vector<size_t>& digits, size_t base);

}  // namespace tidemark::trace
