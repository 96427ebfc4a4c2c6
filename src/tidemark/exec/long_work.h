// Work that runs longer than a few microseconds, for those whose locks are held meanwhile.
#pragma once

#include <cstdint>
#include <optional>

#include "tidemark/base/interrupt.h"
#include "tidemark/exec/eager.h"

namespace tidemark::exec {

/// Bytes touched above which a kernel counts as long work.
inline constexpr int64_t kLongWorkBytes = 64 << 10;
inline constexpr int64_t kLongHeavyBytes = 4 << 10;

extern constinit LongWorkHooks long_work_hooks;

class LongWork {
 public:
  explicit LongWork(bool is_long) : active_(is_long && long_work_hooks.enter) {
    if (!active_) return;
    interrupt_.emplace();
    check_interrupt();
    token_ = long_work_hooks.enter();
  }
  ~LongWork() {
    if (active_) long_work_hooks.leave(token_);
  }
  LongWork(const LongWork&) = delete;

 private:
  bool active_;
  void* token_ = nullptr;
  std::optional<LongWorkInterrupt> interrupt_;
};

}  // namespace tidemark::exec
