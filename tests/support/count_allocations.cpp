// Counts calls into the system's allocator, for tests and benchmarks. Loaded before a program:
//
//   LD_PRELOAD=libcount_allocations.so python steps.py
//
// While `count_allocations(1)` holds, every allocation of the process is counted, whoever makes it:
// malloc and its kin, and mappings that do not come from within the allocator.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

#define SEEN __attribute__((visibility("default")))

extern "C" {

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

static constinit std::atomic<long> calls{0};
static constinit std::atomic<bool> counts{false};

static void note() {
  if (counts.load(std::memory_order_relaxed)) calls.fetch_add(1, std::memory_order_relaxed);
}

/// Starts (1) or stops (0) counting; returns the calls counted so far.
SEEN long count_allocations(int on) {
  counts.store(on != 0);
  return calls.load();
}

SEEN void* malloc(size_t size) {
  note();
  return __libc_malloc(size);
}
SEEN void* calloc(size_t count, size_t size) {
  note();
  return __libc_calloc(count, size);
}
SEEN void* realloc(void* block, size_t size) {
  note();
  return __libc_realloc(block, size);
}
SEEN void* memalign(size_t alignment, size_t size) {
  note();
  return __libc_memalign(alignment, size);
}
SEEN void* aligned_alloc(size_t alignment, size_t size) {
  note();
  return __libc_memalign(alignment, size);
}
SEEN int posix_memalign(void** block, size_t alignment, size_t size) {
  note();
  *block = __libc_memalign(alignment, size);
  return *block ? 0 : ENOMEM;
}
SEEN void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
  note();
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, size, protection, flags, file, offset));
}
SEEN int munmap(void* at, size_t size) {
  note();
  return static_cast<int>(syscall(SYS_munmap, at, size));
}
SEEN int madvise(void* at, size_t size, int advice) {
  note();
  return static_cast<int>(syscall(SYS_madvise, at, size, advice));
}
}
