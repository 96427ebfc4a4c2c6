// The vectorised loops that fill memory with random numbers, one table an instruction-set level.
//
// Element i of a draw depends on the stream and on i alone. Elements come in groups of 16 Philox
// blocks: 64 elements of up to 32 bits, or 32 of 64 bits.
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

enum class RandomLoop : uint8_t { normal, truncated_normal, uniform, integers };
inline constexpr int kRandomLoops = 4;

inline constexpr int64_t kBlocksPerGroup = 16;
constexpr int64_t random_group(DType dtype) { return size_of(dtype) == 8 ? 32 : 64; }

/// Elements [begin, end) of a draw to out + begin. `begin` starts a group.
using RandomFill = void (*)(const RandomDraw& draw, int64_t begin, int64_t end, void* out);

struct RandomTable {
  RandomFill fill[kRandomLoops][kDTypeSlots];
};

const RandomTable& random_loops();

}  // namespace tidemark::cpu
