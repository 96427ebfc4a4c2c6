// Arenas: the blocks that planned programs run in, kept from call to call.
//
// An arena belongs to no program: the next one that fits takes it. As many are kept as were in use
// at one time, within a bound in bytes; under a limit they go before anything is refused.
#pragma once

#include <cstdint>

#include "tidemark/memory/buffer.h"

namespace tidemark::exec {

/// Somebody who will ask for this much: blocks larger than anybody needs are not kept.
class ArenaNeed {
 public:
  explicit ArenaNeed(int64_t bytes);
  ~ArenaNeed();
  ArenaNeed(const ArenaNeed&) = delete;
  ArenaNeed& operator=(const ArenaNeed&) = delete;
  int64_t bytes() const { return bytes_; }

 private:
  int64_t bytes_;
};

/// A block for the time of one run.
class ArenaLease {
 public:
  /// Throws ResourceExhaustedError where no memory is left. Zero bytes: no block. `exact`: not a
  /// larger one that happens to be there.
  explicit ArenaLease(int64_t bytes, bool exact = false);
  ~ArenaLease();
  ArenaLease(const ArenaLease&) = delete;
  ArenaLease& operator=(const ArenaLease&) = delete;

  memory::Buffer* buffer() const { return buffer_; }
  char* data() const { return buffer_ ? static_cast<char*>(buffer_->data) : nullptr; }
  /// Tells blocks apart, also those that are gone; 0: no block.
  uint64_t id() const { return id_; }

 private:
  memory::Buffer* buffer_ = nullptr;
  uint64_t id_ = 0;
  int64_t bytes_;
};

}  // namespace tidemark::exec
