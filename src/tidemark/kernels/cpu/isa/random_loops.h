// The vectorised loops that fill memory with random numbers, one table an instruction-set level.
#pragma once

#include <tidemark/dtype.h>

#include "tidemark/base/random_state.h"

namespace tidemark::cpu {

struct RandomDraw {
  RandomStream stream;
  double first = 0, second = 1;  // mean and deviation, or lower bound and width
  double highest = 0;            // uniform floats stay at or below it
  uint64_t low = 0, width = 0;   // integers in [low, low + width); width 0: all of them
  bool past_caches = false;      // write around the caches
};

/// The first three in the order of fusion::Drawn.
enum class RandomLoop : uint8_t { normal, truncated_normal, uniform, integers };
inline constexpr int kRandomLoops = 4;

/// Elements [begin, end) of a draw to out + begin. `begin` starts a group.
using RandomFill = void (*)(const RandomDraw& draw, int64_t begin, int64_t end, void* out);

struct RandomTable {
  RandomFill fill[kRandomLoops][kDTypeSlots];
};

const RandomTable& random_loops();

}  // namespace tidemark::cpu
