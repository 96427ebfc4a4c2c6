// allocate, borrow, release, shrink, grow: the road every tensor byte takes.

#include "tidemark/base/upcalls.h"
#include "tidemark/memory/context.h"
#include "tidemark/memory/core.h"
#include "tidemark/memory/device_memory.h"
#include "tidemark/memory/grow.h"
#include "tidemark/memory/idle.h"
#include "tidemark/memory/os.h"
#include "tidemark/memory/poison.h"
#include "tidemark/memory/watch.h"

#include <algorithm>
#include <new>
#include <utility>

namespace tidemark::memory {

constinit Core core;
thread_local constinit ThreadContext thread_context;

namespace {

constexpr size_t kLargestSmall = kLargestBlock - kHeaderSize;
/// Beyond any address space: asking the system for more would only overflow on the way.
constexpr size_t kAbsurd = size_t{1} << 46;

/// Fills in the records; `data`, `bytes`, `charged` and `origin` belong to the caller.
inline void describe_request(Buffer* buffer, const Request& request) noexcept {
  buffer->holder = request.holder;
  buffer->dtype = request.dtype;
  buffer->device = request.device;
  buffer->site = thread_context.site != nullptr ? thread_context.site : &unknown_place;
  buffer->op = thread_context.op;
  buffer->budget = thread_context.budget;
  buffer->run = thread_context.run;
  if (request.shape != nullptr) {
    const int rank = request.shape->rank();
    buffer->rank = static_cast<uint8_t>(rank);
    const int kept = std::min(rank, Buffer::kKeptDims);
    for (int i = 0; i < kept; ++i) buffer->dims[i] = (*request.shape)[i];
  }
}

/// A block although the fast path found none: sheds, maps slabs, or throws. The lock is held on
/// entry and on return, and the numbers may have changed in between.
void* take_block_slowly(CoreLock& hold, int size_class, const Refusal& refusal) {
  const ClassInfo& info = kClasses[size_class];
  // A block may stand on two pages more than its size, and a new slab brings its header's page.
  const auto most_growth = static_cast<int64_t>(info.size + 3 * kPageSize);
  bool tried_again = false;
  if (core.retained() <= core.comfortable()) core.shed_above = core.comfortable();
  for (;;) {
    if (void* block = core.slabs.take(size_class, core.room())) return block;
    if (core.room() < most_growth) {
      if (!make_room(hold, most_growth)) {
        if (void* block = core.slabs.take(size_class, core.room())) return block;
        refuse(hold, refusal);
      }
      continue;
    }
    if (core.slabs.adopt_empty(size_class)) continue;
    hold.unlock();
    void* region = os::map(info.slab_size, info.slab_size);
    hold.lock();
    if (region != nullptr) {
      core.slabs.add(region, info.kind);
      core.slabs.adopt_empty(size_class);
    } else if (std::exchange(tried_again, true) || shed(hold, 0) == 0) {
      refuse(hold, {refusal.request, refusal.wanted, nullptr, Refusal::refused_by_system});
    }
  }
}

/// Counts the allocation and asks the scopes. Throws, or returns with the lock held.
inline void admit(CoreLock& hold, const Refusal& refusal) {
  if (core.limit == 0) [[unlikely]] {
    hold.unlock();
    initialize_core();
    hold.lock();
  }
  if (core.allocations++ == core.fail_at) [[unlikely]] {
    refuse(hold, {refusal.request, refusal.wanted, nullptr, Refusal::injected});
  }
  if (const Budget* inner = thread_context.budget) {
    if (const Budget* full = inner->without_room(refusal.wanted)) {
      refuse(hold, {refusal.request, refusal.wanted, full, Refusal::over_limit});
    }
  }
}

/// The books of whoever the buffer's bytes belong to.
inline Ledger& ledger_of(const Buffer& buffer) noexcept {
  return buffer.device.is_cpu() ? core.ledger : memory::ledger_of(buffer.device);
}

inline void enter_books(Buffer* buffer) noexcept {
  if (buffer->budget != nullptr) buffer->budget->charge(static_cast<int64_t>(buffer->charged));
  core.ledger.add(buffer);
}

/// Returns budgets to destroy after the lock is released.
[[nodiscard]] inline Budget* leave_books(Buffer* buffer) noexcept {
  core.ledger.remove(buffer);
  return buffer->budget != nullptr
             ? buffer->budget->discharge(static_cast<int64_t>(buffer->charged))
             : nullptr;
}

/// A mapping and the header block that will describe it.
struct Mapping {
  void* header;
  void* data;
  size_t size;
};

/// `size` rounded up to whole huge pages, which the system gives many times faster than small ones,
/// where that costs a sixteenth at most and neither a scope nor the limit minds.
size_t rounded_to_huge_pages(size_t size) noexcept {
  const size_t rounded = (size + os::kHugePage - 1) & ~(os::kHugePage - 1);
  const Budget* budget = thread_context.budget;
  const auto charged = static_cast<int64_t>(rounded + kHeaderSize);
  if (rounded - size > size / 16 || (budget != nullptr && budget->room() < charged)) return size;
  return core.room() < charged + static_cast<int64_t>(3 * kPageSize) ? size : rounded;
}

/// A kept mapping that fits, or a new one. The lock is held on entry and on return; the mapping is
/// committed. Throws with nothing changed.
Mapping take_mapping(CoreLock& hold, size_t size, const Refusal& refusal) {
  // A kept mapping is charged whole, also what exceeds the request: the scopes must allow that.
  const Budget* budget = thread_context.budget;
  const auto most = budget != nullptr ? static_cast<size_t>(budget->room()) - kHeaderSize : kAbsurd;
  if (KeptMapping* kept = core.kept.take(size, most)) return {kept, kept->data, kept->size};
  size = rounded_to_huge_pages(size);
  const auto bytes = static_cast<int64_t>(size);
  const auto growth = bytes + static_cast<int64_t>(kHeaderSize + 3 * kPageSize);
  forget_old_sizes(hold, size);
  if (core.room() < growth && !make_room(hold, growth) && core.room() < bytes) {
    refuse(hold, refusal);
  }
  core.promised_bytes += bytes;  // other threads see it before the system does
  void* header = nullptr;
  try {
    header = core.slabs.take(kHeaderClass, core.room());
    if (header == nullptr) header = take_block_slowly(hold, kHeaderClass, refusal);
  } catch (...) {
    CoreLock again(core.lock);
    core.promised_bytes -= bytes;
    throw;
  }
  hold.unlock();
  void* data = os::map_buffer(size);
  hold.lock();
  if (data == nullptr && shed(hold, 0) > 0) {
    hold.unlock();
    data = os::map_buffer(size);
    hold.lock();
  }
  core.promised_bytes -= bytes;
  if (data == nullptr) {
    core.slabs.put(header, kHeaderClass);
    refuse(hold, {refusal.request, refusal.wanted, nullptr, Refusal::refused_by_system});
  }
  core.mapped_bytes += bytes;
  return {header, data, size};
}

Buffer* allocate_mapped(const Request& request) {
  const size_t size =
      request.bytes > kAbsurd ? 0 : (request.bytes + kPageSize - 1) & ~(kPageSize - 1);
  constexpr size_t kMostReported = size_t{1} << 62;
  const auto wanted =
      static_cast<int64_t>(size != 0 ? size + kHeaderSize : std::min(request.bytes, kMostReported));
  const Refusal refusal{&request, wanted};
  CoreLock hold(core.lock);
  admit(hold, refusal);
  if (size == 0) refuse(hold, refusal);
  const Mapping mapping = take_mapping(hold, size, refusal);
  poison::header_ready(mapping.header, kHeaderSize);
  auto* buffer = new (mapping.header) Buffer;
  describe_request(buffer, request);
  buffer->data = mapping.data;
  buffer->bytes = request.bytes;
  buffer->charged = mapping.size + kHeaderSize;
  buffer->origin = kMappedOrigin;
  enter_books(buffer);
  hold.unlock();
  poison::mapping_taken(buffer, mapping.size);
  return buffer;
}

void destroy_mapped(Buffer* buffer) noexcept {
  poison::mapping_freed(buffer, buffer->charged - kHeaderSize);
  CoreLock hold(core.lock);
  Budget* unused = leave_books(buffer);
  void* data = buffer->data;
  const size_t size = buffer->charged - kHeaderSize;
  const bool keep = static_cast<int64_t>(size) <= core.comfortable();
  if (keep) {
    core.kept.add(new (static_cast<void*>(buffer)) KeptMapping{data, size, {}, {}, {}, {}});
  } else {
    core.mapped_bytes -= static_cast<int64_t>(size);
    core.slabs.put(buffer, kHeaderClass);
  }
  if (keep) core.shed_above = core.comfortable();
  if (core.retained() > core.shed_above) shed(hold, core.comfortable());
  hold.unlock();
  if (!keep) os::unmap(data, size);
  Budget::destroy(unused);
}

void destroy_borrowed(Buffer* buffer) noexcept {
  CoreLock hold(core.lock);
  Budget* unused = leave_books(buffer);
  const auto give_back = buffer->give_back;
  void* owner = buffer->owner;
  core.slabs.put(buffer, kHeaderClass);
  hold.unlock();
  Budget::destroy(unused);
  if (give_back != nullptr) give_back(owner);  // foreign code: without the lock
}

}  // namespace

namespace {

inline Buffer* allocate_now(const Request& request) {
  if (!request.device.is_cpu()) [[unlikely]]
    return memory_of(request.device).allocate(request);
  if (request.bytes > kLargestSmall) return allocate_mapped(request);
  const int size_class = class_of(kHeaderSize + request.bytes);
  const int64_t size = kClasses[size_class].size;
  const Refusal refusal{&request, size};
  CoreLock hold(core.lock);
  admit(hold, refusal);
  void* block = core.slabs.take(size_class, core.room());
  if (block == nullptr) [[unlikely]]
    block = take_block_slowly(hold, size_class, refusal);
  poison::header_ready(block, kHeaderSize);
  auto* buffer = new (block) Buffer;
  describe_request(buffer, request);
  buffer->data = static_cast<char*>(block) + kHeaderSize;
  buffer->bytes = request.bytes;
  buffer->charged = static_cast<size_t>(size);
  buffer->origin = static_cast<uint8_t>(size_class);
  enter_books(buffer);
  hold.unlock();
  poison::block_taken(buffer, static_cast<size_t>(size) - kHeaderSize);
  return buffer;
}

}  // namespace

Buffer* allocate(const Request& request) {
  try {
    return allocate_now(request);
  } catch (const ResourceExhaustedError&) {
    if (!upcalls.give_back_idle(request.device)) throw;
  }
  return allocate_now(request);
}

Buffer* take_header(CoreLock& hold, const Refusal& refusal) {
  admit(hold, refusal);
  void* block = core.slabs.take(kHeaderClass, core.room());
  if (block == nullptr) [[unlikely]]
    block = take_block_slowly(hold, kHeaderClass, refusal);
  poison::header_ready(block, kHeaderSize);
  auto* buffer = new (block) Buffer;
  describe_request(buffer, *refusal.request);
  return buffer;
}

void put_header(Buffer* buffer) noexcept { core.slabs.put(buffer, kHeaderClass); }

Buffer* borrow(void* data, void (*give_back)(void*), void* owner, const Request& request) {
  const Refusal refusal{&request, static_cast<int64_t>(kHeaderSize)};
  try {
    CoreLock hold(core.lock);
    Buffer* buffer = take_header(hold, refusal);
    buffer->holder = Holder::borrowed;
    buffer->data = data;
    buffer->bytes = request.bytes;
    buffer->charged = kHeaderSize;
    buffer->origin = kBorrowedOrigin;
    buffer->give_back = give_back;
    buffer->owner = owner;
    enter_books(buffer);
    return buffer;
  } catch (...) {
    if (give_back != nullptr) give_back(owner);
    throw;
  }
}

void destroy(Buffer* buffer) noexcept {
  if (buffer->origin == kMappedOrigin) return destroy_mapped(buffer);
  if (buffer->origin == kBorrowedOrigin) return destroy_borrowed(buffer);
  if (buffer->origin == kDeviceOrigin) return memory_of(buffer->device).destroy(buffer);
  const int size_class = buffer->origin;
  poison::block_freed(buffer, kClasses[size_class].size - kHeaderSize);
  CoreLock hold(core.lock);
  Budget* unused = leave_books(buffer);
  poison::header_freed(buffer, kHeaderSize);
  if (core.slabs.put(buffer, size_class)) core.shed_above = core.comfortable();
  if (core.retained() > core.shed_above) [[unlikely]]
    shed(hold, core.comfortable());
  hold.unlock();
  if (unused != nullptr) [[unlikely]]
    Budget::destroy(unused);
}

void shrink(Buffer* buffer, size_t bytes) noexcept {
  if (bytes >= buffer->bytes || buffer->origin == kBorrowedOrigin) return;
  if (buffer->origin == kDeviceOrigin) return;  // its range stays as it is
  size_t charged = buffer->charged;
  if (buffer->origin == kMappedOrigin) {
    const size_t pages = std::max(bytes, size_t{1}) + kPageSize - 1;
    charged = (pages & ~(kPageSize - 1)) + kHeaderSize;
  }
  const size_t fewer = buffer->charged - charged;
  {
    std::lock_guard hold(core.lock);
    if (buffer->budget != nullptr) buffer->budget->reduce(static_cast<int64_t>(fewer));
    core.ledger.shrink(buffer, bytes, charged);
    core.mapped_bytes -= static_cast<int64_t>(fewer);
  }
  if (fewer > 0) os::unmap(static_cast<char*>(buffer->data) + charged - kHeaderSize, fewer);
}

namespace {

/// Bytes of a mapping for `bytes` that is going to grow on.
size_t roomy(size_t bytes) noexcept {
  const size_t page = bytes < 16 * os::kHugePage ? kPageSize : os::kHugePage;
  return (bytes + bytes / 16 + page - 1) & ~(page - 1);
}

/// Asks the budgets and the limit for `more` bytes and promises them. The lock is held.
bool promise(CoreLock& hold, const Budget* budget, int64_t more) noexcept {
  if (budget != nullptr && budget->without_room(more) != nullptr) return false;
  if (core.room() < more && !make_room(hold, more)) return false;
  core.promised_bytes += more;
  return true;
}

bool grow_mapped(Buffer* buffer, size_t bytes) noexcept {
  if (bytes > kAbsurd) return false;
  const size_t old_size = buffer->charged - kHeaderSize;
  const size_t size = roomy(bytes);
  const auto more = static_cast<int64_t>(size - old_size);
  CoreLock hold(core.lock);
  if (!promise(hold, buffer->budget, more)) return false;
  hold.unlock();
  void* data = os::remap_buffer(buffer->data, old_size, size);
  hold.lock();
  core.promised_bytes -= more;
  if (data == nullptr) return false;
  core.mapped_bytes += more;
  buffer->data = data;
  if (buffer->budget != nullptr) buffer->budget->increase(more);
  core.ledger.grow(buffer, bytes, size + kHeaderSize);
  return true;
}

}  // namespace

bool grow(Buffer* buffer, size_t bytes) noexcept {
  if (bytes <= buffer->bytes) return true;
  if (buffer->origin == kBorrowedOrigin || buffer->origin == kDeviceOrigin) return false;
  const bool is_mapped = buffer->origin == kMappedOrigin;
  if (bytes > buffer->charged - kHeaderSize) return is_mapped && grow_mapped(buffer, bytes);
  ASAN_UNPOISON_MEMORY_REGION(buffer->data, bytes);
  std::lock_guard hold(core.lock);
  core.ledger.grow(buffer, bytes, buffer->charged);
  return true;
}

void set_holder(Buffer* buffer, Holder holder) noexcept {
  std::lock_guard hold(core.lock);
  // What is borrowed stays so, whoever holds it: its bytes are not ours to count.
  if (buffer->origin != kBorrowedOrigin) ledger_of(*buffer).set_holder(buffer, holder);
  if (holder == Holder::value) buffer->run = thread_context.run;  // whoever asked for it has it
}

void set_idle(Buffer* buffer, bool idle) noexcept { set_idle(buffer, idle, buffer->bytes); }

void set_idle(Buffer* buffer, bool idle, size_t used) noexcept {
  std::lock_guard hold(core.lock);
  ledger_of(*buffer).set_idle(buffer, idle, used);
}

void start_watching(Observer& observer) {
  const std::vector<Device> devices = open_devices();
  std::lock_guard hold(core.lock);
  for (const Device device : devices) {
    if (!device.is_cpu() && !memory_in_use(device)) continue;
    ledger_of(device).for_each([&](const Buffer& buffer) { observer.buffer_found(buffer); });
  }
  attach(observer);
}

void stop_watching(Observer& observer) noexcept {
  std::lock_guard hold(core.lock);
  detach(observer);
}

}  // namespace tidemark::memory
