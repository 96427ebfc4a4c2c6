#include "tidemark/data/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "tidemark/base/text/crc32c.h"

namespace tidemark::data {

File::File(std::string path)
    : path_(std::move(path)),
      file_(std::fopen(path_.c_str(), "rb")),
      size_(std::numeric_limits<uint64_t>::max()) {
  if (!file_) fail<NotFoundError>(path_, "; ", std::strerror(errno));
  struct stat about {};
  if (fstat(fileno(file_), &about) == 0 && S_ISREG(about.st_mode)) {
    size_ = static_cast<uint64_t>(about.st_size);
  }
}

File::~File() { std::fclose(file_); }

size_t File::read(char* to, size_t bytes) {
  const size_t got = std::fread(to, 1, bytes, file_);
  if (got < bytes && std::ferror(file_)) {
    fail<FailedPreconditionError>(path_, "; ", std::strerror(errno));
  }
  return got;
}

void File::seek(uint64_t position) {
  if (fseeko(file_, static_cast<off_t>(position), SEEK_SET) != 0) {
    fail<FailedPreconditionError>(path_, "; ", std::strerror(errno));
  }
}

uint32_t masked_checksum(const char* data, size_t bytes) {
  return text::masked_crc32c(text::crc32c({data, bytes}));
}

namespace {

std::string working_name(const std::string& path) {
  static std::atomic<uint64_t> last{0};
  return message(path, ".writing-", ::getpid(), "-", ++last);
}

}  // namespace

RecordWriter::RecordWriter(std::string path)
    : path_(std::move(path)),
      working_path_(working_name(path_)),
      file_(std::fopen(working_path_.c_str(), "wb")) {
  if (!file_) fail<NotFoundError>(working_path_, "; ", std::strerror(errno));
}

RecordWriter::~RecordWriter() {
  if (!file_) return;
  std::fclose(file_);
  std::remove(working_path_.c_str());
}

void RecordWriter::failed() const {
  fail<ResourceExhaustedError>("writing ", working_path_, "; ", std::strerror(errno));
}

void RecordWriter::write(const void* data, size_t bytes) {
  if (bytes > 0 && std::fwrite(data, 1, bytes, file_) != bytes) failed();
}

void RecordWriter::add(std::string_view record) {
  const uint64_t length = record.size();
  char head[12];
  std::memcpy(head, &length, 8);
  const uint32_t check = masked_checksum(head, 8);
  std::memcpy(head + 8, &check, 4);
  write(head, sizeof(head));
  write(record.data(), record.size());
  const uint32_t whole = masked_checksum(record.data(), record.size());
  write(&whole, sizeof(whole));
}

void RecordWriter::finish() {
  if (std::fflush(file_) != 0 || ::fsync(fileno(file_)) != 0) failed();
  if (std::fclose(std::exchange(file_, nullptr)) != 0 ||
      std::rename(working_path_.c_str(), path_.c_str()) != 0) {
    const int why = errno;
    std::remove(working_path_.c_str());
    errno = why;
    failed();
  }
}

}  // namespace tidemark::data
