// Tensors in one file, found by name: what checkpoints and saved models are. docs/saved-model.md
// tells the bytes.
//
//   write_tensor_file("model-1.tidemark", "checkpoint", metadata, {{"w", w}, {"b", b}});
//   TensorFile file("model-1.tidemark");
//   Tensor w = file.read("w");
#pragma once

#include <tidemark/tensor.h>

#include <map>
#include <string>
#include <vector>

#include "tidemark/io/input_file.h"

namespace tidemark::io {

struct NamedTensor {
  std::string name;
  Tensor value;
};

/// Written as a whole or not at all; see file_writer.h. Names must differ.
TIDEMARK_API void write_tensor_file(const std::string& path, std::string_view kind,
                                    std::string_view metadata, std::span<const NamedTensor> all);

/// Nothing the file says is believed: sizes are checked against it before anything is allocated.
/// Throws NotFoundError where there is none and DataLossError where it is damaged. Any number of
/// threads.
class TIDEMARK_API TensorFile {
 public:
  struct Entry {
    DType dtype = DType::invalid;
    Shape shape;
    uint64_t offset = 0, bytes = 0;
    uint32_t checksum = 0;
  };

  explicit TensorFile(std::string path);

  const std::string& path() const { return file_.path(); }
  const std::string& kind() const { return kind_; }
  const std::string& metadata() const { return metadata_; }
  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }
  bool has(std::string_view name) const { return entries_.find(name) != entries_.end(); }
  /// Throws NotFoundError for a name that is not there.
  Tensor read(std::string_view name) const;
  /// The two halves of it: memory of the tensor's size, and its elements into such memory. Texts
  /// have no size before they are read: reserve reads them, and fill does nothing.
  Tensor reserve(std::string_view name) const;
  void fill(std::string_view name, const Tensor& reserved) const;

 private:
  void read_index();
  void add_entry(std::string_view bytes);
  Tensor read_strings(const Entry& entry) const;
  const Entry& entry_of(std::string_view name) const;
  [[noreturn]] void damaged(std::string_view what) const;

  InputFile file_;
  std::string kind_, metadata_;
  std::map<std::string, Entry, std::less<>> entries_;
  uint64_t first_byte_ = 0;
};

}  // namespace tidemark::io
