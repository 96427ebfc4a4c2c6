// Tensors by name in a safetensors file.
//
//   const File file(path);                        // mapped; nothing is copied
//   Tensor w = file.read("layer/kernel");         // over the file's own pages
//   write_file("out.safetensors", {{"w", w}}, {{"format", "tf"}});
#pragma once

#include <tidemark/tensor.h>

#include <functional>
#include <memory>

#include "tidemark/io/mapped_file.h"
#include "tidemark/io/safetensors/header.h"

namespace tidemark::io::safetensors {

/// Any number of threads. A file must not be cut short while tensors over it are alive.
class TIDEMARK_API File {
 public:
  /// Throws NotFoundError where there is none, DataLossError where it breaks the format.
  explicit File(const std::string& path);
  /// Bytes in memory, which must outlive this; tensors are copies of them.
  explicit File(std::string_view bytes);

  const std::map<std::string, Entry, std::less<>>& entries() const { return header_.entries; }
  const std::map<std::string, std::string, std::less<>>& metadata() const {
    return header_.metadata;
  }
  /// Read-only, over the mapped file where the address suits the dtype; else a copy. Throws
  /// NotFoundError for a name that is not there, UnimplementedError for a type that nothing here
  /// holds.
  Tensor read(std::string_view name) const;
  /// Throws UnimplementedError with every tensor whose type nothing here holds.
  void check_all_readable() const;

 private:
  void read_header_of(const std::string& name);

  std::shared_ptr<const MappedFile> mapped_;  // null: bytes of another owner
  std::string_view bytes_, data_;
  Header header_;
};

using Tensors = std::map<std::string, Tensor, std::less<>>;
using Metadata = std::map<std::string, std::string, std::less<>>;

/// Hands the bytes of such a file to `put`, piece by piece, a tensor each. Throws
/// UnimplementedError with every tensor that has no form there, before the first piece.
TIDEMARK_API void write(const Tensors& tensors, const Metadata& metadata,
                        const std::function<void(std::string_view)>& put);
/// Written as a whole or not at all.
TIDEMARK_API void write_file(const std::string& path, const Tensors& tensors,
                             const Metadata& metadata);

}  // namespace tidemark::io::safetensors
