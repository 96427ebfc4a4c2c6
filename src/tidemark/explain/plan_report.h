// From the planner's numbers to what people read.
#pragma once

#include <tidemark/plan.h>

#include "tidemark/exec/program.h"

namespace tidemark::explain {

/// The plan of a program for inputs of these dtypes and shapes; their elements are not looked at.
/// `budget`: bytes it may take, 0 for any. Throws FailedPreconditionError where sizes depend on
/// what only a run can tell.
TIDEMARK_API PlanReport plan_report(const exec::Program& program, std::span<const Tensor> inputs,
                                    std::string name, int64_t budget = 0);

/// A tensor of which only dtype, shape and device are known.
TIDEMARK_API Tensor spec_of(DType dtype, const Shape& shape, Device device = {});

}  // namespace tidemark::explain
