// Inputs whose memory the caller gives up: which results are written into it.
#pragma once

#include "tidemark/plan/graph_plan.h"

namespace tidemark::plan {

/// Fills in the donations of a plan that is complete but for its peak, and takes what they save off
/// the loads.
void find_donations(GraphPlan& plan, std::span<const uint32_t> donated);

}  // namespace tidemark::plan
