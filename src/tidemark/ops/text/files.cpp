#include "tidemark/ops/text/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <tidemark/error.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "tidemark/base/file_access.h"

namespace tidemark::text {

namespace {

class OpenFile {
 public:
  OpenFile(std::string_view op, std::string_view name) : op_(op), name_(name) {
    check_files_allowed(op);
    if (name_.find('\0') != std::string::npos) {
      fail<InvalidArgumentError>("[", op, "] the name of a file holds a zero byte");
    }
    descriptor_ = open(name_.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) {
      const int error = errno;
      close_it();
      fail<NotFoundError>("[", op, "] ", name_, "; ", std::strerror(error));
    }
    if (S_ISDIR(status.st_mode)) {
      close_it();
      fail<FailedPreconditionError>("[", op, "] ", name_, " is a directory");
    }
    size_ = status.st_size;
  }
  ~OpenFile() { close_it(); }
  OpenFile(const OpenFile&) = delete;
  int64_t size() const { return size_; }

  int64_t read_into(char* out, int64_t capacity) {
    int64_t total = 0;
    while (total < capacity) {
      const ssize_t got = read(descriptor_, out + total, static_cast<size_t>(capacity - total));
      if (got == 0) break;
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        fail<FailedPreconditionError>("[", op_, "] ", name_, "; ", std::strerror(errno));
      }
      total += got;
    }
    return total;
  }

 private:
  void close_it() {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
  }
  std::string op_, name_;
  int descriptor_ = -1;
  int64_t size_ = 0;
};

}  // namespace

int64_t file_size(std::string_view op, std::string_view name) {
  OpenFile file(op, name);
  if (file.size() > 0) return file.size();
  char block[4096];  // /proc and the like say 0
  int64_t total = 0;
  while (const int64_t got = file.read_into(block, sizeof block)) total += got;
  return total;
}

int64_t read_file(std::string_view op, std::string_view name, char* out, int64_t capacity) {
  return OpenFile(op, name).read_into(out, capacity);
}

}  // namespace tidemark::text
