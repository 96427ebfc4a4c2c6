// LedgerWatch: sees every change of the ledger. Where nobody watches that is one branch.
#pragma once

#include "tidemark/memory/buffer.h"

namespace tidemark::memory {

/// All calls come with the lock of memory/ held: they are short and neither throw nor take memory
/// from here.
class LedgerWatch {
 public:
  /// The buffer was there when the watch began.
  virtual void found(const Buffer& buffer) noexcept = 0;
  virtual void added(const Buffer& buffer) noexcept = 0;
  virtual void removed(const Buffer& buffer) noexcept = 0;
  /// Its holder or its size is another now, or it became idle or ceased to be.
  virtual void changed(const Buffer& buffer) noexcept = 0;

 protected:
  ~LedgerWatch() = default;
};

/// Lists the live buffers to the watch, and from then on every change. One watch at a time.
TIDEMARK_API void start_watching(LedgerWatch& watch) noexcept;
/// No call of the watch is running or will come when this returns.
TIDEMARK_API void stop_watching() noexcept;

}  // namespace tidemark::memory
