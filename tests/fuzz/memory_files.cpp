// Functions of C's library, defined once more: the program's own come first where names are looked
// up. Those that tell of files look below kRoot first; writing there is put_in_memory's alone.
#include "memory_files.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

namespace tidemark::fuzz {

namespace {

constexpr std::string_view kRoot = "/in-memory-of-the-fuzzers/";
constexpr int kFirst = 1 << 28;  // beyond what the system gives

struct Folder {
  std::map<std::string, std::string, std::less<>> files;  // by their paths in it
};

/// What readdir goes through.
struct Listing {
  std::set<std::string> names;
  std::set<std::string>::const_iterator next;
  dirent entry{};
};

struct Files {
  std::mutex mutex;
  std::map<std::string, Folder, std::less<>> folders;  // by the part of the path behind kRoot
  std::array<const std::string*, 64> open{};           // null: free
  std::set<const void*> listings;
};
Files& files() {
  static auto* const all = new Files;  // outlives those who read at the end
  return *all;
}

bool is_ours(const char* path) { return std::string_view(path).starts_with(kRoot); }

/// The folder, and the path in it. Must hold the mutex.
std::pair<Folder*, std::string_view> place_of(std::string_view path) {
  path.remove_prefix(kRoot.size());
  const size_t slash = path.find('/');
  const auto found = files().folders.find(path.substr(0, slash));
  if (found == files().folders.end()) return {nullptr, {}};
  std::string_view rest = slash == path.npos ? std::string_view() : path.substr(slash + 1);
  while (rest.ends_with('/')) rest.remove_suffix(1);
  return {&found->second, rest};
}

const std::string* file_at(const char* path) {
  const auto [folder, name] = place_of(path);
  if (!folder) return nullptr;
  const auto found = folder->files.find(name);
  return found == folder->files.end() ? nullptr : &found->second;
}

/// What is right below a folder; empty: there is none.
std::set<std::string> names_below(const char* path) {
  std::set<std::string> names;
  const auto [folder, name] = place_of(path);
  if (!folder) return names;
  for (const auto& [file, bytes] : folder->files) {
    std::string_view rest = file;
    if (!name.empty()) {
      if (!rest.starts_with(name) || rest.size() <= name.size() || rest[name.size()] != '/') {
        continue;
      }
      rest.remove_prefix(name.size() + 1);
    }
    names.emplace(rest.substr(0, rest.find('/')));
  }
  return names;
}

template <class Value>
Value failed(int error, Value value) {
  errno = error;
  return value;
}

const std::string* open_file(int number) {
  const auto at = static_cast<size_t>(number - kFirst);
  return number >= kFirst && at < files().open.size() ? files().open[at] : nullptr;
}

void tell(struct stat& to, const std::string* file) {
  to = {};
  to.st_mode = file ? S_IFREG | 0600 : S_IFDIR | 0700;
  to.st_size = file ? static_cast<off_t>(file->size()) : 0;
  to.st_nlink = 1;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

MemoryFolder::MemoryFolder(const std::string& name) : path_(std::string(kRoot) + name) {
  const std::lock_guard lock(files().mutex);
  files().folders.try_emplace(name);
}

MemoryFolder::~MemoryFolder() {
  const std::lock_guard lock(files().mutex);
  files().folders.erase(path_.substr(kRoot.size()));
}

bool put_in_memory(const std::string& path, std::string_view bytes) {
  if (!is_ours(path.c_str())) return false;
  const std::lock_guard lock(files().mutex);
  const auto [folder, name] = place_of(path);
  if (!folder) return false;
  const auto found = folder->files.find(name);
  if (found == folder->files.end()) {
    folder->files.emplace(name, bytes);
  } else {
    found->second.assign(bytes);
  }
  return true;
}

}  // namespace tidemark::fuzz

#define TIDEMARK_NEXT(name) \
  static auto* const name##_next = tidemark::fuzz::next<decltype(name)>(#name)
#define TIDEMARK_OURS extern "C" __attribute__((visibility("default")))

using namespace tidemark::fuzz;

TIDEMARK_OURS int open(const char* path, int flags, ...) {
  TIDEMARK_NEXT(open);
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (!is_ours(path)) return open_next(path, flags, mode);
  const std::lock_guard lock(files().mutex);
  const std::string* const file = file_at(path);
  if (!file) return failed(names_below(path).empty() ? ENOENT : EISDIR, -1);
  const auto free = std::ranges::find(files().open, nullptr);
  if (free == files().open.end()) return failed(EMFILE, -1);
  *free = file;
  return kFirst + static_cast<int>(free - files().open.begin());
}

TIDEMARK_OURS int close(int number) {
  TIDEMARK_NEXT(close);
  if (number < kFirst) return close_next(number);
  const std::lock_guard lock(files().mutex);
  if (!open_file(number)) return failed(EBADF, -1);
  files().open[static_cast<size_t>(number - kFirst)] = nullptr;
  return 0;
}

TIDEMARK_OURS ssize_t pread(int number, void* to, size_t size, off_t from) {
  TIDEMARK_NEXT(pread);
  if (number < kFirst) return pread_next(number, to, size, from);
  const std::lock_guard lock(files().mutex);
  const std::string* const file = open_file(number);
  if (!file || from < 0) return failed<ssize_t>(EBADF, -1);
  const size_t at = std::min(static_cast<size_t>(from), file->size());
  const size_t count = std::min(size, file->size() - at);
  std::memcpy(to, file->data() + at, count);
  return static_cast<ssize_t>(count);
}

TIDEMARK_OURS int fstat(int number, struct stat* to) {
  TIDEMARK_NEXT(fstat);
  if (number < kFirst) return fstat_next(number, to);
  const std::lock_guard lock(files().mutex);
  const std::string* const file = open_file(number);
  if (!file) return failed(EBADF, -1);
  tell(*to, file);
  return 0;
}

TIDEMARK_OURS int stat(const char* path, struct stat* to) {
  TIDEMARK_NEXT(stat);
  if (!is_ours(path)) return stat_next(path, to);
  const std::lock_guard lock(files().mutex);
  const std::string* const file = file_at(path);
  if (!file && names_below(path).empty()) return failed(ENOENT, -1);
  tell(*to, file);
  return 0;
}

TIDEMARK_OURS FILE* fopen(const char* path, const char* how) {
  TIDEMARK_NEXT(fopen);
  if (!is_ours(path)) return fopen_next(path, how);
  const std::lock_guard lock(files().mutex);
  const std::string* const file = file_at(path);
  if (!file) return failed<FILE*>(ENOENT, nullptr);
  return fmemopen(const_cast<char*>(file->data()), file->size(), "r");
}

TIDEMARK_OURS DIR* opendir(const char* path) {
  TIDEMARK_NEXT(opendir);
  if (!is_ours(path)) return opendir_next(path);
  const std::lock_guard lock(files().mutex);
  std::set<std::string> names = names_below(path);
  if (names.empty()) return failed<DIR*>(file_at(path) ? ENOTDIR : ENOENT, nullptr);
  auto* const made = new Listing{std::move(names), {}, {}};
  made->next = made->names.begin();
  files().listings.insert(made);
  return reinterpret_cast<DIR*>(made);
}

TIDEMARK_OURS dirent* readdir(DIR* folder) {
  TIDEMARK_NEXT(readdir);
  const std::lock_guard lock(files().mutex);
  if (!files().listings.contains(folder)) return readdir_next(folder);
  auto* const listing = reinterpret_cast<Listing*>(folder);
  if (listing->next == listing->names.end()) return nullptr;
  std::strncpy(listing->entry.d_name, (listing->next++)->c_str(), sizeof(dirent::d_name) - 1);
  return &listing->entry;
}

TIDEMARK_OURS int closedir(DIR* folder) {
  TIDEMARK_NEXT(closedir);
  {
    const std::lock_guard lock(files().mutex);
    if (files().listings.erase(folder) > 0) {
      delete reinterpret_cast<Listing*>(folder);
      return 0;
    }
  }
  return closedir_next(folder);
}
