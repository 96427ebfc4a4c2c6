#include "tidemark/io/tensorflow/attr_values.h"

#include <algorithm>
#include <cstring>

#include "tidemark/base/wire.h"
#include "tidemark/io/stored_size.h"
#include "tidemark/io/tensorflow/messages.h"

namespace tidemark::io::tensorflow {

namespace {

using Kind = AttrValue::Kind;

/// One value stands for all elements that follow it: so many bytes of them at the most.
constexpr uint64_t kMostRepeated = uint64_t{1} << 28;

template <class T>
T as(uint64_t bits) {
  T out{};
  std::memcpy(&out, &bits, sizeof(T));
  return out;
}

/// The numbers of a field, packed or not.
void take_numbers(const WireField& field, std::vector<int64_t>& out) {
  if (!field.is_bytes()) return out.push_back(static_cast<int64_t>(field.value));
  std::string_view rest = field.bytes;
  for (uint64_t value = 0; !rest.empty();) {
    if (!take_varint(rest, value)) fail_malformed("a list of numbers");
    out.push_back(static_cast<int64_t>(value));
  }
}

template <class T>
void take_reals(const WireField& field, std::vector<double>& out) {
  if (!field.is_bytes()) return out.push_back(static_cast<double>(as<T>(field.value)));
  std::string_view rest = field.bytes;
  for (T value = 0; !rest.empty();) {
    if (!take_fixed(rest, value)) fail_malformed("a list of numbers");
    out.push_back(static_cast<double>(value));
  }
}

/// The name of a function.
std::string_view read_function_name(std::string_view bytes) {
  std::string_view name;
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    if (field.number == 1 && field.is_bytes()) name = field.bytes;
  }
  if (!reader.ok()) fail_malformed("the name of a function");
  return name;
}

/// Fields have the same numbers in a list, but for functions.
void take(const WireField& field, bool in_list, AttrValue& out) {
  const uint32_t number = in_list && field.number == 9 ? 10 : field.number;
  switch (number) {
    case 2:
      out.kind = Kind::text;
      out.texts.push_back(field.bytes);
      break;
    case 3:
      out.kind = Kind::number;
      take_numbers(field, out.numbers);
      break;
    case 4:
      out.kind = Kind::real;
      take_reals<float>(field, out.reals);
      break;
    case 5:
      out.kind = Kind::boolean;
      take_numbers(field, out.numbers);
      break;
    case 6:
      out.kind = Kind::type;
      take_numbers(field, out.numbers);
      break;
    case 7:
    case 8:
      out.kind = number == 7 ? Kind::shape : Kind::tensor;
      out.texts.push_back(field.bytes);
      break;
    case 10:
      out.kind = Kind::function;
      out.texts.push_back(read_function_name(field.bytes));
      break;
    default:
      break;
  }
}

/// What a TensorProto holds, before it is a tensor.
struct Stored {
  uint64_t dtype = 0;
  Shape shape;
  std::string_view content;
  std::vector<double> reals;
  std::vector<int64_t> numbers;
  std::vector<std::string_view> texts;
};

Stored read_stored(std::string_view bytes) {
  Stored out;
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    switch (field.number) {
      case 1:
        out.dtype = field.value;
        break;
      case 2:
        out.shape = read_shape(field.bytes);
        break;
      case 4:
        out.content = field.bytes;
        break;
      case 5:
      case 9:
        take_reals<float>(field, out.reals);
        break;
      case 6:
      case 12:
        take_reals<double>(field, out.reals);
        break;
      case 7:
      case 10:
      case 11:
      case 13:
      case 16:
      case 17:
        take_numbers(field, out.numbers);
        break;
      case 8:
        out.texts.push_back(field.bytes);
        break;
      default:
        break;
    }
  }
  if (!reader.ok()) fail_malformed("a tensor");
  return out;
}

/// As many elements as the shape says; none: more than one value may stand for.
uint64_t elements_of(const Stored& stored, uint64_t each, uint64_t room) {
  const auto elements = elements_within(stored.shape, each, room);
  if (!elements) fail_malformed("a tensor's shape is larger than its values");
  return *elements;
}

template <class T>
T element(const Stored& stored, size_t i) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(stored.reals[i]);
  return static_cast<T>(static_cast<uint64_t>(stored.numbers[i]));
}

template <class T>
void fill(const Stored& stored, size_t given, uint64_t elements, void* to) {
  auto* out = static_cast<T*>(to);
  T last{};
  for (size_t i = 0; i < elements; ++i) {
    if (i < given) last = element<T>(stored, i);
    out[i] = last;
  }
}

/// Complex numbers are pairs of reals.
template <class T>
void fill_pairs(const Stored& stored, uint64_t elements, void* to) {
  auto* out = static_cast<T*>(to);
  const size_t given = stored.reals.size() / 2;
  for (size_t i = 0; i < elements; ++i) {
    for (size_t part = 0; part < 2; ++part) {
      const size_t from = 2 * std::min(i, given - 1) + part;
      out[2 * i + part] = given == 0 ? T{} : static_cast<T>(stored.reals[from]);
    }
  }
}

