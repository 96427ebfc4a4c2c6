#include "tidemark/memory/os.h"

#include "tidemark/memory/size_classes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace tidemark::memory::os {
namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

/// The number in a control group's file; kNone for "max", for absent files and for nonsense.
int64_t read_limit(const std::string& path) {
  std::ifstream file(path);
  int64_t value = 0;
  return file >> value && value >= 0 ? value : kNone;
}

/// The limit of a group and of everything above it, down from the mount point.
int64_t walk_up(const std::string& mount, std::string group, const char* file) {
  int64_t least = kNone;
  for (;;) {
    least = std::min(least, read_limit(mount + group + "/" + file));
    const size_t slash = group.rfind('/');
    if (slash == std::string::npos) return least;
    group.resize(slash);
  }
}

}  // namespace

void* map(size_t size, size_t alignment) noexcept {
  const size_t extra = alignment > kPageSize ? alignment - kPageSize : 0;
  void* mapped = mmap(nullptr, size + extra, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<uintptr_t>(mapped);
  const uintptr_t aligned = (begin + alignment - 1) & ~uintptr_t{alignment - 1};
  if (aligned > begin) munmap(mapped, aligned - begin);
  const uintptr_t end = begin + size + extra;
  if (end > aligned + size) munmap(reinterpret_cast<void*>(aligned + size), end - aligned - size);
  return reinterpret_cast<void*>(aligned);
}

void* map_buffer(size_t size) noexcept {
#if defined(MADV_POPULATE_WRITE)
  static constexpr int kMakePresent = MADV_POPULATE_WRITE;
#else
  static constexpr int kMakePresent = 23;  // Linux 5.14; older ones refuse it, which is harmless
#endif
  void* start = map(size, size >= kHugePage ? kHugePage : kPageSize);
  if (start == nullptr) return nullptr;
  const size_t in_huge_pages = size & ~(kHugePage - 1);
  if (in_huge_pages > 0) madvise(start, size, MADV_HUGEPAGE);
  if (size > in_huge_pages) {
    madvise(static_cast<char*>(start) + in_huge_pages, size - in_huge_pages, kMakePresent);
  }
  return start;
}

void* remap_buffer(void* start, size_t size, size_t new_size) noexcept {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(start, size);
#endif
  if (new_size < kHugePage) {
    void* moved = mremap(start, size, new_size, MREMAP_MAYMOVE);
    return moved == MAP_FAILED ? nullptr : moved;
  }
  // Huge pages move as they are only between places that are aligned for them.
  void* target = map(new_size, kHugePage);
  if (target == nullptr) return nullptr;
  if (mremap(start, size, new_size, MREMAP_MAYMOVE | MREMAP_FIXED, target) == MAP_FAILED) {
    munmap(target, new_size);
    return nullptr;
  }
  madvise(target, new_size, MADV_HUGEPAGE);
  return target;
}

void unmap(void* start, size_t size) noexcept {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(start, size);  // whoever maps the addresses next may use them
#endif
  munmap(start, size);
}

void discard(void* start, size_t size) noexcept { madvise(start, size, MADV_DONTNEED); }

int64_t resident_in(const void* start, size_t size) noexcept {
  static constexpr size_t kPagesPerCall = 16384;
  unsigned char pages[kPagesPerCall];
  auto at = reinterpret_cast<uintptr_t>(start);
  int64_t found = 0;
  while (size > 0) {
    const size_t bytes = std::min(size, kPagesPerCall * kPageSize);
    if (mincore(reinterpret_cast<void*>(at), bytes, pages) != 0) return found;
    for (size_t i = 0; i < bytes / kPageSize; ++i) found += pages[i] & 1;
    at += bytes;
    size -= bytes;
  }
  return found * static_cast<int64_t>(kPageSize);
}

namespace {

/// Sizes of this process, from /proc/self/statm.
struct ProcessSize {
  int64_t mapped = 0;
  int64_t resident = 0;
};

ProcessSize process_size() noexcept {
  char text[128];
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return {};
  text[length] = '\0';
  long long mapped = 0;
  long long resident = 0;
  if (std::sscanf(text, "%lld %lld", &mapped, &resident) != 2) return {};
  return {mapped * static_cast<int64_t>(kPageSize), resident * static_cast<int64_t>(kPageSize)};
}

}  // namespace

int64_t resident() noexcept { return process_size().resident; }

int64_t cgroup_limit(const std::string& membership_file, const std::string& root) {
  int64_t least = kNone;
  std::ifstream file(membership_file);
  // Lines are "0::/group" (version 2) and "4:memory:/group" (version 1).
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    std::string group = line.substr(second + 1);
    if (group == "/") group.clear();
    if (controllers == ",,") {
      least = std::min(least, walk_up(root, group, "memory.max"));
      least = std::min(least, walk_up(root, group, "memory.high"));
      least = std::min(least, walk_up(root + "/unified", group, "memory.max"));
    } else if (controllers.find(",memory,") != std::string::npos) {
      least = std::min(least, walk_up(root + "/memory", group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

int64_t memory_available() noexcept {
  int64_t least = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  try {
    least = std::min(least, cgroup_limit("/proc/self/cgroup", "/sys/fs/cgroup"));
  } catch (...) {
    // No memory to read a file with: the limits known without it hold.
  }
  for (const int resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) continue;
    if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > static_cast<rlim_t>(kNone)) continue;
    auto bytes = static_cast<int64_t>(limit.rlim_cur);
    if (resource == RLIMIT_AS) {
      // It counts what is mapped, touched or not; code and libraries map far more than they touch.
      const ProcessSize size = process_size();
      bytes = std::max<int64_t>(bytes - (size.mapped - size.resident), 0);
    }
    least = std::min(least, bytes);
  }
  return least;
}

}  // namespace tidemark::memory::os
