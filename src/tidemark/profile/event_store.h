// Where events go: a ring in memory, or a file that a thread of its own writes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/base/spin_mutex.h"
#include "tidemark/profile/format.h"

namespace tidemark::profile {

class EventStore {
 public:
  virtual ~EventStore() = default;

  /// The caller holds the recorder's lock.
  void append(const Event& event) noexcept {
    if (at_ == end_) [[unlikely]] {
      next_chunk();
      if (at_ == end_) {
        ++lost_;
        return;
      }
    }
    *at_++ = event;
    ++events_;
  }
  uint64_t events() const noexcept { return events_; }  // under the lock
  uint64_t lost() const noexcept { return lost_; }      // under the lock

  /// These are called without the lock.
  bool is_full() const noexcept { return is_full_.load(std::memory_order_relaxed); }
  bool has_failed() const noexcept { return has_failed_.load(std::memory_order_relaxed); }
  virtual void wait_for_room() noexcept {}
  virtual void add_name(NameTable table, uint32_t number, std::string_view text) = 0;
  virtual void add_plan(std::string_view block) = 0;
  /// No event comes any more.
  virtual void finish() = 0;
  virtual std::string error() { return ""; }
  virtual void save(const std::string& path, const Header& header, SpinMutex& lock) = 0;

 protected:
  /// Sets at_ and end_ to room for events; leaves them equal where there is none.
  virtual void next_chunk() noexcept = 0;

  Event* at_ = nullptr;
  Event* end_ = nullptr;
  uint64_t events_ = 0;
  uint64_t lost_ = 0;
  std::atomic<bool> is_full_{false};
  std::atomic<bool> has_failed_{false};
};

inline constexpr size_t kChunkEvents = 8192;

std::shared_ptr<EventStore> make_ring(uint64_t events);
/// Throws InvalidArgumentError when the file cannot be opened or its header not be written.
std::shared_ptr<EventStore> make_file(const std::string& path, const Header& header,
                                      SpinMutex& lock);

/// The bytes of a block, head included.
void append_name_block(std::vector<char>& out, NameTable table, uint32_t number,
                       std::string_view text);
void append_block(std::vector<char>& out, BlockKind kind, const void* data, size_t bytes);

}  // namespace tidemark::profile
