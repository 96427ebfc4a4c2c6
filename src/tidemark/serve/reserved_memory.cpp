#include "tidemark/serve/reserved_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "tidemark/memory/buffer.h"

namespace tidemark::serve {

namespace {

/// Less is not worth counting: connections and the bytes of all requests are bounded anyway.
constexpr size_t kSmall = size_t{256} << 10;
constexpr size_t kStep = size_t{1} << 20;

/// The buffer is counted and never touched: what is resident of it belongs to others.
void give_pages_back(const memory::Buffer& buffer) {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<uintptr_t>(buffer.data) + page - 1) / page * page;
  const auto end = (reinterpret_cast<uintptr_t>(buffer.data) + buffer.bytes) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace

void ReservedMemory::grow_to(size_t bytes) {
  if (bytes <= std::max(kSmall, bytes_)) return;
  const size_t more = (bytes - bytes_ + kStep - 1) / kStep * kStep;
  buffers_.reserve(buffers_.size() + 1);
  buffers_.push_back(memory::allocate({.bytes = more, .holder = memory::Holder::workspace}));
  bytes_ += more;
  give_pages_back(*buffers_.back());
}

void ReservedMemory::release() {
  for (memory::Buffer* buffer : buffers_) memory::release(buffer);
  buffers_.clear();
  bytes_ = 0;
}

ReservedMemory::~ReservedMemory() { release(); }

}  // namespace tidemark::serve
