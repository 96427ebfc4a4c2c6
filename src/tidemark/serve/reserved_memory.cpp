#include "tidemark/serve/reserved_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "tidemark/memory/buffer.h"

namespace tidemark::serve {

namespace {

constexpr size_t kSmall = size_t{256} << 10;
constexpr size_t kStep = size_t{1} << 20;

/// The buffer is counted and never touched: what is resident of it belongs to others.
void give_pages_back(const memory::Buffer& buffer) {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<uintptr_t>(buffer.data) + page - 1) / page * page;
  const auto end = (reinterpret_cast<uintptr_t>(buffer.data) + buffer.bytes) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

void add_buffer(std::vector<memory::Buffer*>& buffers, size_t bytes) {
  buffers.reserve(buffers.size() + 1);
  buffers.push_back(memory::allocate({.bytes = bytes, .holder = memory::Holder::workspace}));
  give_pages_back(*buffers.back());
}

/// Small amounts, of which there may be as many as connections: counted together, in steps. The
/// first few steps are free, so that plain traffic asks for none.
class SmallAmounts {
 public:
  void add(size_t bytes) {
    if (used_.fetch_add(bytes) + bytes <= counted_.load()) return;
    try {
      const std::lock_guard lock(mutex_);
      while (counted_.load() < used_.load()) {
        add_buffer(buffers_, kStep);
        counted_.fetch_add(kStep);
      }
    } catch (...) {
      used_.fetch_sub(bytes);
      throw;
    }
  }

  void remove(size_t bytes) {
    if (counted_.load() <= used_.fetch_sub(bytes) - bytes + kFree) return;
    const std::lock_guard lock(mutex_);
    while (!buffers_.empty() && counted_.load() > used_.load() + kFree) {
      counted_.fetch_sub(kStep);
      memory::release(buffers_.back());
      buffers_.pop_back();
    }
  }

 private:
  static constexpr size_t kFree = 2 * kStep;
  std::atomic<size_t> used_{0}, counted_{kFree};
  std::mutex mutex_;
  std::vector<memory::Buffer*> buffers_;
};

SmallAmounts& small_amounts() {
  static SmallAmounts all;
  return all;
}

}  // namespace

void ReservedMemory::grow_to(size_t bytes) {
  if (bytes <= small_ + bytes_) return;
  if (bytes <= kSmall) {
    small_amounts().add(bytes - small_);
    small_ = bytes;
    return;
  }
  const size_t more = (bytes - small_ - bytes_ + kStep - 1) / kStep * kStep;
  add_buffer(buffers_, more);
  bytes_ += more;
}

void ReservedMemory::release() {
  if (small_ > 0) small_amounts().remove(small_);
  for (memory::Buffer* buffer : buffers_) memory::release(buffer);
  buffers_.clear();
  small_ = bytes_ = 0;
}

ReservedMemory::~ReservedMemory() { release(); }

}  // namespace tidemark::serve
