// Work that runs longer than a few microseconds, for those whose locks are held meanwhile.
#pragma once

#include <cstdint>
#include <optional>

#include "tidemark/base/attached.h"
#include "tidemark/base/interrupt.h"

namespace tidemark::exec {

/// Bytes touched above which a kernel counts as long work.
inline constexpr int64_t kLongWorkBytes = 64 << 10;
inline constexpr int64_t kLongHeavyBytes = 4 << 10;

/// `LongWork scope(is_long);`: for its time the front end's lock is given away, and the front end
/// may stop the work. Throws where it is to be stopped now.
class LongWork {
 public:
  explicit LongWork(bool is_long) {
    if (!is_long || !front_end().give_lock_away) return;
    stoppable_.emplace();
    check_interrupt();
    given_.emplace();
  }

 private:
  std::optional<LongWorkInterrupt> stoppable_;
  std::optional<LockGivenAway> given_;
};

}  // namespace tidemark::exec
