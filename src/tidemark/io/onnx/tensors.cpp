#include "tidemark/io/onnx/tensors.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "tidemark/io/input_file.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::io::onnx {

namespace {

constexpr int64_t kMostDenseOfSparse = int64_t{1} << 28;  // bytes that a few entries may ask for

[[noreturn]] void damaged(const TensorMessage& tensor, std::string_view what) {
  fail<DataLossError>("the tensor '", tensor.name, "' of the model ", what);
}

int64_t bits_of(Element element) {
  switch (element) {
    case Element::uint4:
    case Element::int4:
    case Element::float4e2m1:
      return 4;
    case Element::uint2:
    case Element::int2:
      return 2;
    default:
      return static_cast<int64_t>(size_of(storage_of(element))) * 8;
  }
}

int64_t count_of(const TensorMessage& tensor) {
  int64_t count = 1;
  for (const int64_t dim : tensor.dims) {
    if (__builtin_mul_overflow(count, dim, &count) || count > (int64_t{1} << 46)) {
      damaged(tensor, "has impossible sizes");
    }
  }
  return count;
}

int64_t packed_bytes(int64_t count, Element element) { return (count * bits_of(element) + 7) / 8; }

uint64_t take_offset(const TensorMessage& tensor, std::string_view key, uint64_t unless_said) {
  for (const auto& [name, text] : tensor.external) {
    if (name != key) continue;
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      damaged(tensor, message("has the ", key, " \"", text, "\""));
    }
    return value;
  }
  return unless_said;
}

/// Small elements, first in the low bits, one a byte.
void unpack(std::string_view packed, Element element, int64_t count, uint8_t* to) {
  const auto bits = static_cast<int>(bits_of(element));
  const int in_byte = 8 / bits;
  const bool is_signed = storage_of(element) == DType::int8;
  for (int64_t i = 0; i < count; ++i) {
    const auto byte = static_cast<uint8_t>(packed[static_cast<size_t>(i / in_byte)]);
    auto value = static_cast<uint8_t>((byte >> (bits * (i % in_byte))) & ((1 << bits) - 1));
    if (is_signed && (value >> (bits - 1))) value |= static_cast<uint8_t>(0xFF << bits);
    to[i] = value;
  }
}

void check_raw(const TensorMessage& tensor, int64_t count, std::string_view raw) {
  if (static_cast<int64_t>(raw.size()) != packed_bytes(count, tensor.element)) {
    damaged(tensor, message("holds ", raw.size(), " bytes for ", count, " elements of ",
                            name_of(tensor.element)));
  }
}

Value from_raw(const TensorMessage& tensor, const Shape& shape, int64_t count,
               std::string_view raw) {
  check_raw(tensor, count, raw);
  const Tensor out = new_tensor(storage_of(tensor.element), shape);
  if (bits_of(tensor.element) < 8) {
    unpack(raw, tensor.element, count, static_cast<uint8_t*>(out.mutable_raw_data()));
  } else if (tensor.element == Element::boolean) {
    // Any other byte is no bool to C++.
    std::ranges::transform(raw, static_cast<bool*>(out.mutable_raw_data()),
                           [](char byte) { return byte != 0; });
  } else if (count > 0) {
    std::memcpy(out.mutable_raw_data(), raw.data(), raw.size());
  }
  return {out, tensor.element};
}

/// The file that a tensor lies in, and its bytes there.
struct Place {
  std::shared_ptr<const MappedFile> file;
  std::string_view raw;
};

Place place_of(const TensorMessage& tensor, int64_t count, ExternalFiles& files) {
  std::string_view location;
  for (const auto& [name, text] : tensor.external) {
    if (name == "location") location = text;
  }
  const std::shared_ptr<const MappedFile>& file = files.open(location);
  const uint64_t offset = take_offset(tensor, "offset", 0);
  const uint64_t wanted = static_cast<uint64_t>(packed_bytes(count, tensor.element));
  const uint64_t length = take_offset(tensor, "length", wanted);
  const std::string_view all = file->bytes();
  if (offset > all.size() || length > all.size() - offset || length != wanted) {
    damaged(tensor, message("lies at ", offset, " with ", length, " bytes of ", file->path(),
                            ", which has ", all.size(), "; its shape needs ", wanted));
  }
  return {file, all.substr(offset, length)};
}

Value from_external(const TensorMessage& tensor, const Shape& shape, int64_t count,
                    ExternalFiles& files) {
  const auto [file, raw] = place_of(tensor, count, files);
  const DType dtype = storage_of(tensor.element);
  if (count == 0 || bits_of(tensor.element) < 8 ||
      reinterpret_cast<uintptr_t>(raw.data()) % size_of(dtype) != 0) {
    return from_raw(tensor, shape, count, raw);
  }
  using Owner = std::shared_ptr<const MappedFile>;
  auto* owner = new Owner(file);
  const auto give_back = [](void* held) { delete static_cast<Owner*>(held); };
  return {borrowed_tensor(dtype, shape, const_cast<char*>(raw.data()), true, give_back, owner),
          tensor.element};
}

void check_strings(const TensorMessage& tensor, int64_t count) {
  if (static_cast<int64_t>(tensor.strings.size()) == count) return;
  damaged(tensor, message("holds ", tensor.strings.size(), " texts for ", count, " elements"));
}

