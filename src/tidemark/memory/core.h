// Core: the state of memory/, under one lock.
//
// Allocator, ledger and budgets share the lock, so that an allocation takes it once and every
// number agrees with every other at all times:
//
//   committed == slab pages present + mappings, live or kept   <= limit
//   retained  == committed - live - planned
//
// System calls are made without the lock.
#pragma once

#include "tidemark/base/spin_mutex.h"
#include "tidemark/memory/budget.h"
#include "tidemark/memory/buffer.h"
#include "tidemark/memory/kept_mappings.h"
#include "tidemark/memory/ledger.h"
#include "tidemark/memory/slabs.h"

#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>

namespace tidemark::memory {

/// Headers of large and borrowed buffers, and the records of kept mappings, are blocks of this
/// size.
inline constexpr size_t kHeaderSize = 128;
static_assert(sizeof(Buffer) <= kHeaderSize && sizeof(KeptMapping) <= kHeaderSize);
inline constexpr int kHeaderClass = class_of(kHeaderSize);

static_assert(kSizeClasses < kDeviceOrigin);

struct Core {
  SpinMutex lock;
  SlabPool slabs;
  KeptMappings kept;
  ForgottenSizes forgotten;
  int64_t forgotten_too_early = 0;  // bytes
  Ledger ledger;
  int64_t mapped_bytes = 0;    // mappings of large buffers, live and kept
  int64_t promised_bytes = 0;  // mappings the system is being asked for
  int64_t limit = 0;           // 0 until initialize_core has run
  int64_t retained_limit = 0;
  // Retained bytes from which on it is worth another try to shed, and to look for free pages in
  // slabs in use: above the retained limit while more than that stands on pages with live blocks.
  int64_t shed_above = 0;
  int64_t purge_above = 0;
  int64_t allocations = 0;
  int64_t fail_at = -1;  // the allocation with this number fails
  std::atomic<bool> poison = false;

  int64_t committed() const noexcept {
    return slabs.present_bytes() + mapped_bytes + promised_bytes;
  }
  int64_t retained() const noexcept {
    return slabs.present_bytes() + mapped_bytes - ledger.live() - ledger.planned();
  }
  int64_t room() const noexcept { return limit - committed(); }
  /// Where shedding begins: below the bound, as other threads go on freeing during its system
  /// calls, and what stands on pages with live blocks is looked at again only after more was freed.
  int64_t comfortable() const noexcept { return retained_limit - retained_limit / 8; }
};

/// Never destroyed: buffers may be released while the process ends.
extern Core core;

/// Reads the settings and the system's limits; once. Must be called without the lock.
void initialize_core();

using CoreLock = std::unique_lock<SpinMutex>;

/// Gives retained memory back until at most `target` bytes are retained or nothing more can go.
/// The lock is held on entry and on return, but not during the system calls in between.
/// Returns how many bytes went.
int64_t shed(CoreLock& hold, int64_t target) noexcept;

/// Called when a mapping of `size` has to be made since nothing retained fits. Kept mappings wait
/// for requests of their own size: a program whose sizes keep changing would pile them up, and one
/// that has read its data would keep what that took beside what training takes. So the oldest go
/// before the process becomes larger than what was ever in use, or than an eighth more than now is.
/// One that takes its sizes in turn asks for what went: that much more may stay from then on, up to
/// half of what was ever in use.
void forget_old_sizes(CoreLock& hold, size_t size) noexcept;

/// Gives retained memory back until `bytes` more can be committed; false when that cannot be.
bool make_room(CoreLock& hold, int64_t bytes) noexcept;

/// Why an allocation is refused.
struct Refusal {
  const Request* request;
  int64_t wanted;                  // with header and rounding
  const Budget* budget = nullptr;  // null: the limit of the process, or of the request's device
  enum Reason { over_limit, refused_by_system, no_gap, injected } reason = over_limit;
};
/// Throws the ResourceExhaustedError. Called with the lock held, so that the numbers are those of
/// the refusal; releases it.
[[noreturn]] void refuse(CoreLock& hold, const Refusal& refusal);

/// A header for a buffer whose bytes lie elsewhere. Counts the allocation and asks the budgets as
/// for any other; throws, or returns with the lock held.
Buffer* take_header(CoreLock& hold, const Refusal& refusal);
/// The same for its end: the header must be off all lists.
void put_header(Buffer* buffer) noexcept;

/// The site of buffers that were allocated outside of any.
extern Site unknown_place;

}  // namespace tidemark::memory
