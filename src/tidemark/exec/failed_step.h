// FailedStep: where a run stopped, for messages that name the node.
#pragma once

#include "tidemark/graph/node.h"

namespace tidemark::exec {

/// The innermost step that threw on this thread in the run that is being unwound.
struct FailedStep {
  bool is_set = false;
  const OpDef* op = nullptr;                // null: a special
  const graph::Special* special = nullptr;  // alive as long as the program
  const memory::Site* site = nullptr;       // pinned by the program
};
extern TIDEMARK_API thread_local constinit FailedStep failed_step
    __attribute__((tls_model("initial-exec")));

}  // namespace tidemark::exec
