// DeviceMemory: the buffers of one device other than the CPU, with accounts of their own.
//
// Addresses come from one reserved space, pages are made present for buffers and given back a page
// at a time: committed == pages with live bytes + pages retained <= limit. Accounts are the
// ledger's, under the core's lock like all others; who asked is told by a site of this device.
#pragma once

#include <mutex>
#include <vector>

#include "tidemark/base/backend.h"
#include "tidemark/memory/address_ranges.h"
#include "tidemark/memory/core.h"
#include "tidemark/memory/ledger.h"

namespace tidemark::memory {

class DeviceMemory {
 public:
  explicit DeviceMemory(Device device);

  /// As memory::allocate.
  Buffer* allocate(const Request& request);
  void destroy(Buffer* buffer) noexcept;

  Device device() const { return device_; }
  Ledger& ledger() { return ledger_; }
  int64_t limit() const { return limit_; }
  /// Throws InvalidArgumentError below what is in use. Returns the old one.
  int64_t set_limit(int64_t bytes);
  /// Gives free pages back; returns how many bytes that was.
  int64_t release_retained();
  /// Bytes of the pages that are present.
  int64_t committed();
  /// When what lay in the buffer's bytes before it was released, in the order of the device's
  /// stream: another stream follows this moment before it touches them.
  Moment free_since(const Buffer& buffer);
  /// Buffers made since the start.
  int64_t allocations();

 private:
  struct Pages {
    size_t first, count;
  };
  enum class Presence { there, over_limit, refused };
  Pages pages_of(const AddressRanges::Range& range) const noexcept;
  void set_present(const Pages& pages, bool present) noexcept;
  Presence make_present(const AddressRanges::Range& range);
  void leave_pages(const AddressRanges::Range& range) noexcept;
  int64_t give_back(int64_t most_kept);
  [[noreturn]] void refuse(const Request& request, size_t wanted, Refusal::Reason reason);

  const Device device_;
  Accelerator& accelerator_;
  const size_t page_;
  std::mutex mutex_;  // taken before the core's lock
  AddressRanges ranges_;
  char* base_ = nullptr;  // reserved with the first buffer
  std::vector<uint32_t> live_in_page_;
  std::vector<bool> is_present_;
  std::vector<uint64_t> freed_at_;  // by page: the last release's moment of the stream
  int64_t present_ = 0;             // bytes of pages
  int64_t occupied_ = 0;            // bytes of pages with live bytes
  int64_t allocations_ = 0;
  int64_t limit_;
  const int64_t retained_limit_;  // free pages that may stay
  Ledger ledger_;
};

/// Of a device that is not the CPU; opened with it.
DeviceMemory& memory_of(Device device);
/// The CPU's ledger or the device's.
Ledger& ledger_of(Device device) noexcept;
/// Null where the device was not used yet, and for the CPU.
DeviceMemory* memory_in_use(Device device) noexcept;

}  // namespace tidemark::memory
