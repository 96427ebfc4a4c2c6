// Loops that convert one dtype to another.
#pragma once

#include "tidemark/kernels/cpu/elementwise/loop.h"

namespace tidemark::cpu {

struct CastTable {
  LoopFn loops[kDTypeSlots][kDTypeSlots];  // [from][to]; null for the half types and strings
};

}  // namespace tidemark::cpu
