// MappedFile: a file's bytes without a copy, for as long as somebody holds it; or with one, where
// whoever else writes the file is not trusted: pages of a file that was cut short end the process.
//
//   std::shared_ptr<const MappedFile> file = MappedFile::open(path, MappedFile::How::copied);
//   use(file->bytes());
#pragma once

#include <tidemark/export.h>
#include <tidemark/tensor.h>

#include <memory>
#include <string>
#include <string_view>

namespace tidemark::io {

class TIDEMARK_API MappedFile {
 public:
  enum class How { mapped, copied };
  /// Throws NotFoundError where there is none and InvalidArgumentError for what is no plain file.
  static std::shared_ptr<const MappedFile> open(const std::string& path, How how = How::mapped);
  /// A file that a model names, inside the model's folder: no absolute path, no "..", no symbolic
  /// or second hard link. Throws InvalidArgumentError for those.
  static std::shared_ptr<const MappedFile> open_inside(const std::string& folder,
                                                       std::string_view location, How how);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  How how() const { return copy_ ? How::copied : How::mapped; }
  std::string_view bytes() const { return {data_, size_}; }
  /// Pages that were read go back to the system; touching them reads them again.
  void forget_pages() const noexcept;

 private:
  MappedFile(std::string path, int descriptor, bool one_link, How how);

  std::string path_;
  Tensor copy_;  // nothing: the bytes are the file's
  char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace tidemark::io
