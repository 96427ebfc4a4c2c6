// Elements read from files, a part at a time.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "tidemark/base/text/crc32c.h"
#include "tidemark/data/dataset.h"

namespace tidemark::data {

namespace {

class DataLossError : public TypedError<Code::data_loss> {
 public:
  using TypedError::TypedError;
};

/// Records are no longer than this: a damaged length must not take all memory.
constexpr uint64_t kMostRecordBytes = uint64_t{1} << 31;

class File {
 public:
  explicit File(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "rb")) {
    if (!file_) fail<NotFoundError>(path, "; ", std::strerror(errno));
  }
  ~File() { std::fclose(file_); }
  File(const File&) = delete;

  /// Fewer bytes than asked for: the file is at its end.
  size_t read(char* to, size_t bytes) {
    const size_t got = std::fread(to, 1, bytes, file_);
    if (got < bytes && std::ferror(file_)) {
      fail<InternalError>(path_, "; ", std::strerror(errno));
    }
    return got;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::FILE* file_;
};

Tensor text_tensor(std::string_view text) { return Tensor::of_strings({&text, 1}, Shape{}); }

class Lines final : public Iterator {
 public:
  Lines(std::vector<std::string> files, size_t buffer) : files_(std::move(files)), part_(buffer) {}
  bool take_next(Element& out) override {
    while (true) {
      if (find_line(out)) return true;
      if (file_ && refill()) continue;
      if (file_ && !pending_.empty()) return give(std::exchange(pending_, {}), out);
      if (next_ >= files_.size()) return false;
      file_ = std::make_unique<File>(files_[next_++]);
      at_ = end_ = 0;
    }
  }

 private:
  bool find_line(Element& out) {
    const char* from = part_.data() + at_;
    const auto* stop = static_cast<const char*>(std::memchr(from, '\n', end_ - at_));
    if (!stop) {
      pending_.append(from, end_ - at_);
      at_ = end_;
      return false;
    }
    std::string line = std::exchange(pending_, {});
    line.append(from, static_cast<size_t>(stop - from));
    at_ = static_cast<size_t>(stop - part_.data()) + 1;
    return give(std::move(line), out);
  }
  bool give(std::string line, Element& out) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    out.assign(1, text_tensor(line));
    return true;
  }
  bool refill() {
    at_ = 0;
    end_ = file_->read(part_.data(), part_.size());
    return end_ > 0;
  }

  std::vector<std::string> files_;
  std::vector<char> part_;
  std::unique_ptr<File> file_;
  std::string pending_;
  size_t next_ = 0, at_ = 0, end_ = 0;
};

uint32_t masked(const char* data, size_t bytes) {
  const uint32_t crc = text::crc32c({data, bytes});
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

class Records final : public Iterator {
 public:
  explicit Records(std::vector<std::string> files) : files_(std::move(files)) {}
  bool take_next(Element& out) override {
    while (true) {
      if (file_ && read_record(out)) return true;
      file_.reset();
      if (next_ >= files_.size()) return false;
      file_ = std::make_unique<File>(files_[next_++]);
      at_ = 0;
    }
  }

 private:
  template <class... Pieces>
  [[noreturn]] void corrupted(const Pieces&... pieces) {
    const std::string where = message(file_->path(), " at byte ", at_, ": ", pieces...);
    file_.reset();
    next_ = files_.size();  // what follows damage cannot be trusted
    throw DataLossError(message("corrupted record in ", where));
  }

  bool read_record(Element& out) {
    char head[12];
    const size_t got = file_->read(head, sizeof(head));
    if (got == 0) return false;
    if (got < sizeof(head)) corrupted("the file ends in the middle of a length");
    uint64_t length = 0;
    uint32_t check = 0;
    std::memcpy(&length, head, 8);
    std::memcpy(&check, head + 8, 4);
    if (masked(head, 8) != check) corrupted("the checksum of the length is wrong");
    if (length > kMostRecordBytes) corrupted("a record of ", length, " bytes");
    record_.resize(length + 4);
    if (file_->read(record_.data(), record_.size()) < record_.size()) {
      corrupted("the file ends in the middle of a record of ", length, " bytes");
    }
    std::memcpy(&check, record_.data() + length, 4);
    if (masked(record_.data(), length) != check) corrupted("the checksum of the record is wrong");
    at_ += length + 16;
    out.assign(1, text_tensor({record_.data(), length}));
    return true;
  }

  std::vector<std::string> files_;
  std::unique_ptr<File> file_;
  std::string record_;
  size_t next_ = 0;
  uint64_t at_ = 0;
};

}  // namespace

DatasetRef text_lines(std::vector<std::string> files, int64_t buffer) {
  if (buffer <= 0) buffer = 256 << 10;
  return generated(
      [files = std::move(files), buffer]() -> std::unique_ptr<Iterator> {
        return std::make_unique<Lines>(files, static_cast<size_t>(buffer));
      },
      kUnknown, "TextLineDataset");
}

DatasetRef tf_records(std::vector<std::string> files) {
  return generated(
      [files = std::move(files)]() -> std::unique_ptr<Iterator> {
        return std::make_unique<Records>(files);
      },
      kUnknown, "TFRecordDataset");
}

}  // namespace tidemark::data
