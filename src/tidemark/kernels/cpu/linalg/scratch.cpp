#include "tidemark/kernels/cpu/linalg/scratch.h"

#include <algorithm>
#include <cstring>

#include "tidemark/base/interrupt.h"
#include "tidemark/memory/buffer.h"

namespace tidemark::cpu {

namespace {

constexpr size_t kLine = memory::kAlignment;
thread_local constinit ScratchScope* current = nullptr;

size_t rounded(size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

}  // namespace

ScratchScope::ScratchScope(void* memory, size_t bytes) noexcept
    : begin_(static_cast<char*>(memory)), next_(begin_), end_(begin_ + bytes), outer_(current) {
  current = this;
}

ScratchScope::~ScratchScope() { current = outer_; }

// Every block has a line in front that says where it came from: the buffer, or null and its size.
struct BlockHeader {
  memory::Buffer* buffer;
  size_t bytes;
};
static_assert(sizeof(BlockHeader) <= kLine);

void* scratch_allocate(size_t bytes) {
  check_interrupt();  // Eigen asks for memory before each of its blocks, and nowhere looks itself
  const size_t wanted = rounded(bytes) + kLine;
  char* block = nullptr;
  memory::Buffer* buffer = nullptr;
  if (current && wanted <= static_cast<size_t>(current->end_ - current->next_)) {
    block = current->next_;
    current->next_ += wanted;
  } else {
    buffer = memory::allocate({.bytes = wanted, .holder = memory::Holder::workspace});
    block = static_cast<char*>(buffer->data);
  }
  const BlockHeader header{buffer, wanted};
  std::memcpy(block, &header, sizeof(header));
  return block + kLine;
}

void scratch_free(void* data) noexcept {
  if (!data) return;
  char* block = static_cast<char*>(data) - kLine;
  BlockHeader header;
  std::memcpy(&header, block, sizeof(header));
  if (header.buffer) {
    memory::release(header.buffer);
  } else if (current && block + header.bytes == current->next_) {
    current->next_ = block;  // the last one: its place is free again
  }
}

void* scratch_reallocate(void* data, size_t new_bytes, size_t old_bytes) {
  void* moved = scratch_allocate(new_bytes);
  if (data) std::memcpy(moved, data, std::min(new_bytes, old_bytes));
  scratch_free(data);
  return moved;
}

}  // namespace tidemark::cpu