void fill_from_lists(DType dtype, const Stored& stored, uint64_t elements, void* to) {
  const size_t reals = stored.reals.size(), numbers = stored.numbers.size();
  switch (dtype) {
    case DType::float32:
      return fill<float>(stored, reals, elements, to);
    case DType::float64:
      return fill<double>(stored, reals, elements, to);
    case DType::complex64:
      return fill_pairs<float>(stored, elements, to);
    case DType::complex128:
      return fill_pairs<double>(stored, elements, to);
    default:
      break;
  }
  switch (size_of(dtype)) {
    case 1:
      return fill<uint8_t>(stored, numbers, elements, to);
    case 2:
      return fill<uint16_t>(stored, numbers, elements, to);
    case 4:
      return fill<uint32_t>(stored, numbers, elements, to);
    default:
      return fill<uint64_t>(stored, numbers, elements, to);
  }
}

Tensor string_tensor(Stored& stored) {
  const uint64_t elements = elements_of(stored, sizeof(StringRef), kMostRepeated);
  if (stored.texts.size() > elements) fail_malformed("a tensor has more strings than elements");
  const uint64_t missing = elements - stored.texts.size();
  const std::string_view last = stored.texts.empty() ? std::string_view() : stored.texts.back();
  if (missing > 0 && missing > kMostRepeated / (last.size() + 1)) {
    fail_malformed("a tensor repeats a string too often");
  }
  stored.texts.resize(elements, last);
  return Tensor::of_strings(stored.texts, stored.shape);
}

}  // namespace

AttrValue read_attr_value(std::string_view bytes) {
  AttrValue out;
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    if (field.number != 1) {
      out = AttrValue();
      take(field, false, out);
      continue;
    }
    out = AttrValue();
    out.is_list = true;
    WireReader list(field.bytes);
    for (WireField item; list.next(item);) take(item, true, out);
    if (!list.ok()) fail_malformed("a list in an attribute");
  }
  if (!reader.ok()) fail_malformed("an attribute");
  return out;
}

Shape read_shape(std::string_view bytes) {
  Shape out;
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    if (field.number == 3 && field.value != 0) return Shape::unknown();
    if (field.number != 2) continue;
    int64_t size = 0;
    WireReader dim(field.bytes);
    for (WireField part; dim.next(part);) {
      if (part.number == 1) size = static_cast<int64_t>(part.value);
    }
    if (!dim.ok() || size < kUnknownDim) fail_malformed("a size of a shape");
    if (out.rank() >= Shape::kMaxRank) fail_malformed("a shape of too many dimensions");
    out.push_back(size);
  }
  if (!reader.ok()) fail_malformed("a shape");
  return out;
}

DType read_dtype(uint64_t number) {
  // TensorFlow's first kind of variables says so of its dtype by 100 more.
  const uint64_t plain = number > 100 ? number - 100 : number;
  if (plain == 0 || plain >= kDTypeSlots || !kAny.contains(static_cast<DType>(plain))) {
    fail<UnimplementedError>("the saved model has values of TensorFlow's dtype number ", number,
                             ", which Tidemark has no tensors of");
  }
  return static_cast<DType>(plain);
}

Tensor read_tensor(std::string_view bytes) {
  Stored stored = read_stored(bytes);
  const DType dtype = read_dtype(stored.dtype);
  if (!stored.shape.is_fully_known()) fail_malformed("a tensor's shape is not known");
  if (dtype == DType::string) return string_tensor(stored);
  if (!stored.content.empty()) {
    const uint64_t elements = elements_of(stored, size_of(dtype), stored.content.size());
    if (elements * size_of(dtype) != stored.content.size()) {
      fail_malformed("a tensor's shape is not that of its values");
    }
    Tensor out = Tensor::uninitialized(dtype, stored.shape);
    std::memcpy(out.mutable_raw_data(), stored.content.data(), stored.content.size());
    auto* first = static_cast<char*>(out.mutable_raw_data());
    for (uint64_t i = 0; dtype == DType::bool_ && i < elements; ++i) first[i] = first[i] != 0;
    return out;
  }
  const uint64_t elements = elements_of(stored, size_of(dtype), kMostRepeated);
  const size_t parts = kComplex.contains(dtype) ? 2 : 1;
  if (std::max(stored.reals.size() / parts, stored.numbers.size()) > elements) {
    fail_malformed("a tensor has more values than elements");
  }
  Tensor out = Tensor::uninitialized(dtype, stored.shape);
  if (dtype == DType::bool_) {
    for (int64_t& number : stored.numbers) number = number != 0;
  }
  fill_from_lists(dtype, stored, elements, out.mutable_raw_data());
  return out;
}

}  // namespace tidemark::io::tensorflow
