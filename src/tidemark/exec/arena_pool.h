// Arenas: the blocks that planned programs run in, kept from call to call.
//
// An arena belongs to no program: the next one that fits takes it. As many are kept as were in use
// at one time, within a bound in bytes; under a limit they go before anything is refused. Every
// device has its own; on one with a stream an arena may be given back while work that uses it is
// enqueued, for the work of whoever takes it next comes later.
#pragma once

#include <cstdint>

#include "tidemark/memory/buffer.h"

namespace tidemark::exec {

/// Somebody who will ask for this much: blocks larger than anybody needs are not kept.
class ArenaNeed {
 public:
  explicit ArenaNeed(int64_t bytes, Device device = {});
  ~ArenaNeed();
  ArenaNeed(const ArenaNeed&) = delete;
  ArenaNeed& operator=(const ArenaNeed&) = delete;
  int64_t bytes() const { return bytes_; }
  Device device() const { return device_; }

 private:
  int64_t bytes_;
  Device device_;
};

/// A part of a block, for the runs of what a step holds: a branch, the rounds of a loop.
struct ArenaPart {
  memory::Buffer* buffer = nullptr;
  int64_t offset = 0;  // in the buffer
  int64_t bytes = 0;
  uint64_t block = 0;  // its id
};

/// Offers a part to the next lease of this thread that it is large enough for, and to one after the
/// other, until the end of the scope. On the host alone.
class ArenaOffer {
 public:
  explicit ArenaOffer(const ArenaPart& part);
  ~ArenaOffer();
  ArenaOffer(const ArenaOffer&) = delete;
  ArenaOffer& operator=(const ArenaOffer&) = delete;

 private:
  ArenaPart outer_;
};

/// Gives back every block of the device that waits for its next run; false: none did.
bool drop_idle_arenas(Device device);

/// A block for the time of one run.
class ArenaLease {
 public:
  /// Throws ResourceExhaustedError where no memory is left. Zero bytes: no block. `exact`: not a
  /// larger one that happens to be there. What this thread was offered is taken first.
  explicit ArenaLease(int64_t bytes, bool exact = false);
  /// On a device.
  ArenaLease(const ArenaNeed& need, bool exact);
  ~ArenaLease();
  ArenaLease(const ArenaLease&) = delete;
  ArenaLease& operator=(const ArenaLease&) = delete;

  memory::Buffer* buffer() const { return buffer_; }
  char* data() const { return buffer_ ? static_cast<char*>(buffer_->data) + offset_ : nullptr; }
  /// Tells places in blocks apart, also in those that are gone; 0: no block.
  uint64_t id() const;
  /// Bytes of it, counted from `data`.
  ArenaPart part(int64_t offset, int64_t bytes) const {
    return {buffer_, offset_ + offset, bytes, block_};
  }

 private:
  memory::Buffer* buffer_ = nullptr;
  int64_t offset_ = 0;
  uint64_t block_ = 0;
  int64_t bytes_;
  bool has_offer_ = false;
  ArenaPart offered_;  // to this thread before
};

}  // namespace tidemark::exec
