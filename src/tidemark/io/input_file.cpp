#include "tidemark/io/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "tidemark/io/file_system.h"

namespace tidemark::io {

void fail_damaged(const std::string& path, std::string_view what) {
  fail<DataLossError>(path, " is damaged: ", what, ". Restore it from another copy");
}

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  do {  // a FIFO is told, not waited for
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  } while (descriptor_ < 0 && errno == EINTR);
  if (descriptor_ < 0) fail_at(path_, "read", errno);
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    fail<InvalidArgumentError>(path_, " is not a file");
  }
  size_ = static_cast<uint64_t>(status.st_size);
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read(uint64_t offset, char* to, uint64_t count) const {
  if (!has(offset, count)) fail_damaged(path_, "it is cut short");
  while (count > 0) {
    const ssize_t got = ::pread(descriptor_, to, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_at(path_, "read", errno);
    if (got == 0) fail_damaged(path_, "it is shorter than it was");
    to += got;
    offset += static_cast<uint64_t>(got);
    count -= static_cast<uint64_t>(got);
  }
}

std::string InputFile::read(uint64_t offset, uint64_t count) const {
  if (!has(offset, count)) fail_damaged(path_, "it is cut short");
  std::string out(count, '\0');
  read(offset, out.data(), count);
  return out;
}

}  // namespace tidemark::io
