#include "tidemark/serve/grpc/tensor_proto.h"

#include <bit>
#include <complex>
#include <cstring>

#include "tidemark/base/plain_type.h"
#include "tidemark/serve/status.h"

namespace tidemark::serve {

namespace {

using tensorflow::TensorProto;

template <class T>
constexpr bool kIsHalf = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
constexpr bool kIsComplex =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

/// Calls fn with the list of the message that elements of the type lie in.
template <class T, class Proto, class Fn>
void with_list(Proto& proto, const Fn& fn) {
  constexpr bool kIsConst = std::is_const_v<Proto>;
#define TIDEMARK_LIST(name)      \
  if constexpr (kIsConst) {      \
    fn(proto.name());            \
  } else {                       \
    fn(*proto.mutable_##name()); \
  }
  if constexpr (std::is_same_v<T, bool>) {
    TIDEMARK_LIST(bool_val)
  } else if constexpr (std::is_same_v<T, float>) {
    TIDEMARK_LIST(float_val)
  } else if constexpr (std::is_same_v<T, double>) {
    TIDEMARK_LIST(double_val)
  } else if constexpr (std::is_same_v<T, int64_t>) {
    TIDEMARK_LIST(int64_val)
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    TIDEMARK_LIST(uint64_val)
  } else if constexpr (std::is_same_v<T, uint32_t>) {
    TIDEMARK_LIST(uint32_val)
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    TIDEMARK_LIST(scomplex_val)
  } else if constexpr (std::is_same_v<T, std::complex<double>>) {
    TIDEMARK_LIST(dcomplex_val)
  } else if constexpr (kIsHalf<T>) {
    TIDEMARK_LIST(half_val)
  } else {
    TIDEMARK_LIST(int_val)
  }
#undef TIDEMARK_LIST
}

template <class T, class List>
T element_of(const List& list, int index) {
  if constexpr (kIsComplex<T>) {
    return T(list[2 * index], list[2 * index + 1]);
  } else if constexpr (kIsHalf<T>) {
    return std::bit_cast<T>(static_cast<uint16_t>(list[index]));
  } else {
    return static_cast<T>(list[index]);
  }
}

Shape shape_from(const tensorflow::TensorShapeProto& proto, std::string_view name) {
  if (proto.unknown_rank() || proto.dim_size() > Shape::kMaxRank) {
    refuse(Code::invalid_argument, "input '", name, "': its shape must have at most ",
           Shape::kMaxRank, " sizes");
  }
  Shape shape;
  for (const auto& dim : proto.dim()) {
    if (dim.size() < 0) {
      refuse(Code::invalid_argument, "input '", name, "': a size is ", dim.size(),
             "; sizes cannot be negative");
    }
    shape.push_back(dim.size());
  }
  (void)shape.num_elements();  // throws where the product is no number
  return shape;
}

[[noreturn]] void wrong_count(std::string_view name, const Shape& shape, int64_t given) {
  refuse(Code::invalid_argument, "input '", name, "': ", given, " elements were given; shape ",
         shape, " needs ", shape.num_elements());
}

Tensor strings_from(const TensorProto& proto, const Shape& shape, std::string_view name) {
  if (proto.string_val_size() != shape.num_elements()) {
    wrong_count(name, shape, proto.string_val_size());
  }
  std::vector<std::string_view> texts(proto.string_val().begin(), proto.string_val().end());
  return Tensor::of_strings(texts, shape);
}

Tensor from_content(const TensorProto& proto, DType dtype, const Shape& shape,
                    std::string_view name) {
  const std::string& bytes = proto.tensor_content();
  const auto count = static_cast<size_t>(shape.num_elements());
  if (bytes.size() != count * size_of(dtype)) {
    refuse(Code::invalid_argument, "input '", name, "': tensor_content has ", bytes.size(),
           " bytes; shape ", shape, " of ", name_of(dtype), " needs ", count * size_of(dtype));
  }
  Tensor out = Tensor::uninitialized(dtype, shape);
  auto* to = static_cast<char*>(out.mutable_raw_data());
  std::memcpy(to, bytes.data(), bytes.size());
  for (size_t i = 0; dtype == DType::bool_ && i < bytes.size(); ++i) to[i] = to[i] != 0;
  return out;
}

}  // namespace

Tensor tensor_from(const TensorProto& proto, DType wanted, std::string_view name,
                   size_t most_bytes) {
  if (static_cast<int>(proto.dtype()) != static_cast<int>(wanted)) {
    refuse(Code::invalid_argument, "input '", name, "' must be ", name_of(wanted),
           "; the dtype given has the number ", static_cast<int>(proto.dtype()));
  }
  const Shape shape = shape_from(proto.tensor_shape(), name);
  const auto count = static_cast<uint64_t>(shape.num_elements());
  if (count > most_bytes / size_of(wanted)) {
    refuse(Code::resource_exhausted, "input '", name, "': shape ", shape, " of ", name_of(wanted),
           " takes more than the ", most_bytes, " bytes of a request (--max-body)");
  }
  if (wanted == DType::string) return strings_from(proto, shape, name);
  if (!proto.tensor_content().empty()) return from_content(proto, wanted, shape, name);
  Tensor out = Tensor::uninitialized(wanted, shape);
  with_plain_type(wanted, [&](auto zero) {
    using T = decltype(zero);
    with_list<T>(proto, [&](const auto& list) {
      const int given = list.size() / (kIsComplex<T> ? 2 : 1);
      if (static_cast<uint64_t>(given) > count) wrong_count(name, shape, given);
      auto* to = static_cast<T*>(out.mutable_raw_data());
      for (int i = 0; i < given; ++i) to[i] = element_of<T>(list, i);
      std::fill(to + given, to + count, given > 0 ? to[given - 1] : T());
    });
  });
  return out;
}

void to_proto(const Shape& shape, tensorflow::TensorShapeProto& proto) {
  proto.set_unknown_rank(!shape.has_rank());
  for (int i = 0; i < shape.rank(); ++i) proto.add_dim()->set_size(shape[i]);
}

void to_proto(const Tensor& t, TensorProto& proto) {
  proto.set_dtype(static_cast<tensorflow::DataType>(t.dtype()));
  to_proto(t.shape(), *proto.mutable_tensor_shape());
  if (t.dtype() == DType::string) {
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      proto.add_string_val(t.string_at(i).data(), t.string_at(i).size());
    }
    return;
  }
  with_plain_type(t.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto* from = static_cast<const T*>(t.raw_data());
    const int64_t count = t.num_elements();
    with_list<T>(proto, [&](auto& list) {
      list.Reserve(static_cast<int>(count * (kIsComplex<T> ? 2 : 1)));
      for (int64_t i = 0; i < count; ++i) {
        if constexpr (kIsComplex<T>) {
          list.Add(from[i].real());
          list.Add(from[i].imag());
        } else if constexpr (kIsHalf<T>) {
          list.Add(std::bit_cast<uint16_t>(from[i]));
        } else {
          list.Add(from[i]);
        }
      }
    });
  });
}

}  // namespace tidemark::serve
