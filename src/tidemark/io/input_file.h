// InputFile: a file that is read at any place, by any number of threads, and never believed.
//
//   InputFile file(path);
//   std::string footer = file.read(file.size() - 48, 48);
#pragma once

#include <tidemark/error.h>
#include <tidemark/export.h>

#include <string>
#include <string_view>

namespace tidemark {

/// A file is damaged or cut short.
using DataLossError = TypedError<Code::data_loss>;

}  // namespace tidemark

namespace tidemark::io {

/// Throws DataLossError: what is wrong with the file, and what to do.
[[noreturn]] TIDEMARK_API void fail_damaged(const std::string& path, std::string_view what);

class TIDEMARK_API InputFile {
 public:
  /// Throws NotFoundError where there is none, InvalidArgumentError for a folder or a pipe, and
  /// what fail_at() does for what the system says.
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  /// When it was opened.
  uint64_t size() const { return size_; }
  bool has(uint64_t offset, uint64_t count) const {
    return offset <= size_ && count <= size_ - offset;
  }
  /// Throws DataLossError where the file ends before that; nothing is allocated first.
  void read(uint64_t offset, char* to, uint64_t count) const;
  std::string read(uint64_t offset, uint64_t count) const;

 private:
  std::string path_;
  uint64_t size_ = 0;
  int descriptor_ = -1;
};

}  // namespace tidemark::io
