#include "tidemark/kernels/cpu/dnnl/run_memory.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <thread>

namespace tidemark_dnnl {

namespace {

thread_local constinit int depth __attribute__((tls_model("initial-exec"))) = 0;

// --- the system's functions ---------------------------------------------------------------------

/// As the whole program sees them, so that a replaced allocator stays replaced.
template <class Function>
Function system_function(const char* name) {
  static void* const program = dlopen(nullptr, RTLD_LAZY);
  void* found = dlsym(program, name);
  return reinterpret_cast<Function>(found ? found : dlsym(RTLD_NEXT, name));
}

[[maybe_unused]] void* system_malloc(size_t size) {
  static const auto real = system_function<void* (*)(size_t)>("malloc");
  return real(size);
}
[[maybe_unused]] void* system_realloc(void* block, size_t size) {
  static const auto real = system_function<void* (*)(void*, size_t)>("realloc");
  return real(block, size);
}
int system_aligned(void** block, size_t alignment, size_t size) {
  static const auto real = system_function<int (*)(void**, size_t, size_t)>("posix_memalign");
  return real(block, alignment, size);
}
[[maybe_unused]] void system_free(void* block) {
  static const auto real = system_function<void (*)(void*)>("free");
  real(block);
}

// --- small blocks: lists of arguments -----------------------------------------------------------

constexpr size_t kSlot = 128;
constexpr size_t kWords = 2;
constexpr size_t kSlots = 64 * kWords;
constexpr size_t kShelves = 64;  // threads beyond that share them

/// Whose address tells that a block is one of ours. Untouched pages take no memory.
alignas(4096) constinit char shelves[kShelves][kSlots][kSlot] = {};
/// A bit a slot: it is taken.
constinit std::atomic<uint64_t> taken[kShelves][kWords] = {};

size_t own_shelf() noexcept {
  static constinit std::atomic<uint32_t> next{0};
  thread_local constinit uint32_t own __attribute__((tls_model("initial-exec"))) = 0;
  if (own == 0) own = next.fetch_add(1, std::memory_order_relaxed) % kShelves + 1;
  return own - 1;
}

void* take_slot() noexcept {
  const size_t shelf = own_shelf();
  for (size_t word = 0; word < kWords; ++word) {
    uint64_t now = taken[shelf][word].load(std::memory_order_relaxed);
    while (now != ~uint64_t{0}) {
      const int bit = std::countr_one(now);
      if (taken[shelf][word].compare_exchange_weak(now, now | uint64_t{1} << bit,
                                                   std::memory_order_acquire)) {
        return shelves[shelf][64 * word + static_cast<size_t>(bit)];
      }
    }
  }
  return nullptr;
}

bool is_slot(const void* block) noexcept {
  const auto at = reinterpret_cast<uintptr_t>(block), first = reinterpret_cast<uintptr_t>(shelves);
  return at - first < sizeof(shelves);
}

void give_slot(const void* block) noexcept {
  const auto offset = static_cast<size_t>(static_cast<const char*>(block) - shelves[0][0]);
  const size_t shelf = offset / (kSlots * kSlot), slot = offset / kSlot % kSlots;
  taken[shelf][slot / 64].fetch_and(~(uint64_t{1} << slot % 64), std::memory_order_release);
}

// --- large blocks: packed matrices --------------------------------------------------------------

constexpr size_t kPage = 4096;
constexpr size_t kLargest = 8 << 20;
constexpr size_t kMostBytes = 32 << 20;
constexpr int kLargeBlocks = 64;

/// Never freed once made; `data` is set last.
struct Large {
  std::atomic<char*> data{nullptr};
  size_t size = 0;
  std::atomic<bool> taken{false};
};
constinit Large large[kLargeBlocks];
constinit std::atomic<int> num_large{0};
constinit std::atomic<size_t> large_bytes{0};

bool fits(const Large& block, size_t size) { return block.size >= size && block.size / 4 <= size; }

/// The one this thread had last is in its cache, most likely.
thread_local constinit int last_large __attribute__((tls_model("initial-exec"))) = 0;

bool try_take(int index, size_t size) noexcept {
  Large& block = large[index];
  if (!block.data.load(std::memory_order_acquire) || !fits(block, size)) return false;
  return !block.taken.exchange(true, std::memory_order_acquire);
}

/// One more block, taken; -1: there is no room for it.
int make_large(size_t size) noexcept {
  if (large_bytes.fetch_add(size, std::memory_order_relaxed) + size > kMostBytes) {
    large_bytes.fetch_sub(size, std::memory_order_relaxed);
    return -1;
  }
  void* data = nullptr;
  const int index = num_large.fetch_add(1, std::memory_order_acq_rel);
  if (index >= kLargeBlocks || system_aligned(&data, kPage, size) != 0) {
    if (index >= kLargeBlocks) num_large.fetch_sub(1, std::memory_order_acq_rel);
    large_bytes.fetch_sub(size, std::memory_order_relaxed);
    return -1;
  }
  large[index].size = size;
  large[index].taken.store(true, std::memory_order_relaxed);
  large[index].data.store(static_cast<char*>(data), std::memory_order_release);
  return index;
}

void* take_large(size_t size) noexcept {
  const int count = std::min(num_large.load(std::memory_order_acquire), kLargeBlocks);
  for (int i = -1; i < count; ++i) {
    const int index = i < 0 ? last_large : i;
    if (!try_take(index, size)) continue;
    last_large = index;
    return large[index].data.load(std::memory_order_relaxed);
  }
  const size_t rounded = (size + kPage - 1) / kPage * kPage;
  const int index = make_large(rounded);
  if (index < 0) return nullptr;
  // The others that will ask for one while this is taken find it there; until then it takes no
  // memory, as nobody has written to it.
  static const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1u, 4u);
  for (unsigned i = 1; i < threads; ++i) {
    if (const int other = make_large(rounded); other >= 0) {
      large[other].taken.store(false, std::memory_order_release);
    }
  }
  last_large = index;
  return large[index].data.load(std::memory_order_relaxed);
}

bool give_large(const void* block) noexcept {
  const int count = std::min(num_large.load(std::memory_order_acquire), kLargeBlocks);
  for (int i = 0; i < count; ++i) {
    if (large[i].data.load(std::memory_order_acquire) != block) continue;
    large[i].taken.store(false, std::memory_order_release);
    return true;
  }
  return false;
}

// --- both ---------------------------------------------------------------------------------------

constexpr size_t kSmallestLarge = 4096;

// Under sanitizers nobody calls these.

/// Null: the system has to be asked.
[[maybe_unused]] void* take(size_t size) noexcept {
  if (depth == 0) return nullptr;
  if (size <= kSlot) return take_slot();
  return size >= kSmallestLarge && size <= kLargest ? take_large(size) : nullptr;
}

/// False: it is not one of ours.
[[maybe_unused]] bool give(void* block) noexcept {
  if (is_slot(block)) {
    give_slot(block);
    return true;
  }
  return reinterpret_cast<uintptr_t>(block) % kPage == 0 && block && give_large(block);
}

[[maybe_unused]] size_t size_of_kept(const void* block) noexcept {
  if (is_slot(block)) return kSlot;
  for (const Large& one : large) {
    if (block && one.data.load(std::memory_order_acquire) == block) return one.size;
  }
  return 0;
}

}  // namespace

