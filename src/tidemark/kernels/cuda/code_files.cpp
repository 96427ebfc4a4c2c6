#include "tidemark/kernels/cuda/code_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "tidemark/base/settings.h"
#include "tidemark/base/text/crc32c.h"
#include "tidemark/base/text/fingerprint.h"

namespace tidemark::cuda {

namespace {

namespace fs = std::filesystem;

struct Header {
  uint32_t magic = 0x314b4d54;  // "TMK1"
  uint32_t checksum = 0;        // of all that follows the header
  uint64_t source_bytes = 0;    // with the target, in front of the code
};

/// Empty where the environment names none.
fs::path cache_folder() {
  if (const char* caches = std::getenv("XDG_CACHE_HOME"); caches && *caches == '/') {
    return fs::path(caches) / "tidemark-kernels";
  }
  if (const char* home = std::getenv("HOME"); home && *home == '/') {
    return fs::path(home) / ".cache" / "tidemark-kernels";
  }
  return {};
}

/// Made where it is missing. Code that others could have written is not run.
bool is_ours_alone(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return false;
  struct stat facts {};
  return lstat(folder.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) &&
         facts.st_uid == geteuid() && (facts.st_mode & 022) == 0;
}

void remove_oldest(const fs::path& folder, int64_t most_bytes) {
  struct File {
    fs::path path;
    fs::file_time_type written;
    int64_t bytes;
  };
  std::vector<File> files;
  int64_t sum = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::error_code of_one;
    const auto bytes = static_cast<int64_t>(entry.file_size(of_one));
    const auto written = entry.last_write_time(of_one);
    if (of_one) continue;  // another process removed it
    files.push_back({entry.path(), written, bytes});
    sum += bytes;
  }
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.written < b.written; });
  for (size_t i = 0; i < files.size() && sum > most_bytes; ++i) {
    fs::remove(files[i].path, error);
    sum -= files[i].bytes;
  }
}

}  // namespace

CodeFiles::CodeFiles(std::string target)
    : target_(std::move(target)), most_bytes_(settings::bytes(settings::kKernelCache).value_or(0)) {
  const fs::path folder = most_bytes_ > 0 ? cache_folder() : fs::path();
  if (!folder.empty() && is_ours_alone(folder)) folder_ = folder.string();
}

std::string CodeFiles::path_of(const std::string& source) const {
  char name[32];
  std::snprintf(name, sizeof name, "/%016llx",
                static_cast<unsigned long long>(text::farm_fingerprint(target_ + source)));
  return folder_ + name;
}

std::string CodeFiles::read(const std::string& source) const {
  if (folder_.empty()) return {};
  std::ifstream file(path_of(source), std::ios::binary);
  if (!file) return {};
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  Header header;
  if (all.size() < sizeof header) return {};
  std::memcpy(&header, all.data(), sizeof header);
  const std::string_view rest = std::string_view(all).substr(sizeof header);
  const std::string whole = target_ + source;
  if (header.magic != Header().magic || header.checksum != text::crc32c(rest) ||
      header.source_bytes != whole.size() || !rest.starts_with(whole)) {
    return {};
  }
  return std::string(rest.substr(whole.size()));
}

void CodeFiles::write(const std::string& source, const std::string& code) const {
  if (folder_.empty()) return;
  const std::string rest = target_ + source + code;
  const Header header{.checksum = text::crc32c(rest),
                      .source_bytes = target_.size() + source.size()};
  // Seen whole or not at all: under another name until it is complete.
  const std::string path = path_of(source), parts = path + "." + std::to_string(getpid());
  {
    std::ofstream file(parts, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(&header), sizeof header);
    file << rest;
    if (!file.flush()) {
      std::remove(parts.c_str());
      return;
    }
  }
  if (std::rename(parts.c_str(), path.c_str()) != 0) std::remove(parts.c_str());
  remove_oldest(folder_, most_bytes_);
}

}  // namespace tidemark::cuda
