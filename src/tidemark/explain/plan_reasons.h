// Why a plan writes some results over what they were computed from, and others not.
#pragma once

#include <tidemark/plan.h>

#include "tidemark/plan/graph_plan.h"

namespace tidemark::explain {

/// One entry for each step that may write in place, the largest first.
std::vector<PlannedReuse> explain_reuses(const plan::GraphPlan& plan);
/// What becomes of the memory of each donated argument.
std::vector<PlannedDonation> explain_donations(const plan::GraphPlan& plan);

/// "matmul at train.py:12", as far as it is known.
std::string describe_step(const graph::Node& node);

}  // namespace tidemark::explain
