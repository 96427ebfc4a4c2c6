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

void* map(size_t size, size_t alignment, bool huge) noexcept {
  const size_t extra = alignment > kPageSize ? alignment - kPageSize : 0;
  void* mapped = mmap(nullptr, size + extra, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<uintptr_t>(mapped);
  const uintptr_t aligned = (begin + alignment - 1) & ~uintptr_t{alignment - 1};
  if (aligned > begin) munmap(mapped, aligned - begin);
  const uintptr_t end = begin + size + extra;
  if (end > aligned + size) munmap(reinterpret_cast<void*>(aligned + size), end - aligned - size);
  void* start = reinterpret_cast<void*>(aligned);
  if (huge) madvise(start, size, MADV_HUGEPAGE);
  return start;
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

int64_t resident() noexcept {
  char text[128];
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return 0;
  text[length] = '\0';
  long long total = 0;
  long long pages = 0;
  if (std::sscanf(text, "%lld %lld", &total, &pages) != 2) return 0;
  return pages * static_cast<int64_t>(kPageSize);
}

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
    least = std::min(least, static_cast<int64_t>(limit.rlim_cur));
  }
  return least;
}

}  // namespace tidemark::memory::os