/// Calls `put(bits)` for each number of the typed fields.
template <class Put>
void each_number(const TensorMessage& tensor, const Put& put) {
  for (const WireField& field : tensor.numbers) {
    if (!field.is_bytes()) {
      put(field.value);
      continue;
    }
    std::string_view rest = field.bytes;
    while (!rest.empty()) {
      uint64_t wide = 0;
      uint32_t narrow = 0;
      bool ok = true;
      if (field.number == 4) {
        ok = take_fixed(rest, narrow);
        wide = narrow;
      } else {
        ok = field.number == 10 ? take_fixed(rest, wide) : take_varint(rest, wide);
      }
      if (!ok) damaged(tensor, "ends inside of a number");
      put(wide);
    }
  }
}

void check_numbers(const TensorMessage& tensor, int64_t count) {
  const int64_t bits = bits_of(tensor.element);
  const int64_t pieces = is_complex(storage_of(tensor.element)) ? 2 * count : count;
  const int64_t wanted = bits < 8 ? packed_bytes(count, tensor.element) : pieces;
  int64_t given = 0;
  each_number(tensor, [&](uint64_t) { ++given; });
  if (given != wanted) {
    damaged(tensor, message("holds ", given, " numbers where its shape needs ", wanted));
  }
}

/// Each number's low bytes are the element, whichever field it came in. Complex numbers are two;
/// several small elements share one.
Value from_numbers(const TensorMessage& tensor, const Shape& shape, int64_t count) {
  check_numbers(tensor, count);
  const DType dtype = storage_of(tensor.element);
  const int64_t bits = bits_of(tensor.element);
  const bool is_complex = tidemark::is_complex(dtype);
  const Tensor out = new_tensor(dtype, shape);
  auto* to = static_cast<char*>(out.mutable_raw_data());
  if (bits < 8) {
    std::string packed;
    each_number(tensor, [&](uint64_t value) { packed += static_cast<char>(value); });
    unpack(packed, tensor.element, count, reinterpret_cast<uint8_t*>(to));
    return {out, tensor.element};
  }
  const size_t width = size_of(dtype) / (is_complex ? 2 : 1);
  each_number(tensor, [&](uint64_t value) {
    if (dtype == DType::bool_) value = value != 0;
    std::memcpy(to, &value, width);
    to += width;
  });
  return {out, tensor.element};
}

}  // namespace

const std::shared_ptr<const MappedFile>& ExternalFiles::open(std::string_view location) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(location);
  if (found != open_.end()) return found->second;
  return open_.emplace(std::string(location), MappedFile::open_inside(folder_, location, how_))
      .first->second;
}

Value read_tensor_value(const TensorMessage& tensor, ExternalFiles& files) {
  if (tensor.element == Element::undefined) damaged(tensor, "has no element type");
  const int64_t count = count_of(tensor);
  const Shape shape{std::span<const int64_t>(tensor.dims)};
  if (tensor.element == Element::string) {
    check_strings(tensor, count);
    return Tensor::of_strings(tensor.strings, shape);
  }
  if (tensor.is_external) return from_external(tensor, shape, count, files);
  if (tensor.has_raw) return from_raw(tensor, shape, count, tensor.raw);
  return from_numbers(tensor, shape, count);
}

size_t check_tensor(const TensorMessage& tensor, ExternalFiles& files) {
  if (tensor.element == Element::undefined) damaged(tensor, "has no element type");
  const int64_t count = count_of(tensor);
  if (tensor.element == Element::string) {
    check_strings(tensor, count);
  } else if (tensor.is_external) {
    place_of(tensor, count, files);
  } else if (tensor.has_raw) {
    check_raw(tensor, count, tensor.raw);
  } else {
    check_numbers(tensor, count);
  }
  return static_cast<size_t>(count) * size_of(storage_of(tensor.element));
}

Value read_sparse_value(const SparseMessage& sparse, ExternalFiles& files) {
  const Value values = read_tensor_value(sparse.values, files);
  const Value indices = read_tensor_value(sparse.indices, files);
  TensorMessage whole = sparse.values;
  whole.dims = sparse.dims;
  const int64_t count = count_of(whole);
  const DType dtype = values.tensor.dtype();
  if (values.element == Element::string || indices.element != Element::int64) {
    damaged(whole, "is sparse with texts, or with positions that are not int64");
  }
  if (count > kMostDenseOfSparse / static_cast<int64_t>(size_of(dtype))) {
    damaged(whole, "is sparse and too large to be laid out");
  }
  const Shape shape{std::span<const int64_t>(sparse.dims)};
  const Tensor out = new_tensor(dtype, shape);
  std::memset(out.mutable_raw_data(), 0, out.nbytes());
  const int64_t entries = values.tensor.num_elements();
  const bool is_linear = indices.tensor.rank() == 1;
  const auto rank = static_cast<int64_t>(sparse.dims.size());
  if (indices.tensor.num_elements() != (is_linear ? entries : entries * rank)) {
    damaged(whole, "has another number of positions than values");
  }
  const auto* places = indices.tensor.data<int64_t>();
  for (int64_t i = 0; i < entries; ++i) {
    int64_t place = is_linear ? places[i] : 0;
    for (int64_t d = 0; !is_linear && d < rank; ++d) {
      const int64_t at = places[i * rank + d];
      if (at < 0 || at >= sparse.dims[static_cast<size_t>(d)]) damaged(whole, "has a bad position");
      place = place * sparse.dims[static_cast<size_t>(d)] + at;
    }
    if (place < 0 || place >= count) damaged(whole, "has a bad position");
    const size_t width = size_of(dtype);
    std::memcpy(static_cast<char*>(out.mutable_raw_data()) + static_cast<size_t>(place) * width,
                static_cast<const char*>(values.tensor.raw_data()) + static_cast<size_t>(i) * width,
                width);
  }
  return {out, values.element};
}

}  // namespace tidemark::io::onnx
