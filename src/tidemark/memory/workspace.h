// Scratch memory of a call that runs outside of any plan.
#pragma once

#include "tidemark/memory/buffer.h"

namespace tidemark::memory {

class Workspace {
 public:
  explicit Workspace(size_t bytes, Device device = {}) {
    if (bytes == 0) return;
    buffer_ = allocate({.bytes = bytes, .holder = Holder::workspace, .device = device});
  }
  ~Workspace() {
    if (buffer_) release(buffer_);
  }
  Workspace(const Workspace&) = delete;
  /// Null where no bytes were asked for.
  void* data() const { return buffer_ ? buffer_->data : nullptr; }

 private:
  Buffer* buffer_ = nullptr;
};

}  // namespace tidemark::memory
