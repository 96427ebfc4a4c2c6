// Scratch memory of a fused step that runs outside of any plan.
#pragma once

#include "tidemark/memory/buffer.h"

namespace tidemark::fusion {

class Workspace {
 public:
  explicit Workspace(size_t bytes) {
    if (bytes > 0) {
      buffer_ = memory::allocate({.bytes = bytes, .holder = memory::Holder::workspace});
    }
  }
  ~Workspace() {
    if (buffer_) memory::release(buffer_);
  }
  Workspace(const Workspace&) = delete;
  void* data() const { return buffer_ ? buffer_->data : nullptr; }

 private:
  memory::Buffer* buffer_ = nullptr;
};

}  // namespace tidemark::fusion
