#include "tidemark/base/code_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace tidemark {

namespace {

// Of an entry of /proc/self/pagemap.
constexpr uint64_t kPresent = uint64_t{1} << 63, kSwapped = uint64_t{1} << 62;
constexpr uint64_t kOfFile = uint64_t{1} << 61;

struct Mapping {
  uintptr_t begin, end;
};

bool is_named(std::string_view path, std::span<const std::string_view> libraries) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return std::any_of(libraries.begin(), libraries.end(),
                     [&](std::string_view start) { return name.starts_with(start); });
}

/// The private mappings of files of those names that nobody may write to.
std::vector<Mapping> mappings_of(std::span<const std::string_view> libraries) {
  std::vector<Mapping> found;
  FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (!maps) return found;
  char line[4352];
  while (std::fgets(line, sizeof line, maps)) {
    uintptr_t begin = 0, end = 0;
    unsigned long inode = 0;
    char rights[5] = "", path[4097] = "";
    if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*x %*s %lu %4096[^\n]", &begin, &end,
                    rights, &inode, path) != 5) {
      continue;
    }
    if (inode && rights[1] == '-' && rights[3] == 'p' && is_named(path, libraries)) {
      found.push_back({begin, end});
    }
  }
  std::fclose(maps);
  return found;
}

/// Unmaps the pages of a mapping that are those of its file.
size_t release(const Mapping& mapping, int page_map, size_t page) {
  std::vector<uint64_t> entries((mapping.end - mapping.begin) / page);
  const size_t bytes = entries.size() * sizeof(uint64_t);
  const auto at = static_cast<off_t>(mapping.begin / page * sizeof(uint64_t));
  if (pread(page_map, entries.data(), bytes, at) != static_cast<ssize_t>(bytes)) return 0;
  size_t released = 0;
  for (size_t first = 0; first < entries.size();) {
    size_t next = first, present = 0;
    for (; next < entries.size(); ++next) {
      const bool is_there = entries[next] & kPresent;
      if ((entries[next] & kSwapped) || (is_there && !(entries[next] & kOfFile))) break;
      present += is_there;
    }
    void* const start = reinterpret_cast<void*>(mapping.begin + first * page);
    if (present && madvise(start, (next - first) * page, MADV_DONTNEED) == 0) {
      released += present * page;
    }
    first = next + 1;
  }
  return released;
}

}  // namespace

size_t release_code_pages(std::span<const std::string_view> libraries) {
  const int page_map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (page_map < 0) return 0;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_t released = 0;
  for (const Mapping& mapping : mappings_of(libraries)) {
    released += release(mapping, page_map, page);
  }
  close(page_map);
  return released;
}

}  // namespace tidemark
