// What a thread is doing right now, as far as memory/ has to know it for its records.
#pragma once

#include "tidemark/memory/site.h"

namespace tidemark::memory {

class Budget;
struct RunSlot;

struct ThreadContext {
  Site* site = nullptr;      // who asks; null: unknown place
  const char* op = nullptr;  // the op now running; static storage
  Budget* budget = nullptr;  // innermost budget scope; null: the process budget
  uint32_t run = 0;          // number of the outermost run (runs.h); 0: none goes on
  const char* run_name = nullptr;
  RunSlot* run_slot = nullptr;
};

/// initial-exec: one instruction instead of a call; the struct is small enough for static TLS.
extern TIDEMARK_API thread_local constinit ThreadContext thread_context
    __attribute__((tls_model("initial-exec")));

/// Sets the site for this thread until the end of the scope; the outermost one wins, because the
/// user's own line is the one furthest out.
class ScopedSite {
 public:
  explicit ScopedSite(Site* site) : outermost_(thread_context.site == nullptr) {
    if (outermost_) thread_context.site = site;
  }
  ~ScopedSite() {
    if (outermost_) thread_context.site = nullptr;
  }
  ScopedSite(const ScopedSite&) = delete;
  ScopedSite& operator=(const ScopedSite&) = delete;

 private:
  bool outermost_;
};

}  // namespace tidemark::memory
