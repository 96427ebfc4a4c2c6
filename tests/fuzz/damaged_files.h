// What the fuzzers of files share: damage, a place for the files, and how an execution ends.
#pragma once

#include <fcntl.h>
#include <tidemark/error.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "fuzzer.h"
#include "memory_files.h"

namespace tidemark::fuzz {

inline std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The files of a folder of well-formed inputs.
inline std::vector<std::string> files_in(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> files;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    files.push_back(read_bytes(at->path().string()));
  }
  std::ranges::sort(files);  // a seed gives the same whatever the order of the folder
  if (error || files.empty()) found("no inputs in " + folder + "; --corpora= says where");
  return files;
}

inline void put_bytes(const std::string& path, std::string_view bytes) {
  if (put_in_memory(path, bytes)) return;
  // Without O_TRUNC the pages stay where they are.
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes.size())) != 0 ||
      ::write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    found("no room for " + path);
  }
  ::close(file);
}

/// Mostly something of [from, to) becomes something else of the same length, which leaves the
/// lengths around it right; some bytes go, or come: rubbish, or a part of the file once more.
inline void damage(std::string& bytes, Random& random, size_t from = 0,
                   size_t to = std::string::npos) {
  to = std::min(to, bytes.size());
  if (from >= to) return;
  const size_t at = from + random() % (to - from);
  const auto part = [&](size_t most) {
    return bytes.substr(random() % bytes.size(), 1 + random() % most);
  };
  switch (random() % 9) {
    case 0:
    case 1:
      bytes[at] ^= static_cast<char>(1 << random() % 8);
      break;
    case 2:
      bytes[at] = static_cast<char>(random());
      break;
    case 3:
      bytes[at] = static_cast<char>(random() % 2 ? 0x7f : 0xff);
      break;
    case 4:
    case 5: {
      const std::string other = part(std::min<size_t>(16, to - at));
      bytes.replace(at, other.size(), other);
      break;
    }
    case 6:
      bytes.erase(at, 1 + random() % 8);
      break;
    case 7:
      bytes.insert(at, part(64));
      break;
    default:
      bytes.insert(at, std::string(1 + random() % 9, static_cast<char>(random())));
  }
}

/// A few times.
inline void damage_often(std::string& bytes, Random& random, size_t from = 0,
                         size_t to = std::string::npos) {
  for (auto n = 1 + random() % 4; n > 0; --n) damage(bytes, random, from, to);
}

/// A folder of this process, in memory if there is one and no other is asked for: many small files,
/// none worth a disk.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& name) {
    const std::filesystem::path memory = "/dev/shm";
    const bool is_in_memory = !std::getenv("TMPDIR") && ::access(memory.c_str(), W_OK) == 0;
    const std::filesystem::path place =
        is_in_memory ? memory : std::filesystem::temp_directory_path();
    path_ = place / (name + "_" + std::to_string(::getpid()));
    std::filesystem::create_directories(path_);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  std::string path() const { return path_.string(); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// Whether the work came to its end, rather than to a typed error that says something.
template <class Work>
bool ends_well(Work&& work) {
  try {
    return work();
  } catch (const Error& error) {
    if (*error.what() == '\0') found("an error without words");
    return false;
  }
}

}  // namespace tidemark::fuzz
