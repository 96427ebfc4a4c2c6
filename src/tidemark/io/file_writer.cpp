#include "tidemark/io/file_writer.h"

#include <fcntl.h>
#include <tidemark/error.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <utility>

#include "tidemark/io/file_system.h"
#include "tidemark/io/folder_writer.h"

namespace tidemark::io {

namespace {

constexpr size_t kPendingBytes = size_t{1} << 20;
constexpr uint64_t kBegunBytes = uint64_t{8} << 20;  // that the disk begins with while more come
constexpr std::string_view kMark = ".writing-";

void write_all(int descriptor, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_at(path, "write", errno);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// Process ids mean something on one machine alone.
std::string mark_of_this_machine() {
  char name[256] = {};
  ::gethostname(name, sizeof(name) - 1);
  return message(kMark, std::hash<std::string_view>{}(name), "-");
}

}  // namespace

void sync_folder_of(const std::string& path) {
  const int folder = ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

std::string name_while_written(const std::string& path) {
  static std::atomic<uint64_t> last{0};
  return message(path, mark_of_this_machine(), static_cast<int64_t>(::getpid()), "-", ++last);
}

FileWriter::FileWriter(std::string path) : path_(std::move(path)) {
  temporary_ = name_while_written(path_);
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_at(path_, "write", errno);
}

FileWriter::~FileWriter() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void FileWriter::write(std::string_view bytes) {
  if (pending_.size() + bytes.size() > kPendingBytes) flush();
  if (bytes.size() >= kPendingBytes) return put(bytes);
  pending_.append(bytes);
}

void FileWriter::flush() {
  put(pending_);
  pending_.clear();
}

/// Cut, so that the disk has something to do from early on and the flush at the end finds little
/// left.
void FileWriter::put(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kBegunBytes);
    write_all(descriptor_, piece, path_);
    bytes.remove_prefix(piece.size());
    written_ += piece.size();
    if (written_ - begun_ < kBegunBytes) continue;
#ifdef SYNC_FILE_RANGE_WRITE
    ::sync_file_range(descriptor_, static_cast<off_t>(begun_),
                      static_cast<off_t>(written_ - begun_), SYNC_FILE_RANGE_WRITE);
#endif
    begun_ = written_;
  }
}

void FileWriter::commit() {
  flush();
  if (::fsync(descriptor_) != 0) fail_at(path_, "flush", errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_at(path_, "rename to", errno);
  ::close(std::exchange(descriptor_, -1));
  sync_folder_of(path_);
}

void remove_abandoned(const std::string& path) {
  const std::string mark = mark_of_this_machine();
  const std::string folder = folder_of(path);
  std::error_code ignored;
  for (const std::string& name : names_in(folder, ignored)) {
    const size_t at = name.rfind(mark);
    if (at == std::string::npos) continue;
    const long writer = std::strtol(name.c_str() + at + mark.size(), nullptr, 10);
    if (writer > 0 && ::kill(static_cast<pid_t>(writer), 0) != 0 && errno == ESRCH) {
      remove_tree((std::filesystem::path(folder) / name).string());
    }
  }
}

}  // namespace tidemark::io
