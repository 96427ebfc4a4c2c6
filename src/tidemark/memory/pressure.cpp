// Giving memory back, and the limits that ask for it.

#include "tidemark/base/settings.h"
#include "tidemark/memory/core.h"
#include "tidemark/memory/fork_safety.h"
#include "tidemark/memory/os.h"

#include <tidemark/error.h>
#include <tidemark/memory.h>

#include <algorithm>

namespace tidemark::memory {
namespace {

/// Regions that are no longer ours and wait for their system call.
struct Victims {
  static constexpr int kMost = 16;
  SlabPool::Region region[kMost];
  int count = 0;
};

enum class Why : uint8_t { too_much, others_are_needed };

/// Detaches kept mappings, oldest first, then empty slabs, until `target` is reached.
void choose_victims(Victims& victims, int64_t target, Why why) noexcept {
  while (victims.count < Victims::kMost && core.retained() > target) {
    if (KeptMapping* oldest = core.kept.take_oldest()) {
      if (why == Why::others_are_needed) core.forgotten.add(oldest->size);
      victims.region[victims.count++] = {oldest->data, oldest->size};
      core.mapped_bytes -= static_cast<int64_t>(oldest->size);
      core.slabs.put(oldest, kHeaderClass);
      continue;
    }
    const SlabPool::Region slab = core.slabs.detach_empty();
    if (slab.start == nullptr) return;
    victims.region[victims.count++] = slab;
  }
}

void purge_free_pages(CoreLock& hold, int64_t target) noexcept {
  SlabPool::Purge purge;
  while (core.retained() > target && core.slabs.begin_purge(purge)) {
    hold.unlock();
    for (int i = 0; i < purge.regions; ++i) {
      os::discard(purge.region[i].start, purge.region[i].size);
    }
    hold.lock();
    core.slabs.end_purge(purge);
  }
}

/// Detached regions go back to the system, until `target` is reached or nothing is left to detach.
void give_back(CoreLock& hold, int64_t target, Why why) noexcept {
  for (;;) {
    Victims victims;
    choose_victims(victims, target, why);
    if (victims.count == 0) return;
    hold.unlock();
    for (int i = 0; i < victims.count; ++i) {
      os::unmap(victims.region[i].start, victims.region[i].size);
    }
    hold.lock();
  }
}

/// What the process may have, less room for code, interpreter and libraries.
int64_t default_limit() {
  const int64_t available = os::memory_available();
  const int64_t others = std::max(available / 8, os::resident());
  return std::max(available - others, available / 2);
}

}  // namespace

int64_t shed(CoreLock& hold, int64_t target) noexcept {
  const int64_t before = core.retained();
  give_back(hold, target, Why::too_much);
  const bool under_pressure = target < core.comfortable();
  if (core.retained() > target && (under_pressure || core.retained() > core.purge_above)) {
    purge_free_pages(hold, target);
  }
  // What is retained now stands on pages with live blocks and cannot go. Trying again makes sense
  // only after a good deal more was freed.
  static constexpr int64_t kStep = 256 * 1024;
  const int64_t after = core.retained();
  core.shed_above = core.purge_above = after <= core.comfortable()
                                           ? core.comfortable()
                                           : after + std::max(kStep, core.retained_limit / 16);
  return std::max<int64_t>(before - after, 0);
}

void forget_old_sizes(CoreLock& hold, size_t size) noexcept {
  static constexpr int64_t kSlack = 1 << 20;
  const auto bytes = static_cast<int64_t>(size);
  const int64_t in_use = core.ledger.live() + core.ledger.planned() + bytes;
  const int64_t highest = std::max(core.ledger.peak(), in_use);
  if (core.forgotten.take(size)) {
    core.forgotten_too_early = std::min(core.forgotten_too_early + bytes, highest / 2);
  }
  const int64_t room = std::max(highest - in_use, in_use / 8);
  give_back(hold, room + core.forgotten_too_early + kSlack, Why::others_are_needed);
}

bool make_room(CoreLock& hold, int64_t bytes) noexcept {
  const int64_t missing = bytes - core.room();
  if (missing > core.retained()) return false;
  if (missing > 0) shed(hold, core.retained() - missing);
  return core.room() >= bytes;
}

void initialize_core() {
  static std::once_flag once;
  std::call_once(once, [] {
    const int64_t limit = settings::bytes(settings::kMemoryLimit).value_or(default_limit());
    const int64_t retained =
        settings::bytes(settings::kRetainedLimit).value_or(std::min(MiB(256), limit / 8));
    const bool poison = settings::flag(settings::kPoison);
    const int64_t fail = settings::integer(settings::kFailAllocation);
    make_fork_safe();
    std::lock_guard hold(core.lock);
    core.limit = std::max<int64_t>(limit, 1);  // 0 stands for "not initialized"
    core.retained_limit = retained;
    core.shed_above = core.purge_above = core.comfortable();
    core.poison = poison;
    if (fail > 0) core.fail_at = fail - 1;
  });
}

int64_t limit() {
  initialize_core();
  std::lock_guard hold(core.lock);
  return core.limit;
}

int64_t set_limit(int64_t bytes) {
  initialize_core();
  if (bytes <= 0) {
    fail<InvalidArgumentError>("A memory limit of ", bytes,
                               " bytes was given; it must be positive.");
  }
  CoreLock hold(core.lock);
  if (core.committed() > bytes) shed(hold, core.retained() - (core.committed() - bytes));
  const int64_t in_use = core.committed();
  if (in_use <= bytes) return std::exchange(core.limit, bytes);
  const int64_t old = core.limit;
  hold.unlock();
  fail<InvalidArgumentError>("Cannot set the memory limit to ", format_bytes(bytes), ": ",
                             format_bytes(in_use), " are in use. The limit stays at ",
                             format_bytes(old),
                             ". Release tensors first; memory.report() lists them.");
}

int64_t set_retained_limit(int64_t bytes) {
  initialize_core();
  if (bytes < 0) {
    fail<InvalidArgumentError>("A retained limit of ", bytes,
                               " bytes was given; it must be zero or more.");
  }
  CoreLock hold(core.lock);
  const int64_t old = std::exchange(core.retained_limit, bytes);
  core.shed_above = core.purge_above = core.comfortable();
  if (core.retained() > bytes) shed(hold, bytes);
  return old;
}

int64_t release_retained() {
  initialize_core();
  CoreLock hold(core.lock);
  return shed(hold, 0);
}

}  // namespace tidemark::memory
