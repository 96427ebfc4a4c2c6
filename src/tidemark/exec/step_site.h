// The line of the user's code that a step of a program came from.
#pragma once

#include "tidemark/memory/context.h"

namespace tidemark::exec {

/// The site of a step, unless the caller of the program is being asked about.
class StepSite {
 public:
  explicit StepSite(memory::Site* site) : outer_(memory::thread_context.site) {
    if (site) memory::thread_context.site = site;
  }
  ~StepSite() { memory::thread_context.site = outer_; }
  StepSite(const StepSite&) = delete;

 private:
  memory::Site* outer_;
};

}  // namespace tidemark::exec
