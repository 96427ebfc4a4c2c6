// An all_reduce that begins in one step and is waited for in another.
#pragma once

#include "tidemark/comm/steps.h"

namespace tidemark::comm {

graph::TwoSteps all_reduce_in_two_steps(const GroupPtr& group, Reduce reduce);

}  // namespace tidemark::comm
