// A fused program in words, for those who show what a graph runs.
#pragma once

#include "tidemark/graph/effects.h"
#include "tidemark/kernels/fusion/ir.h"

namespace tidemark::fusion {

/// `product`, if any, is what the program goes on with: its input of that number.
graph::InnerProgram shown(const FusedProgram& program, const OpDef* product = nullptr,
                          size_t product_input = 0);

}  // namespace tidemark::fusion
