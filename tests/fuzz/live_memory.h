// What is alive of memory/, without what stats() asks the system.
#pragma once

#include "tidemark/memory/core.h"

namespace tidemark::fuzz {

struct LiveMemory {
  int64_t bytes, buffers, tensor_bytes;
  bool operator==(const LiveMemory&) const = default;
};

inline LiveMemory live_memory() {
  const memory::CoreLock hold(memory::core.lock);
  const memory::Ledger& ledger = memory::core.ledger;
  return {ledger.live(), ledger.live_buffers(), ledger.tensor_bytes()};
}

}  // namespace tidemark::fuzz
