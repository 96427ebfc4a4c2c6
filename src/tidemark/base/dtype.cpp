#include <tidemark/dtype.h>

#include <array>
#include <utility>

namespace tidemark {

namespace {

constexpr std::array<std::pair<DType, std::string_view>, 16> kNames = {{
    {DType::float32, "float32"},
    {DType::float64, "float64"},
    {DType::int32, "int32"},
    {DType::uint8, "uint8"},
    {DType::int16, "int16"},
    {DType::int8, "int8"},
    {DType::string, "string"},
    {DType::complex64, "complex64"},
    {DType::int64, "int64"},
    {DType::bool_, "bool"},
    {DType::bfloat16, "bfloat16"},
    {DType::uint16, "uint16"},
    {DType::complex128, "complex128"},
    {DType::float16, "float16"},
    {DType::uint32, "uint32"},
    {DType::uint64, "uint64"},
}};

DType signed_int_of_bytes(size_t bytes) {
  switch (bytes) {
    case 1:
      return DType::int8;
    case 2:
      return DType::int16;
    case 4:
      return DType::int32;
    default:
      return DType::int64;
  }
}

DType promote_ints(DType a, DType b) {
  const bool same_sign = is_signed(a) == is_signed(b);
  if (same_sign) return size_of(a) >= size_of(b) ? a : b;
  const DType with_sign = is_signed(a) ? a : b;
  const DType without = is_signed(a) ? b : a;
  if (size_of(with_sign) > size_of(without)) return with_sign;
  // uint64 with a signed type has no integer home; float64 is NumPy's answer, too.
  if (size_of(without) == 8) return DType::float64;
  return signed_int_of_bytes(2 * size_of(without));
}

DType promote_floats(DType a, DType b) {
  if (size_of(a) != size_of(b)) return size_of(a) > size_of(b) ? a : b;
  return DType::float32;  // float16 with bfloat16
}

}  // namespace

std::string_view name_of(DType d) {
  for (const auto& [dtype, name] : kNames) {
    if (dtype == d) return name;
  }
  return "invalid";
}

DType dtype_from_name(std::string_view wanted) {
  for (const auto& [dtype, name] : kNames) {
    if (name == wanted) return dtype;
  }
  if (wanted == "half") return DType::float16;
  if (wanted == "float") return DType::float32;
  if (wanted == "double") return DType::float64;
  return DType::invalid;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (!kPlain.contains(a) || !kPlain.contains(b)) return DType::invalid;
  if (a == DType::bool_) return b;
  if (b == DType::bool_) return a;
  if (is_complex(a) || is_complex(b)) {
    const bool wide = a == DType::complex128 || b == DType::complex128 || a == DType::float64 ||
                      b == DType::float64;
    return wide ? DType::complex128 : DType::complex64;
  }
  if (is_floating(a) && is_floating(b)) return promote_floats(a, b);
  if (is_floating(a)) return a;
  if (is_floating(b)) return b;
  return promote_ints(a, b);
}

}  // namespace tidemark
