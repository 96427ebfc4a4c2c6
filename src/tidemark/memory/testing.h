// Hooks for tests: failures on demand, poison, and a look inside.
//
//   for (int64_t n = 1;; ++n) {
//     testing::FailAllocation failure(n);
//     try { program(); } catch (const ResourceExhaustedError&) { ... }
//     if (!failure.happened()) break;          // the program made fewer than n allocations
//   }
#pragma once

#include <tidemark/export.h>

#include <cstdint>

namespace tidemark::memory::testing {

/// The n-th allocation from now (counted over all threads, the next one is the first) raises
/// ResourceExhaustedError. 0: none.
TIDEMARK_API void fail_allocation(int64_t n);

/// Whether the failure asked for last is still to come.
TIDEMARK_API bool failure_pending();

/// Allocations so far, borrowings and failures included.
TIDEMARK_API int64_t allocation_count();

/// Asks for a failure; takes the wish back at the end of the scope.
class FailAllocation {
 public:
  explicit FailAllocation(int64_t n) { fail_allocation(n); }
  ~FailAllocation() { fail_allocation(0); }
  FailAllocation(const FailAllocation&) = delete;
  FailAllocation& operator=(const FailAllocation&) = delete;
  bool happened() const { return !failure_pending(); }
};

/// Fills fresh and freed buffers with 0xa5 from now on, or no longer, and what is dead in the
/// arenas of functions planned from now on. Returns the old value.
TIDEMARK_API bool set_poison(bool on);

}  // namespace tidemark::memory::testing
