#include "tidemark/memory/testing.h"

#include "tidemark/memory/core.h"

namespace tidemark::memory::testing {

void fail_allocation(int64_t n) {
  initialize_core();
  std::lock_guard hold(core.lock);
  core.fail_at = n > 0 ? core.allocations + n - 1 : -1;
}

bool failure_pending() {
  std::lock_guard hold(core.lock);
  return core.fail_at >= core.allocations;
}

int64_t allocation_count() {
  std::lock_guard hold(core.lock);
  return core.allocations;
}

bool set_poison(bool on) {
  initialize_core();
  return core.poison.exchange(on);
}

}  // namespace tidemark::memory::testing
