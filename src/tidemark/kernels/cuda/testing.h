// A driver made of host memory, for tests without a GPU: it does all work at once, keeps count of
// what it handed out, and refuses the call that it is told to.
#pragma once

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "tidemark/kernels/cuda/interface.h"

namespace tidemark::cuda {

struct FakeDriver {
  static constexpr size_t kPage = 64 << 10;

  size_t capacity = 64 * kPage;
  int calls = 0;
  int refused_call = 0;    // counted from 1; 0: none
  int refusal = 999;       // what it then answers
  bool is_behind = false;  // events do not come until they are awaited

  std::map<Handle, size_t> pages;    // bytes, of those not released
  std::map<Address, Handle> mapped;  // by the address of the page
  std::set<Address> accessible;
  std::set<void*> pinned;
  std::set<Handle> streams, events, awaited, modules;
  int depth = 0;  // of pushed contexts
  Handle last = 0;

  static FakeDriver& now() {
    static FakeDriver* only = new FakeDriver;
    return *only;
  }
  /// Of a new test; what the one before left is forgotten.
  static FakeDriver& fresh() {
    now() = FakeDriver();
    return now();
  }
  size_t created() const {
    size_t sum = 0;
    for (const auto& [handle, bytes] : pages) sum += bytes;
    return sum;
  }
  /// What a call answers before it does anything.
  int enter() { return ++calls == refused_call ? refusal : kDone; }

