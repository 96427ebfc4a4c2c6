// The per-ISA tables in use.
#pragma once

#include "tidemark/kernels/cpu/elementwise/loop.h"
#include "tidemark/kernels/cpu/isa_level.h"

namespace tidemark::cpu {

/// The driver's helpers for the level in use.
const BlockTable& blocks();

/// The loop of an op over elements of this dtype; for the half types, the one over float32.
/// Null when there is none.
const ElementwiseLoop* loop_for(std::string_view op, DType dtype);

/// Makes loops the kernels of an op that has none. They and the name live as long as the process;
/// calls come one at a time.
void add_loops(std::string_view op, std::span<const ElementwiseLoop* const> loops);

/// The loop that converts elements; none of the dtypes is a half type.
LoopFn cast_loop(DType from, DType to);

/// Makes the elementwise kernels use another level; for tests. The CPU must support it, and no
/// kernel may run meanwhile.
void use_loops_of(Level level);

}  // namespace tidemark::cpu
