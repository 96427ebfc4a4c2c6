// A driver made of host memory, for tests without a GPU: it does all work at once, or as late as it
// may, keeps count of what it handed out, and refuses the call that it is told to.
#pragma once

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "tidemark/kernels/cuda/interface.h"

namespace tidemark::cuda {

struct FakeDriver {
  static constexpr size_t kPage = 64 << 10;

  size_t capacity = 64 * kPage;
  int calls = 0;
  int refused_call = 0;    // counted from 1; 0: none
  int refusal = 999;       // what it then answers
  bool is_behind = false;  // events do not come until they are awaited
  bool is_late = false;    // and neither is any work done before

  std::map<Handle, size_t> pages;    // bytes, of those not released
  std::map<Address, Handle> mapped;  // by the address of the page
  std::set<Address> accessible;
  std::map<const char*, size_t> pinned;  // bytes
  std::set<Handle> awaited, modules;
  struct Queue {
    std::deque<std::function<void()>> work;
    uint64_t enqueued = 0, done = 0;
    bool is_recording = false;
    std::vector<std::function<void()>> recorded;
  };
  std::map<Handle, Queue> streams;
  std::map<Handle, std::vector<std::function<void()>>> recordings;
  int changed = 0;  // launches in recordings
  struct Place {
    Handle stream;
    uint64_t number;
  };
  std::map<Handle, Place> events;
  int depth = 0;                                   // of pushed contexts
  size_t context = 2 * kPage, others = 3 * kPage;  // bytes taken beside pages, and the capacity
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
  bool is_pinned(const void* memory) const {
    const auto next = pinned.upper_bound(static_cast<const char*>(memory));
    if (next == pinned.begin()) return false;
    const auto& [start, bytes] = *std::prev(next);
    return memory < start + bytes;
  }
  void enqueue(Handle stream, std::function<void()> work) {
    if (streams[stream].is_recording) return streams[stream].recorded.push_back(std::move(work));
    if (!is_late) return work();
    streams[stream].work.push_back(std::move(work));
    ++streams[stream].enqueued;
  }
  void come_to(Place place) {
    while (streams.contains(place.stream) && streams[place.stream].done < place.number) {
      Queue& queue = streams[place.stream];
      const std::function<void()> first = std::move(queue.work.front());
      queue.work.pop_front();
      ++queue.done;
      first();
    }
  }
  void finish_all() {
    for (auto& [stream, queue] : streams) come_to({stream, queue.enqueued});
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
    TIDEMARK_FAKE_CALL(fake.pinned[static_cast<char*>(*memory = std::malloc(bytes))] = bytes);
  };
  table.unpin = [](void* memory) -> int {
    FakeDriver::now().finish_all();
    FakeDriver::now().pinned.erase(static_cast<char*>(memory));
    std::free(memory);
    return kDone;
  };
}

inline void add_fake_streams(Driver& table) {
  table.create_stream = [](Handle* stream) -> int {
    TIDEMARK_FAKE_CALL(fake.streams[*stream = ++fake.last]);
  };
  table.destroy_stream = [](Handle stream) -> int {
    FakeDriver::now().finish_all();
    return FakeDriver::now().streams.erase(stream) == 1 ? kDone : 400;
  };
  table.create_event = [](Handle* event) -> int {
    TIDEMARK_FAKE_CALL(fake.events[*event = ++fake.last]);
  };
  table.create_timed_event = [](Handle* event) -> int {
    TIDEMARK_FAKE_CALL(fake.events[*event = ++fake.last]);
  };
  table.elapsed = [](float* milliseconds, Handle earlier, Handle later) -> int {
    TIDEMARK_FAKE_CALL(*milliseconds = static_cast<float>(fake.events[later].number -
                                                          fake.events[earlier].number));
  };
  table.destroy_event = [](Handle event) -> int {
    return FakeDriver::now().events.erase(event) == 1 ? kDone : 400;
  };
  table.record = [](Handle event, Handle stream) -> int {
    TIDEMARK_FAKE_CALL(fake.events[event] = {stream, fake.streams[stream].enqueued};
                       fake.awaited.erase(event));
  };
  table.query = [](Handle event) -> int {
    FakeDriver& fake = FakeDriver::now();
    if (const int status = fake.enter()) return status;
    const FakeDriver::Place place = fake.events[event];
    if (fake.is_late) return fake.streams[place.stream].done < place.number ? kNotReady : kDone;
    return fake.is_behind && !fake.awaited.contains(event) ? kNotReady : kDone;
  };
  table.await = [](Handle event) -> int {
    TIDEMARK_FAKE_CALL(fake.come_to(fake.events[event]); fake.awaited.insert(event));
  };
  table.follow = [](Handle stream, Handle event) -> int {
    TIDEMARK_FAKE_CALL(
        fake.enqueue(stream, [&fake, place = fake.events[event]] { fake.come_to(place); }));
  };
}

inline void add_fake_copies(Driver& table) {
  table.copy_in = [](Address to, const void* host, size_t bytes, Handle stream) -> int {
    FakeDriver& fake = FakeDriver::now();
    if (const int status = fake.enter()) return status;
    std::vector<char> read;
    const char* from = static_cast<const char*>(host);
    if (!fake.is_pinned(host)) read.assign(from, from + bytes);
    fake.enqueue(stream, [=] {
      std::memcpy(reinterpret_cast<void*>(to), read.empty() ? from : read.data(), bytes);
    });
    return kDone;
  };
  table.copy_out = [](void* pinned, Address from, size_t bytes, Handle stream) -> int {
    TIDEMARK_FAKE_CALL(fake.enqueue(
        stream, [=] { std::memcpy(pinned, reinterpret_cast<const void*>(from), bytes); }));
  };
  table.copy = [](Address to, Address from, size_t bytes, Handle stream) -> int {
    TIDEMARK_FAKE_CALL(fake.enqueue(stream, [=] {
      std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    }));
  };
  table.fill_zeros = [](Address start, size_t bytes, Handle stream) -> int {
    TIDEMARK_FAKE_CALL(
        fake.enqueue(stream, [=] { std::memset(reinterpret_cast<void*>(start), 0, bytes); }));
  };
}

inline void add_fake_code(Driver& table) {
  table.load_module = [](Handle* module, const void*) -> int {
    TIDEMARK_FAKE_CALL(fake.modules.insert(*module = ++fake.last));
  };
  table.unload_module = [](Handle module) -> int {
    return FakeDriver::now().modules.erase(module) == 1 ? kDone : 400;
  };
  table.find_function = [](Handle* function, Handle, const char*) -> int {
    TIDEMARK_FAKE_CALL(*function = ++fake.last);
  };
  table.launch = [](Handle, uint32_t, uint32_t, Handle stream, void*) -> int {
    TIDEMARK_FAKE_CALL(fake.enqueue(stream, [] {}));
  };
}

inline void add_fake_recordings(Driver& table) {
  table.begin_recording = [](Handle stream) -> int {
    TIDEMARK_FAKE_CALL(fake.streams[stream].is_recording = true);
  };
  table.end_recording = [](Handle stream, Handle* recording, size_t* pieces) -> int {
    FakeDriver::Queue& queue = FakeDriver::now().streams[stream];
    queue.is_recording = false;
    const auto recorded = std::exchange(queue.recorded, {});
    TIDEMARK_FAKE_CALL(*pieces = recorded.size();
                       fake.recordings[*recording = ++fake.last] = recorded);
  };
  table.last_recorded = [](Handle stream, Handle* piece) -> int {
    TIDEMARK_FAKE_CALL(*piece = fake.streams[stream].recorded.size());
  };
  table.change_launch = [](Handle recording, Handle piece, Handle, uint32_t, uint32_t,
                           void*) -> int {
    FakeDriver& fake = FakeDriver::now();
    if (const int status = fake.enter()) return status;
    ++fake.changed;
    return piece <= fake.recordings.at(recording).size() ? kDone : 1;
  };
  table.play = [](Handle recording, Handle stream) -> int {
    TIDEMARK_FAKE_CALL(for (const auto& work
                            : fake.recordings.at(recording)) fake.enqueue(stream, work));
  };
  table.destroy_recording = [](Handle recording) -> int {
    return FakeDriver::now().recordings.erase(recording) == 1 ? kDone : 400;
  };
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
    TIDEMARK_FAKE_CALL(*total = fake.capacity + fake.context + fake.others;
                       *free = fake.capacity - fake.created());
  };
  table.process_bytes = [](int, size_t* bytes) -> int {
    TIDEMARK_FAKE_CALL(*bytes = fake.created() + fake.context);
  };
  table.find_device = [](Address at, int* device) -> int {
    FakeDriver& fake = FakeDriver::now();
    if (const int status = fake.enter()) return status;
    const auto behind = fake.mapped.upper_bound(at);
    if (behind == fake.mapped.begin() || at - std::prev(behind)->first >= FakeDriver::kPage)
      return 1;
    *device = 0;
    return kDone;
  };
  table.synchronize = []() -> int { TIDEMARK_FAKE_CALL(fake.finish_all()); };
  table.explain = [](int status) { return status == kOutOfMemory ? "out of memory" : "refused"; };
}

inline const Driver& FakeDriver::table() {
  static const Driver kTable = [] {
    Driver table{};
    add_fake_devices(table);
    add_fake_memory(table);
    add_fake_streams(table);
    add_fake_copies(table);
    add_fake_code(table);
    add_fake_recordings(table);
    return table;
  }();
  return kTable;
}
#undef TIDEMARK_FAKE_CALL

}  // namespace tidemark::cuda
