// The header of a safetensors file: which tensors lie where.
//
//   Header header = read_header(path, json, data_bytes);
//   std::string json = write_header(header);
#pragma once

#include <tidemark/dtype.h>
#include <tidemark/export.h>
#include <tidemark/shape.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::io::safetensors {

/// Longer headers are refused, as by the format's own library.
inline constexpr uint64_t kLongestHeader = 100'000'000;

/// An element type of the format.
struct ElementType {
  std::string_view name;
  DType dtype;  // invalid: nothing here holds it
  uint64_t bits;
};
/// Null: no type of the format has that name, or holds that dtype.
const ElementType* find_type(std::string_view name);
const ElementType* find_type(DType dtype);

struct Entry {
  const ElementType* type = nullptr;
  Shape shape;
  uint64_t begin = 0, end = 0;  // bytes, counted from behind the header
};

struct Header {
  std::map<std::string, Entry, std::less<>> entries;
  std::map<std::string, std::string, std::less<>> metadata;
};

/// Throws DataLossError for everything the format forbids: other JSON than it asks for, a name that
/// stands twice, a span that is not its shape's, tensors that overlap, holes between or behind
/// them. What it allocates is bounded by the text. `path` is for messages.
TIDEMARK_API Header read_header(const std::string& path, std::string_view json,
                                uint64_t data_bytes);

/// The entries in the order of their bytes, padded with spaces so that the data is aligned.
TIDEMARK_API std::string write_header(const Header& header);

/// The order in which tensors are written, as by the format's own library: wide types first, so
/// that all are aligned, then by name.
TIDEMARK_API bool is_written_before(const ElementType* type, std::string_view name,
                                    const ElementType* other_type, std::string_view other_name);

}  // namespace tidemark::io::safetensors
