#include "tidemark/kernels/cpu/fusion/machine_code.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>

#include "tidemark/memory/cache_registry.h"

namespace tidemark::fusion {

namespace {

constexpr size_t kPage = 4096;
constexpr int64_t kCapacity = 32 << 20;

constinit std::atomic<int64_t> bytes_mapped{0}, pieces_mapped{0}, pieces_made{0}, refused{0};

void list_in_reports() {
  [[maybe_unused]] static const auto& listed = *new memory::CacheRegistration{[] {
    return memory::CacheUse{.name = "fusion code",
                            .entries = pieces_mapped.load(std::memory_order_relaxed),
                            .bytes = bytes_mapped.load(std::memory_order_relaxed),
                            .capacity = kCapacity,
                            .hits = 0,
                            .misses = pieces_made.load(std::memory_order_relaxed),
                            .evictions = refused.load(std::memory_order_relaxed)};
  }};
}

}  // namespace

std::unique_ptr<MachineCode> MachineCode::copy_of(const void* code, size_t bytes) {
  list_in_reports();
  const size_t mapped = (bytes + kPage - 1) / kPage * kPage;
  const auto counted = static_cast<int64_t>(mapped);
  if (bytes_mapped.fetch_add(counted, std::memory_order_relaxed) + counted > kCapacity) {
    bytes_mapped.fetch_sub(counted, std::memory_order_relaxed);
    refused.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  void* pages = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages != MAP_FAILED) {
    std::memcpy(pages, code, bytes);
    if (mprotect(pages, mapped, PROT_READ | PROT_EXEC) == 0) {
      pieces_mapped.fetch_add(1, std::memory_order_relaxed);
      pieces_made.fetch_add(1, std::memory_order_relaxed);
      return std::unique_ptr<MachineCode>(new MachineCode(pages, mapped));
    }
    munmap(pages, mapped);
  }
  bytes_mapped.fetch_sub(counted, std::memory_order_relaxed);
  return nullptr;
}

MachineCode::~MachineCode() {
  munmap(pages_, bytes_);
  bytes_mapped.fetch_sub(static_cast<int64_t>(bytes_), std::memory_order_relaxed);
  pieces_mapped.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace tidemark::fusion
