// Runs: native work that has values of its own for a while, such as the call of a function.
//
//   const memory::ScopedRun run(memory::intern_name("step()"));
//   ... buffers born on this thread now carry the run's number ...
//
// While it goes on, a value that nobody else keeps is the run's. The outermost run of a thread
// counts: it is what the user asked for.
#pragma once

#include "tidemark/memory/context.h"

#include <tidemark/export.h>

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tidemark::memory {

/// The same text in storage that stays. Bounded: beyond some thousands all are "another function".
TIDEMARK_API const char* intern_name(std::string_view text);

/// A run as others see it.
struct RunSeen {
  uint32_t number = 0;
  const char* name = nullptr;
  const Site* site = nullptr;  // of whoever asked for it; null: unknown
  bool goes_on = false;
};
/// Those that go on at this moment, and of every thread the last few that have ended: their results
/// may still be on the way.
TIDEMARK_API std::vector<RunSeen> latest_runs();

/// What a thread shows of itself.
struct RunSlot {
  static constexpr uint32_t kRemembered = 8;
  struct Entry {
    std::atomic<uint32_t> number{0};
    std::atomic<const char*> name{nullptr};
    std::atomic<const Site*> site{nullptr};
  };
  std::atomic<uint32_t> now{0};  // the number of the run that goes on; 0: none
  uint32_t next = 0;             // the thread's own
  Entry entries[kRemembered];
};
TIDEMARK_API RunSlot& run_slot_of_thread();

class ScopedRun {
 public:
  /// The name is in static storage.
  explicit ScopedRun(const char* name) : is_outermost_(thread_context.run == 0) {
    if (is_outermost_) begin(name);
  }
  ~ScopedRun() {
    if (is_outermost_) end();
  }
  ScopedRun(const ScopedRun&) = delete;
  ScopedRun& operator=(const ScopedRun&) = delete;

 private:
  TIDEMARK_API static void begin(const char* name);
  TIDEMARK_API static void end() noexcept;
  bool is_outermost_;
};

}  // namespace tidemark::memory
