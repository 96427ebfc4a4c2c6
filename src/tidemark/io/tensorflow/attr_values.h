// Values of attributes: AttrValue, TensorShapeProto and TensorProto as values of ours.
#pragma once

#include <tidemark/attr.h>
#include <tidemark/tensor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::io::tensorflow {

/// An AttrValue taken apart. Lists of numbers, bools and dtypes are all numbers.
struct AttrValue {
  enum class Kind : uint8_t { none, text, number, real, boolean, type, shape, tensor, function };
  Kind kind = Kind::none;
  bool is_list = false;
  std::vector<std::string_view> texts;  // text, function; shape and tensor: their bytes
  std::vector<int64_t> numbers;
  std::vector<double> reals;
};

/// Throws DataLossError for what is no AttrValue.
AttrValue read_attr_value(std::string_view bytes);
/// Throws DataLossError for what is no shape, or one of more dimensions than tensors have.
Shape read_shape(std::string_view bytes);
/// The bytes are checked against the shape before anything is allocated. Throws DataLossError,
/// UnimplementedError for dtypes that are not here.
TIDEMARK_API Tensor read_tensor(std::string_view bytes);
/// Throws UnimplementedError for TensorFlow's dtypes that are not here.
DType read_dtype(uint64_t number);

inline constexpr uint64_t kResourceType = 20, kVariantType = 21;

}  // namespace tidemark::io::tensorflow
