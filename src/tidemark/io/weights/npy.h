// The header of an array in NumPy's own format.
#pragma once

#include <tidemark/tensor.h>

#include <memory>
#include <string>
#include <string_view>

namespace tidemark::io::weights {

struct NpyArray {
  std::string type;              // NumPy's: "<f4"
  DType dtype = DType::invalid;  // invalid: nothing here holds it
  Shape shape;
  bool is_column_major = false;
  uint64_t data_at = 0, bytes = 0;  // of the elements
};

/// `size`: of the whole member; `head`: its first bytes, enough for the header (at most
/// kLongestNpyHeader). Throws DataLossError, naming the array, for what breaks the format.
inline constexpr uint64_t kLongestNpyHeader = 65536;
NpyArray read_npy_header(std::string_view head, uint64_t size, const std::string& name);

/// A tensor over these elements, or a copy where they lie by columns or are not aligned.
/// `owner`: keeps them where they are; null: they are copied.
Tensor npy_tensor(const NpyArray& array, std::string_view elements,
                  const std::shared_ptr<const void>& owner);

/// A tensor that borrows bytes for as long as `owner` is held; a copy where the address does not
/// suit the dtype, and of bools, since any byte may stand in a file.
Tensor tensor_over(DType dtype, const Shape& shape, std::string_view bytes,
                   const std::shared_ptr<const void>& owner);

/// The start of a file of one array, whose version and length of header follow.
std::string npy_header(DType dtype, const Shape& shape);

}  // namespace tidemark::io::weights
