// float16 and bfloat16 as storage types: arithmetic happens in float.
//   float twice = 2 * float(td::Half(1.5f));           // 3
#pragma once
#include <bit>
#include <cstdint>

namespace tidemark {

/// IEEE 754 binary16. Conversion from float rounds to nearest even.
struct Half {
  uint16_t bits = 0;

  Half() = default;
  explicit Half(float value) : bits(from_float(value)) {}
  explicit operator float() const { return to_float(bits); }

  static float to_float(uint16_t h) {
    const uint32_t magnitude = static_cast<uint32_t>(h & 0x7fffu) << 13;
    const uint32_t exponent = magnitude & 0x0f800000u;
    uint32_t result = magnitude + 0x38000000u;
    if (exponent == 0x0f800000u) {  // infinity and NaN
      result += 0x38000000u;
    } else if (exponent == 0) {  // zero and subnormals: renormalise through a subtraction
      result = std::bit_cast<uint32_t>(std::bit_cast<float>(result + 0x00800000u) -
                                       std::bit_cast<float>(0x38800000u));
    }
    return std::bit_cast<float>(result | (static_cast<uint32_t>(h & 0x8000u) << 16));
  }

  static uint16_t from_float(float value) {
    uint32_t f = std::bit_cast<uint32_t>(value);
    const uint16_t sign = static_cast<uint16_t>((f >> 16) & 0x8000u);
    f &= 0x7fffffffu;
    if (f > 0x7f800000u) return sign | 0x7e00u;   // NaN, quiet
    if (f >= 0x47800000u) return sign | 0x7c00u;  // too large: infinity
    if (f < 0x38800000u) {                        // subnormal or zero
      const float magic = std::bit_cast<float>(0x3f000000u);
      const uint32_t rounded = std::bit_cast<uint32_t>(std::bit_cast<float>(f) + magic);
      return sign | static_cast<uint16_t>(rounded - 0x3f000000u);
    }
    const uint32_t odd = (f >> 13) & 1u;
    f += 0xc8000fffu + odd;  // rebias the exponent and round to nearest even
    return sign | static_cast<uint16_t>(f >> 13);
  }
};

/// The upper half of a float. Conversion from float rounds to nearest even.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float value) : bits(from_float(value)) {}
  explicit operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }

  static uint16_t from_float(float value) {
    const uint32_t f = std::bit_cast<uint32_t>(value);
    if ((f & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((f >> 16) | 0x0040u);
    return static_cast<uint16_t>((f + 0x7fffu + ((f >> 16) & 1u)) >> 16);
  }
};

static_assert(sizeof(Half) == 2 && sizeof(BFloat16) == 2);

}  // namespace tidemark
