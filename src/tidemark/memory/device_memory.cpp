#include "tidemark/memory/device_memory.h"

#include <tidemark/error.h>
#include <tidemark/memory.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <new>

#include "tidemark/memory/core.h"
#include "tidemark/memory/site.h"

namespace tidemark::memory {

namespace {

/// Free pages that stay for the next request, unless told otherwise: a sixteenth of the device.
constexpr int64_t kRetainedPart = 16;
constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

/// Never destroyed: buffers may be released while the process ends.
constinit std::array<std::atomic<DeviceMemory*>, kMostDevices> memories{};
constinit std::mutex opening;

}  // namespace

DeviceMemory* memory_in_use(Device device) noexcept {
  return memories[device.number()].load(std::memory_order_acquire);
}

DeviceMemory& memory_of(Device device) {
  std::atomic<DeviceMemory*>& slot = memories[device.number()];
  if (DeviceMemory* known = slot.load(std::memory_order_acquire)) return *known;
  std::lock_guard hold(opening);
  if (!slot.load(std::memory_order_relaxed)) {
    slot.store(new DeviceMemory(device), std::memory_order_release);
  }
  return *slot.load(std::memory_order_relaxed);
}

Ledger& ledger_of(Device device) noexcept {
  DeviceMemory* memory = memory_in_use(device);
  return memory ? memory->ledger() : core.ledger;
}

DeviceMemory::DeviceMemory(Device device)
    : device_(device),
      accelerator_(accelerator_of(device)),
      page_(accelerator_.page_bytes()),
      ranges_(accelerator_.capacity() / page_ * page_, accelerator_.alignment()),
      live_in_page_(accelerator_.capacity() / page_),
      is_present_(accelerator_.capacity() / page_),
      freed_at_(accelerator_.capacity() / page_),
      limit_(std::min(static_cast<int64_t>(accelerator_.capacity()),
                      memory_limit_of(device).value_or(kNoLimit))),
      retained_limit_(limit_ / kRetainedPart) {}

DeviceMemory::Pages DeviceMemory::pages_of(const AddressRanges::Range& range) const noexcept {
  const size_t first = range.offset / page_;
  return {first, (range.offset + range.size - 1) / page_ - first + 1};
}

void DeviceMemory::set_present(const Pages& pages, bool present) noexcept {
  std::fill_n(is_present_.begin() + static_cast<std::ptrdiff_t>(pages.first), pages.count, present);
  present_ += (present ? 1 : -1) * static_cast<int64_t>(pages.count * page_);
}

/// Commits what pages of the range are not present. Nothing has changed unless they are there.
DeviceMemory::Presence DeviceMemory::make_present(const AddressRanges::Range& range) {
  const auto [first, count] = pages_of(range);
  const auto lacks = [&, first = first, count = count] {
    const auto begin = is_present_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto absent = std::count(begin, begin + static_cast<std::ptrdiff_t>(count), false);
    return absent * static_cast<int64_t>(page_) - (limit_ - present_);
  };
  if (const int64_t over = lacks(); over > 0) {
    give_back(std::max<int64_t>(0, present_ - occupied_ - over));
    if (lacks() > 0) return Presence::over_limit;  // pages of this very range may have gone, too
  }
  std::vector<Pages> made;  // neighbours in one go: a device has less to do for them
  for (size_t p = first; p < first + count; ++p) {
    if (is_present_[p]) continue;
    Pages run{p, 1};
    while (p + 1 < first + count && !is_present_[p + 1]) ++p, ++run.count;
    if (!accelerator_.commit(base_ + run.first * page_, run.count * page_)) {
      for (const Pages& done : made) {
        accelerator_.decommit(base_ + done.first * page_, done.count * page_);
        set_present(done, false);
      }
      return Presence::refused;
    }
    set_present(run, true);
    made.push_back(run);
  }
  for (size_t p = first; p < first + count; ++p) {
    if (live_in_page_[p]++ == 0) occupied_ += static_cast<int64_t>(page_);
  }
  return Presence::there;
}

void DeviceMemory::leave_pages(const AddressRanges::Range& range) noexcept {
  const auto [first, count] = pages_of(range);
  for (size_t p = first; p < first + count; ++p) {
    if (--live_in_page_[p] == 0) occupied_ -= static_cast<int64_t>(page_);
  }
}

/// Highest addresses first: what is in use gathers at the bottom.
int64_t DeviceMemory::give_back(int64_t most_kept) {
  const int64_t before = present_;
  if (present_ - occupied_ <= most_kept) return 0;
  Stream& stream = accelerator_.stream();
  for (size_t p = is_present_.size(); p-- > 0 && present_ - occupied_ > most_kept;) {
    if (!is_present_[p] || live_in_page_[p] > 0) continue;
    // Work that is under way may refer to what the host has freed.
    if (const Moment freed{&stream, freed_at_[p]}; !stream.is_past(freed)) stream.wait(freed);
    accelerator_.decommit(base_ + p * page_, page_);
    set_present({p, 1}, false);
  }
  return before - present_;
}

void DeviceMemory::refuse(const Request& request, size_t wanted, Refusal::Reason reason) {
  CoreLock hold(core.lock);
  memory::refuse(hold, {&request, static_cast<int64_t>(wanted), nullptr, reason});
}

Buffer* DeviceMemory::allocate(const Request& request) {
  std::lock_guard own(mutex_);
  const size_t wanted = ranges_.rounded(std::max<size_t>(request.bytes, 1));
  if (static_cast<int64_t>(wanted) > limit_ || wanted < request.bytes) {
    refuse(request, request.bytes, Refusal::over_limit);
  }
  if (!base_)
    base_ = static_cast<char*>(accelerator_.reserve(accelerator_.capacity() / page_ * page_));
  if (!base_) refuse(request, wanted, Refusal::refused_by_system);
  AddressRanges::Range* range = ranges_.take(request.bytes);
  if (!range) refuse(request, wanted, Refusal::no_gap);
  try {
    const Presence presence = make_present(*range);
    if (presence == Presence::over_limit) refuse(request, wanted, Refusal::over_limit);
    if (presence == Presence::refused) refuse(request, wanted, Refusal::refused_by_system);
  } catch (...) {
    ranges_.put(range);
    throw;
  }
  try {
    CoreLock hold(core.lock);
    Buffer* buffer = take_header(hold, {&request, static_cast<int64_t>(kHeaderSize)});
    hold.unlock();
    Site* site = site_on(device_.number(), buffer->site);
    hold.lock();
    buffer->site = site;
    buffer->budget = nullptr;  // scopes bound the host's memory
    buffer->data = base_ + range->offset;
    buffer->bytes = request.bytes;
    buffer->charged = range->size;
    buffer->origin = kDeviceOrigin;
    buffer->owner = range;
    ledger_.add(buffer);
    ++allocations_;
    return buffer;
  } catch (...) {
    leave_pages(*range);
    ranges_.put(range);
    throw;
  }
}

void DeviceMemory::destroy(Buffer* buffer) noexcept {
  auto* range = static_cast<AddressRanges::Range*>(buffer->owner);
  {
    CoreLock hold(core.lock);
    ledger_.remove(buffer);
    put_header(buffer);
  }
  std::lock_guard own(mutex_);
  leave_pages(*range);
  // All work on the bytes is enqueued by now.
  const uint64_t moment = accelerator_.stream().now().number;
  const auto [first, count] = pages_of(*range);
  std::fill_n(freed_at_.begin() + static_cast<std::ptrdiff_t>(first), count, moment);
  ranges_.put(range);
  if (present_ - occupied_ > retained_limit_) {
    try {
      give_back(retained_limit_ / 2);
    } catch (const Error&) {
      // Work failed that somebody else will ask about; the pages stay until then.
    }
  }
}

int64_t DeviceMemory::set_limit(int64_t bytes) {
  std::lock_guard own(mutex_);
  if (bytes < occupied_) {
    fail<InvalidArgumentError>("A limit of ", format_bytes(bytes), " for ", device_.name(),
                               " is below the ", format_bytes(occupied_), " in use");
  }
  const auto capacity = static_cast<int64_t>(accelerator_.capacity());
  give_back(std::max<int64_t>(0, bytes - occupied_));
  return std::exchange(limit_, std::min(bytes, capacity));
}

int64_t DeviceMemory::release_retained() {
  std::lock_guard own(mutex_);
  return give_back(0);
}

Moment DeviceMemory::free_since(const Buffer& buffer) {
  std::lock_guard own(mutex_);
  const auto [first, count] = pages_of(*static_cast<const AddressRanges::Range*>(buffer.owner));
  const auto begin = freed_at_.begin() + static_cast<std::ptrdiff_t>(first);
  return {&accelerator_.stream(),
          *std::max_element(begin, begin + static_cast<std::ptrdiff_t>(count))};
}

int64_t DeviceMemory::committed() {
  std::lock_guard own(mutex_);
  return present_;
}

int64_t DeviceMemory::allocations() {
  std::lock_guard own(mutex_);
  return allocations_;
}

}  // namespace tidemark::memory