RunScope::RunScope() noexcept { ++depth; }
RunScope::~RunScope() { --depth; }

size_t kept_bytes() noexcept { return large_bytes.load(std::memory_order_relaxed); }
size_t most_kept_bytes() noexcept { return kMostBytes; }

}  // namespace tidemark_dnnl

// What oneDNN and the libraries below it call. Sanitizers bring allocators of their own, which
// cannot be looked past: there these are not defined, and nothing is kept.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#define TIDEMARK_SEEN __attribute__((visibility("default")))

extern "C" {

TIDEMARK_SEEN void* malloc(size_t size) {
  void* kept = tidemark_dnnl::take(size);
  return kept ? kept : tidemark_dnnl::system_malloc(size);
}

TIDEMARK_SEEN int posix_memalign(void** block, size_t alignment, size_t size) {
  // Slots lie at multiples of their size, large blocks on pages.
  void* kept =
      alignment <= 64 || (alignment <= 4096 && size > 128) ? tidemark_dnnl::take(size) : nullptr;
  if (!kept) return tidemark_dnnl::system_aligned(block, alignment, size);
  *block = kept;
  return 0;
}

TIDEMARK_SEEN void* realloc(void* block, size_t size) {
  const size_t before = block ? tidemark_dnnl::size_of_kept(block) : 0;
  if (before == 0) return tidemark_dnnl::system_realloc(block, size);
  void* moved = tidemark_dnnl::system_malloc(size);
  if (!moved) return nullptr;
  std::memcpy(moved, block, before < size ? before : size);
  tidemark_dnnl::give(block);
  return moved;
}

TIDEMARK_SEEN void free(void* block) {
  if (!tidemark_dnnl::give(block)) tidemark_dnnl::system_free(block);
}
}

TIDEMARK_SEEN void* operator new(size_t size) {
  if (void* block = malloc(size)) return block;
  throw std::bad_alloc();
}
TIDEMARK_SEEN void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return malloc(size);
}
TIDEMARK_SEEN void operator delete(void* block) noexcept { free(block); }
TIDEMARK_SEEN void operator delete(void* block, size_t) noexcept { free(block); }

#endif
