// Element types. The numbers are TensorFlow's, so that graphs and checkpoints agree.
//
//   td::DType d = td::dtype_of<float>();          // td::DType::float32
//   td::size_of(d);                               // 4
//   td::promote(td::DType::int32, td::DType::float32);   // float32
#pragma once

#include <tidemark/export.h>
#include <tidemark/half.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tidemark {

enum class DType : uint8_t {
  invalid = 0,
  float32 = 1,
  float64 = 2,
  int32 = 3,
  uint8 = 4,
  int16 = 5,
  int8 = 6,
  string = 7,
  complex64 = 8,
  int64 = 9,
  bool_ = 10,
  bfloat16 = 14,
  uint16 = 17,
  complex128 = 18,
  float16 = 19,
  uint32 = 22,
  uint64 = 23,
};

/// Every DType value is below this; tables indexed by dtype have this many slots.
inline constexpr int kDTypeSlots = 24;

/// One element of a string tensor: bytes [offset, offset + length) of the tensor's own buffer.
/// The characters follow the elements in the same buffer, so a string tensor is one allocation.
struct StringRef {
  uint64_t offset;
  uint64_t length;
};

constexpr size_t size_of(DType d) {
  switch (d) {
    case DType::bool_:
    case DType::int8:
    case DType::uint8:
      return 1;
    case DType::int16:
    case DType::uint16:
    case DType::float16:
    case DType::bfloat16:
      return 2;
    case DType::int32:
    case DType::uint32:
    case DType::float32:
      return 4;
    case DType::int64:
    case DType::uint64:
    case DType::float64:
    case DType::complex64:
      return 8;
    case DType::complex128:
    case DType::string:
      return 16;
    case DType::invalid:
      return 0;
  }
  return 0;
}

/// A set of dtypes, as one bit each.
struct DTypeSet {
  uint32_t bits = 0;
  constexpr bool contains(DType d) const { return (bits >> static_cast<int>(d)) & 1u; }
};

template <class... D>
constexpr DTypeSet dtype_set(D... d) {
  return {((1u << static_cast<int>(d)) | ... | 0u)};
}
constexpr DTypeSet operator|(DTypeSet a, DTypeSet b) { return {a.bits | b.bits}; }

inline constexpr DTypeSet kSignedInts =
    dtype_set(DType::int8, DType::int16, DType::int32, DType::int64);
inline constexpr DTypeSet kUnsignedInts =
    dtype_set(DType::uint8, DType::uint16, DType::uint32, DType::uint64);
inline constexpr DTypeSet kInts = kSignedInts | kUnsignedInts;
inline constexpr DTypeSet kFloats =
    dtype_set(DType::float16, DType::bfloat16, DType::float32, DType::float64);
inline constexpr DTypeSet kComplex = dtype_set(DType::complex64, DType::complex128);
inline constexpr DTypeSet kBool = dtype_set(DType::bool_);
inline constexpr DTypeSet kString = dtype_set(DType::string);
inline constexpr DTypeSet kReal = kInts | kFloats;        // ordered numbers
inline constexpr DTypeSet kInexact = kFloats | kComplex;  // what exp, log, … work on
inline constexpr DTypeSet kNumeric = kReal | kComplex;
inline constexpr DTypeSet kPlain = kNumeric | kBool;  // everything but strings
inline constexpr DTypeSet kAny = kPlain | kString;
inline constexpr DTypeSet kIndex = dtype_set(DType::int32, DType::int64);

constexpr bool is_integer(DType d) { return kInts.contains(d); }
constexpr bool is_floating(DType d) { return kFloats.contains(d); }
constexpr bool is_complex(DType d) { return kComplex.contains(d); }
constexpr bool is_signed(DType d) { return (kSignedInts | kFloats).contains(d); }

/// TensorFlow's name: "float32", "bool", "string", …
TIDEMARK_API std::string_view name_of(DType d);

/// DType::invalid when the name is unknown.
TIDEMARK_API DType dtype_from_name(std::string_view name);

/// The dtype both adapt to: int with float gives the float, int8 with uint8 int16, bfloat16 with
/// float16 float32. Symmetric. DType::invalid when there is none (string with a number).
TIDEMARK_API DType promote(DType a, DType b);

namespace detail {
template <class T>
struct DTypeOf;
#define TIDEMARK_DTYPE_OF(type, value)           \
  template <>                                    \
  struct DTypeOf<type> {                         \
    static constexpr DType dtype = DType::value; \
  };
TIDEMARK_DTYPE_OF(bool, bool_)
TIDEMARK_DTYPE_OF(int8_t, int8)
TIDEMARK_DTYPE_OF(uint8_t, uint8)
TIDEMARK_DTYPE_OF(int16_t, int16)
TIDEMARK_DTYPE_OF(uint16_t, uint16)
TIDEMARK_DTYPE_OF(int32_t, int32)
TIDEMARK_DTYPE_OF(uint32_t, uint32)
TIDEMARK_DTYPE_OF(int64_t, int64)
TIDEMARK_DTYPE_OF(uint64_t, uint64)
TIDEMARK_DTYPE_OF(Half, float16)
TIDEMARK_DTYPE_OF(BFloat16, bfloat16)
TIDEMARK_DTYPE_OF(float, float32)
TIDEMARK_DTYPE_OF(double, float64)
TIDEMARK_DTYPE_OF(std::complex<float>, complex64)
TIDEMARK_DTYPE_OF(std::complex<double>, complex128)
TIDEMARK_DTYPE_OF(StringRef, string)
#undef TIDEMARK_DTYPE_OF
}  // namespace detail

template <class T>
constexpr DType dtype_of() {
  return detail::DTypeOf<T>::dtype;
}

}  // namespace tidemark
