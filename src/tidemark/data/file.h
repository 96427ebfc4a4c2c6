// A file that is read from its beginning to its end, and one that is there as a whole or not at
// all.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include <tidemark/error.h>

namespace tidemark::data {

using DataLossError = TypedError<Code::data_loss>;

class File {
 public:
  explicit File(std::string path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// Fewer bytes than asked for: the file is at its end.
  size_t read(char* to, size_t bytes);
  void seek(uint64_t position);
  /// Of a plain file; of anything else as much as can be.
  uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::FILE* file_;
  uint64_t size_;
};

/// Appends records with their checksums to a file of another name, until `finish` gives it its own.
class RecordWriter {
 public:
  explicit RecordWriter(std::string path);
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  void add(std::string_view record);
  void finish();

 private:
  void write(const void* data, size_t bytes);
  [[noreturn]] void failed() const;
  std::string path_, working_path_;
  std::FILE* file_;
};

/// The checksum of TFRecord files.
uint32_t masked_checksum(const char* data, size_t bytes);

}  // namespace tidemark::data
