#include "tidemark/io/weights/npy.h"

#include <tidemark/handler.h>
#include <tidemark/ops.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "tidemark/io/input_file.h"
#include "tidemark/io/stored_size.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::io::weights {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct Named {
  std::string_view type;
  DType dtype;
};
constexpr std::array kTypes = {
    Named{"|b1", DType::bool_},     Named{"|i1", DType::int8},        Named{"|u1", DType::uint8},
    Named{"<i2", DType::int16},     Named{"<u2", DType::uint16},      Named{"<i4", DType::int32},
    Named{"<u4", DType::uint32},    Named{"<i8", DType::int64},       Named{"<u8", DType::uint64},
    Named{"<f2", DType::float16},   Named{"<f4", DType::float32},     Named{"<f8", DType::float64},
    Named{"<c8", DType::complex64}, Named{"<c16", DType::complex128},
};

/// What stands behind 'key': in the header's dictionary, up to its end.
std::string_view value_of(std::string_view header, std::string_view key) {
  const size_t at = header.find(key);
  if (at == std::string_view::npos) return {};
  std::string_view rest = header.substr(at + key.size());
  const size_t begin = rest.find_first_not_of(" :");
  return begin == std::string_view::npos ? std::string_view() : rest.substr(begin);
}

/// "(3, 4)": false where it is malformed.
bool take_shape(std::string_view text, Shape& shape) {
  if (!text.starts_with("(")) return false;
  text.remove_prefix(1);
  while (true) {
    const size_t begin = text.find_first_not_of(" ,");
    if (begin == std::string_view::npos) return false;
    text.remove_prefix(begin);
    if (text.starts_with(")")) return true;
    int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || size < 0 || shape.rank() >= Shape::kMaxRank) return false;
    shape.push_back(size);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (text.starts_with("L")) text.remove_prefix(1);  // Python 2's long integers
  }
}

}  // namespace

NpyArray read_npy_header(std::string_view head, uint64_t size, const std::string& name) {
  const auto damaged = [&](std::string_view what) { fail_damaged(name, what); };
  if (!head.starts_with(kMagic) || head.size() < 12) damaged("it is no array of NumPy's");
  const int version = head[6];
  uint64_t length = 0;
  const uint64_t head_size = version == 1 ? 10 : 12;
  std::memcpy(&length, head.data() + 8, version == 1 ? 2 : 4);
  if (version < 1 || version > 3) damaged("its version of the format is not known");
  if (length > head.size() - head_size) damaged("its header is cut short, or too long");
  const std::string_view header = head.substr(head_size, length);
  NpyArray out;
  out.data_at = head_size + length;
  const std::string_view type = value_of(header, "'descr'");
  const std::string_view order = value_of(header, "'fortran_order'");
  if (!type.starts_with("'") || !take_shape(value_of(header, "'shape'"), out.shape)) {
    // Records and objects: a list of fields stands there, or what only pickle could read.
    if (!type.starts_with("'")) {
      out.type = "a record";
      return out;
    }
    damaged("its header is malformed");
  }
  out.type = type.substr(1, type.find('\'', 1) - 1);
  out.is_column_major = order.starts_with("True");
  const auto* found = std::ranges::find(kTypes, std::string_view(out.type), &Named::type);
  if (found == kTypes.end()) return out;
  out.dtype = found->dtype;
  const std::optional<uint64_t> elements = elements_within(out.shape, size_of(out.dtype), size);
  if (!elements || *elements * size_of(out.dtype) != size - out.data_at) {
    damaged(message("its shape ", out.shape, " of ", out.type, " does not fit its bytes"));
  }
  out.bytes = *elements * size_of(out.dtype);
  return out;
}

Tensor tensor_over(DType dtype, const Shape& shape, std::string_view bytes,
                   const std::shared_ptr<const void>& owner) {
  const bool is_aligned = reinterpret_cast<uintptr_t>(bytes.data()) % size_of(dtype) == 0;
  if (owner && is_aligned && dtype != DType::bool_ && !bytes.empty()) {
    using Owner = std::shared_ptr<const void>;
    const auto give_back = [](void* held) { delete static_cast<Owner*>(held); };
    return borrowed_tensor(dtype, shape, const_cast<char*>(bytes.data()), true, give_back,
                           new Owner(owner));
  }
  Tensor out = new_tensor(dtype, shape);
  if (dtype == DType::bool_) {
    std::ranges::transform(bytes, static_cast<bool*>(out.mutable_raw_data()),
                           [](char byte) { return byte != 0; });
  } else if (!bytes.empty()) {
    std::memcpy(out.mutable_raw_data(), bytes.data(), bytes.size());
  }
  return out;
}

Tensor npy_tensor(const NpyArray& array, std::string_view elements,
                  const std::shared_ptr<const void>& owner) {
  if (!array.is_column_major || array.shape.rank() < 2) {
    return tensor_over(array.dtype, array.shape, elements, owner);
  }
  const NoHandlers now;
  Shape turned;
  Ints order;
  for (int i = array.shape.rank(); i-- > 0;) {
    turned.push_back(array.shape[i]);
    order.push_back(i);
  }
  return transpose(tensor_over(array.dtype, turned, elements, owner), order);
}

std::string npy_header(DType dtype, const Shape& shape) {
  const auto* found = std::ranges::find(kTypes, dtype, &Named::dtype);
  if (found == kTypes.end()) {
    fail<UnimplementedError>("NumPy's format has no form for ", name_of(dtype));
  }
  std::string text = message("{'descr': '", found->type, "', 'fortran_order': False, 'shape': (");
  for (const int64_t size : shape) text += message(size, shape.rank() == 1 ? "," : ", ");
  if (shape.rank() > 1) text.resize(text.size() - 2);
  text += "), }";
  const size_t whole = (10 + text.size() + 1 + 63) / 64 * 64;
  text.resize(whole - 11, ' ');
  text += '\n';
  const auto length = static_cast<uint16_t>(text.size());
  std::string out(kMagic);
  out += std::string_view("\1\0", 2);
  out.append(reinterpret_cast<const char*>(&length), 2);
  return out + text;
}

}  // namespace tidemark::io::weights