  static const Driver& table();
};

#define TIDEMARK_FAKE_CALL(...)                       \
  FakeDriver& fake = FakeDriver::now();               \
  if (const int status = fake.enter()) return status; \
  __VA_ARGS__;                                        \
  return kDone

inline void add_fake_memory(Driver& table) {
  table.reserve = [](Address* start, size_t bytes) -> int {
    TIDEMARK_FAKE_CALL(*start = reinterpret_cast<Address>(
                           mmap(nullptr, bytes, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)));
  };
  table.create_pages = [](Handle* pages, size_t bytes, int) -> int {
    FakeDriver& fake = FakeDriver::now();
    if (const int status = fake.enter()) return status;
    if (fake.created() + bytes > fake.capacity) return kOutOfMemory;
    fake.pages[*pages = ++fake.last] = bytes;
    return kDone;
  };
  table.release_pages = [](Handle pages) -> int {
    return FakeDriver::now().pages.erase(pages) == 1 ? kDone : 400;
  };
  table.map = [](Address start, size_t, Handle pages) -> int {
    FakeDriver& fake = FakeDriver::now();
    if (const int status = fake.enter()) return status;
    return fake.mapped.emplace(start, pages).second ? kDone : 1;
  };
  table.allow_access = [](Address start, size_t bytes, int) -> int {
    FakeDriver& fake = FakeDriver::now();
    if (const int status = fake.enter()) return status;
    for (Address at = start; at < start + bytes; at += FakeDriver::kPage) {
      if (!fake.mapped.contains(at)) return 1;
      fake.accessible.insert(at);
    }
    return mprotect(reinterpret_cast<void*>(start), bytes, PROT_READ | PROT_WRITE) == 0 ? kDone : 1;
  };
  table.unmap = [](Address start, size_t bytes) -> int {
    FakeDriver& fake = FakeDriver::now();
    for (Address at = start; at < start + bytes; at += FakeDriver::kPage) {
      if (fake.mapped.erase(at) != 1) return 1;
      fake.accessible.erase(at);
    }
    return mprotect(reinterpret_cast<void*>(start), bytes, PROT_NONE) == 0 ? kDone : 1;
  };
  table.pin = [](void** memory, size_t bytes) -> int {
    TIDEMARK_FAKE_CALL(fake.pinned.insert(*memory = std::malloc(bytes)));
  };
  table.unpin = [](void* memory) -> int {
    FakeDriver::now().pinned.erase(memory);
    std::free(memory);
    return kDone;
  };
}

inline void add_fake_streams(Driver& table) {
  table.create_stream = [](Handle* stream) -> int {
    TIDEMARK_FAKE_CALL(fake.streams.insert(*stream = ++fake.last));
  };
  table.destroy_stream = [](Handle stream) -> int {
    return FakeDriver::now().streams.erase(stream) == 1 ? kDone : 400;
  };
  table.create_event = [](Handle* event) -> int {
    TIDEMARK_FAKE_CALL(fake.events.insert(*event = ++fake.last));
  };
  table.destroy_event = [](Handle event) -> int {
    return FakeDriver::now().events.erase(event) == 1 ? kDone : 400;
  };
  table.record = [](Handle, Handle) -> int { TIDEMARK_FAKE_CALL(); };
  table.query = [](Handle event) -> int {
    FakeDriver& fake = FakeDriver::now();
    if (const int status = fake.enter()) return status;
    return fake.is_behind && !fake.awaited.contains(event) ? kNotReady : kDone;
  };
  table.await = [](Handle event) -> int { TIDEMARK_FAKE_CALL(fake.awaited.insert(event)); };
  table.follow = [](Handle, Handle) -> int { TIDEMARK_FAKE_CALL(); };
  table.copy_in = [](Address to, const void* pinned, size_t bytes, Handle) -> int {
    TIDEMARK_FAKE_CALL(std::memcpy(reinterpret_cast<void*>(to), pinned, bytes));
  };
  table.copy_out = [](void* pinned, Address from, size_t bytes, Handle) -> int {
    TIDEMARK_FAKE_CALL(std::memcpy(pinned, reinterpret_cast<const void*>(from), bytes));
  };
  table.copy = [](Address to, Address from, size_t bytes, Handle) -> int {
    TIDEMARK_FAKE_CALL(
        std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes));
  };
  table.fill_zeros = [](Address start, size_t bytes, Handle) -> int {
    TIDEMARK_FAKE_CALL(std::memset(reinterpret_cast<void*>(start), 0, bytes));
  };
  table.load_module = [](Handle* module, const void*) -> int {
    TIDEMARK_FAKE_CALL(fake.modules.insert(*module = ++fake.last));
  };
  table.unload_module = [](Handle module) -> int {
    return FakeDriver::now().modules.erase(module) == 1 ? kDone : 400;
  };
  table.find_function = [](Handle* function, Handle, const char*) -> int {
    TIDEMARK_FAKE_CALL(*function = ++fake.last);
  };
  table.launch = [](Handle, uint32_t, uint32_t, Handle, void*) -> int { TIDEMARK_FAKE_CALL(); };
}

inline void add_fake_devices(Driver& table) {
  table.count_devices = [](int* count) -> int { TIDEMARK_FAKE_CALL(*count = 1); };
  table.describe = [](int, DeviceFacts* facts) -> int {
    TIDEMARK_FAKE_CALL((*facts = {"fake", fake.capacity, FakeDriver::kPage, 9, 0, 4}));
  };
  table.retain_context = [](int, Handle* context) -> int { TIDEMARK_FAKE_CALL(*context = 1); };
  table.push_context = [](Handle) -> int { TIDEMARK_FAKE_CALL(++fake.depth); };
  table.pop_context = []() -> int {
    --FakeDriver::now().depth;
    return kDone;
  };
  table.memory_info = [](size_t* free, size_t* total) -> int {
    TIDEMARK_FAKE_CALL(*total = fake.capacity; *free = fake.capacity - fake.created());
  };
  table.synchronize = []() -> int { TIDEMARK_FAKE_CALL(); };
  table.explain = [](int status) { return status == kOutOfMemory ? "out of memory" : "refused"; };
}

inline const Driver& FakeDriver::table() {
  static const Driver kTable = [] {
    Driver table{};
    add_fake_devices(table);
    add_fake_memory(table);
    add_fake_streams(table);
    return table;
  }();
  return kTable;
}
#undef TIDEMARK_FAKE_CALL

}  // namespace tidemark::cuda
