#include "tidemark/memory/runs.h"

#include <mutex>
#include <string>
#include <unordered_set>

#include <pthread.h>

namespace tidemark::memory {
namespace {

constexpr size_t kMostNames = 8192;

/// Slots outlive their threads: a thread that ends leaves its own to the next.
struct AllSlots {
  std::mutex mutex;
  std::vector<RunSlot*> slots, free;
  std::unordered_set<std::string> names;
};

AllSlots& all_slots() {
  static AllSlots* const all = new AllSlots;  // threads may end after static objects are gone
  return *all;
}

/// A child has neither the other threads nor, maybe, a lock that it could take.
void register_for_forks() {
  pthread_atfork([] { all_slots().mutex.lock(); }, [] { all_slots().mutex.unlock(); },
                 [] {
                   AllSlots& all = all_slots();
                   const RunSlot* mine = thread_context.run_slot;
                   for (RunSlot* slot : all.slots) {
                     if (slot != mine) slot->now.store(0, std::memory_order_relaxed);
                   }
                   all.mutex.unlock();
                 });
}

struct OwnSlot {
  RunSlot* slot;
  OwnSlot() {
    AllSlots& all = all_slots();
    [[maybe_unused]] static const bool once = (register_for_forks(), true);
    const std::lock_guard hold(all.mutex);
    if (all.free.empty()) {
      all.free.reserve(all.slots.size() + 1);
      all.slots.push_back(new RunSlot);
      slot = all.slots.back();
    } else {
      slot = all.free.back();
      all.free.pop_back();
    }
    thread_context.run_slot = slot;
  }
  ~OwnSlot() {
    AllSlots& all = all_slots();
    const std::lock_guard hold(all.mutex);
    slot->now.store(0, std::memory_order_relaxed);
    thread_context.run_slot = nullptr;
    all.free.push_back(slot);  // there is room: it was reserved when the slot was made
  }
};

}  // namespace

const char* intern_name(std::string_view text) {
  AllSlots& all = all_slots();
  const std::lock_guard hold(all.mutex);
  const auto found = all.names.find(std::string(text));
  if (found != all.names.end()) return found->c_str();
  if (all.names.size() >= kMostNames) return "another function";
  return all.names.emplace(text).first->c_str();
}

RunSlot& run_slot_of_thread() {
  thread_local const OwnSlot own;
  return *own.slot;
}

std::vector<RunSeen> latest_runs() {
  AllSlots& all = all_slots();
  const std::lock_guard hold(all.mutex);
  std::vector<RunSeen> out;
  for (const RunSlot* slot : all.slots) {
    const uint32_t now = slot->now.load(std::memory_order_acquire);
    for (const RunSlot::Entry& entry : slot->entries) {
      const uint32_t number = entry.number.load(std::memory_order_acquire);
      if (number == 0) continue;
      out.push_back({number, entry.name.load(std::memory_order_relaxed),
                     entry.site.load(std::memory_order_relaxed), number == now});
    }
  }
  return out;
}

void ScopedRun::begin(const char* name) {
  static constinit std::atomic<uint32_t> last{0};
  uint32_t number = last.fetch_add(1, std::memory_order_relaxed) + 1;
  if (number == 0) number = last.fetch_add(1, std::memory_order_relaxed) + 1;
  RunSlot* slot = thread_context.run_slot;
  if (slot == nullptr) slot = &run_slot_of_thread();
  RunSlot::Entry& entry = slot->entries[slot->next++ % RunSlot::kRemembered];
  entry.name.store(name, std::memory_order_relaxed);
  entry.site.store(thread_context.site, std::memory_order_relaxed);
  entry.number.store(number, std::memory_order_release);
  slot->now.store(number, std::memory_order_release);
  thread_context.run = number;
  thread_context.run_name = name;
}

void ScopedRun::end() noexcept {
  thread_context.run = 0;
  thread_context.run_name = nullptr;
  if (RunSlot* slot = thread_context.run_slot) slot->now.store(0, std::memory_order_release);
}

}  // namespace tidemark::memory
