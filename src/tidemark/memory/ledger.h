// Ledger: who has how much, now and at the peak. Always on.
//
// Peak owners cost nothing while memory grows: a new process peak only counts up `peak_number_`.
// An account whose `seen_peak` is older has not changed since, so its live bytes are its bytes at
// the peak; just before it changes it writes them down.
//
// The caller holds the core's lock.
#pragma once

#include "tidemark/base/attached.h"
#include "tidemark/memory/buffer.h"
#include "tidemark/memory/site.h"

#include <cstdint>

namespace tidemark::memory {

// Buffer::origin is a size class for small buffers, or:
inline constexpr uint8_t kDeviceOrigin = 253;
inline constexpr uint8_t kMappedOrigin = 254;
inline constexpr uint8_t kBorrowedOrigin = 255;
inline bool is_mapped(const Buffer& buffer) noexcept { return buffer.origin == kMappedOrigin; }

class Ledger {
 public:
  /// Lists a buffer whose fields are filled in.
  void add(Buffer* buffer) noexcept {
    Buffer*& newest = list_of(*buffer);
    buffer->previous = nullptr;
    buffer->next = newest;
    if (newest != nullptr) newest->previous = buffer;
    newest = buffer;
    ++live_buffers_;
    const auto charged = static_cast<int64_t>(buffer->charged);
    enter(*buffer->site, charged);
    enter(holders_[static_cast<int>(buffer->holder)], charged);
    if (buffer->holder == Holder::borrowed) {
      borrowed_ += static_cast<int64_t>(buffer->bytes);
    } else {
      use(static_cast<int64_t>(buffer->bytes));
    }
    live_ += charged;
    note_peak();
    if (is_observed()) [[unlikely]]
      tell(&Observer::buffer_added, *buffer);
  }

  void remove(Buffer* buffer) noexcept {
    (buffer->previous != nullptr ? buffer->previous->next : list_of(*buffer)) = buffer->next;
    if (buffer->next != nullptr) buffer->next->previous = buffer->previous;
    --live_buffers_;
    const auto charged = static_cast<int64_t>(buffer->charged);
    leave(*buffer->site, charged);
    leave(holders_[static_cast<int>(buffer->holder)], charged);
    if (buffer->holder == Holder::borrowed) {
      borrowed_ -= static_cast<int64_t>(buffer->bytes);
    } else if (!buffer->idle) {
      tensor_bytes_ -= static_cast<int64_t>(buffer->bytes);
    }
    (buffer->idle ? planned_ : live_) -= charged;
    if (is_observed()) [[unlikely]]
      tell(&Observer::buffer_removed, *buffer);
  }

  void set_holder(Buffer* buffer, Holder holder) noexcept;
  /// `used`: how many of its bytes somebody used until now, or uses from now on.
  void set_idle(Buffer* buffer, bool idle, size_t used) noexcept;
  /// The buffer now has `bytes` and is charged `charged`, both at most as much as before.
  void shrink(Buffer* buffer, size_t bytes, size_t charged) noexcept;
  void grow(Buffer* buffer, size_t bytes, size_t charged) noexcept;

  /// What the account had when the process was at its peak.
  int64_t at_peak(const Account& account) const noexcept {
    return account.seen_peak == peak_number_ ? account.bytes_at_peak : account.live_bytes;
  }
  /// Starts a new peak at what is live now. The caller resets the sites' own peaks.
  int64_t reset_peak() noexcept;

  int64_t live() const noexcept { return live_; }
  int64_t planned() const noexcept { return planned_; }
  int64_t tensor_bytes() const noexcept { return tensor_bytes_; }
  /// The highest tensor_bytes since the peak was last reset.
  int64_t tensor_peak() const noexcept { return tensor_peak_; }
  int64_t borrowed() const noexcept { return borrowed_; }
  int64_t peak() const noexcept { return peak_; }
  int64_t live_buffers() const noexcept { return live_buffers_; }
  const Account& holder(int kind) const noexcept { return holders_[kind]; }

  /// The mapped buffers have a list of their own: there are few, and stats() looks at each.
  const Buffer* newest_mapped() const noexcept { return newest_[1]; }
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Buffer* first : newest_) {
      for (const Buffer* b = first; b != nullptr; b = b->next) visit(*b);
    }
  }

 private:
  Buffer*& list_of(const Buffer& buffer) noexcept { return newest_[is_mapped(buffer)]; }
  void remember_peak(Account& account) noexcept {
    if (account.seen_peak != peak_number_) {
      account.bytes_at_peak = account.live_bytes;
      account.seen_peak = peak_number_;
    }
  }
  void enter(Account& account, int64_t charged) noexcept {
    remember_peak(account);
    account.live_bytes += charged;
    if (account.live_bytes > account.peak_bytes) account.peak_bytes = account.live_bytes;
    ++account.live_count;
    ++account.total_count;
  }
  void leave(Account& account, int64_t charged) noexcept {
    remember_peak(account);
    account.live_bytes -= charged;
    --account.live_count;
  }
  void note_change(const Buffer& buffer) noexcept {
    if (is_observed()) [[unlikely]]
      tell(&Observer::buffer_changed, buffer);
  }
  [[gnu::cold]] static void tell(void (Observer::*what)(const Buffer&) noexcept,
                                 const Buffer& buffer) noexcept;
  void use(int64_t bytes) noexcept {
    tensor_bytes_ += bytes;
    if (tensor_bytes_ > tensor_peak_) tensor_peak_ = tensor_bytes_;
  }
  void note_peak() noexcept {
    if (live_ > peak_) {
      peak_ = live_;
      ++peak_number_;
    }
  }

  Buffer* newest_[2] = {};
  int64_t live_ = 0;
  int64_t planned_ = 0;
  int64_t tensor_bytes_ = 0;
  int64_t tensor_peak_ = 0;
  int64_t borrowed_ = 0;
  int64_t peak_ = 0;
  uint64_t peak_number_ = 0;
  int64_t live_buffers_ = 0;
  Account holders_[kHolderKinds];
};

}  // namespace tidemark::memory
