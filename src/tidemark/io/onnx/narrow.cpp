#include "tidemark/io/onnx/narrow.h"

#include <cmath>
#include <limits>

#include "tidemark/io/onnx/build.h"

namespace tidemark::io::onnx {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// A floating-point type of at most eight bits.
struct Format {
  Element element;
  int exponent_bits, mantissa_bits, bias;
  bool has_sign = true;
  bool has_infinity = false;
  int nan = -1;                 // its code; -1: there is none
  bool nan_is_minus_0 = false;  // then there is no negative zero
  int largest = 0;              // code of the largest number
  int instead_of_nan = -1;      // where there is no NaN
};

constexpr Format kFormats[] = {
    {Element::float8e4m3fn, 4, 3, 7, true, false, 0x7F, false, 0x7E},
    {Element::float8e4m3fnuz, 4, 3, 8, true, false, 0x80, true, 0x7F},
    {Element::float8e5m2, 5, 2, 15, true, true, 0x7F, false, 0x7B},
    {Element::float8e5m2fnuz, 5, 2, 16, true, false, 0x80, true, 0x7F},
    {Element::float4e2m1, 2, 1, 1, true, false, -1, false, 0x7, 0x8},
    {Element::float8e8m0, 8, 0, 127, false, false, 0xFF, false, 0xFE},
};

const Format* format_of(Element element) {
  for (const Format& f : kFormats) {
    if (f.element == element) return &f;
  }
  return nullptr;
}

int sign_bit(const Format& f) { return f.has_sign ? 1 << (f.exponent_bits + f.mantissa_bits) : 0; }

/// The number without its sign.
float magnitude_of(const Format& f, int code) {
  const int mantissa = code & ((1 << f.mantissa_bits) - 1);
  const int exponent = code >> f.mantissa_bits;
  if (!f.has_sign) return std::ldexp(1.f, exponent - f.bias);
  const float part = std::ldexp(static_cast<float>(mantissa), -f.mantissa_bits);
  if (exponent == 0) return std::ldexp(part, 1 - f.bias);
  return std::ldexp(1.f + part, exponent - f.bias);
}

float number_of(const Format& f, int code) {
  const int sign = code & sign_bit(f), rest = code & ~sign_bit(f);
  if (f.nan_is_minus_0 ? code == f.nan : f.nan >= 0 && rest == f.nan) return kNaN;
  if (rest > f.largest)
    return f.has_infinity && rest == f.largest + 1 ? (sign ? -kInfinity : kInfinity) : kNaN;
  return sign ? -magnitude_of(f, rest) : magnitude_of(f, rest);
}

/// From this magnitude on a number is no longer of `code` but of the next.
float boundary_after(const Format& f, int code, std::string_view round_mode) {
  const float here = magnitude_of(f, code);
  float next = 0;
  if (code < f.largest) {
    next = magnitude_of(f, code + 1);
  } else {
    next = here + (here - magnitude_of(f, code - 1));
  }
  if (!f.has_sign) {
    if (round_mode == "down") return next;
    if (round_mode == "up") return std::nextafter(here, kInfinity);
    return here / 2 + next / 2;
  }
  const float middle = here / 2 + next / 2;
  const bool tie_goes_up = (code & 1) != 0;
  return tie_goes_up ? middle : std::nextafter(middle, kInfinity);
}

/// Codes of the magnitudes in order, and where each next one begins.
struct Ladder {
  std::vector<float> boundaries;
  std::vector<uint8_t> codes;
};

Ladder ladder_of(const Format& f, const NarrowOptions& options) {
  Ladder out;
  for (int code = 0; code <= f.largest; ++code) {
    out.codes.push_back(static_cast<uint8_t>(code));
    if (code < f.largest) out.boundaries.push_back(boundary_after(f, code, options.round_mode));
  }
  if (!options.saturate && (f.has_infinity || f.nan >= 0)) {
    const bool is_e8m0 = !f.has_sign;
    out.boundaries.push_back(is_e8m0 ? kInfinity : boundary_after(f, f.largest, {}));
    out.codes.push_back(static_cast<uint8_t>(f.has_infinity ? f.largest + 1 : f.nan));
  }
  return out;
}

Tensor byte(int value) { return number(value, DType::uint8); }

Tensor encoded(const Tensor& x, const Format& f, const NarrowOptions& options) {
  const Tensor flat = reshaped(as(x, DType::float32), {-1});
  const Ladder ladder = ladder_of(f, options);
  const Tensor steps =
      Tensor::of<float>(ladder.boundaries, Shape{static_cast<int64_t>(ladder.boundaries.size())});
  const Tensor codes =
      Tensor::of<uint8_t>(ladder.codes, Shape{static_cast<int64_t>(ladder.codes.size())});
  const Tensor magnitude = f.has_sign ? abs(flat) : flat;
  Tensor out = gather(codes, searchsorted(steps, magnitude, "right"), std::nullopt, 0);
  if (f.has_sign) {
    const Tensor is_minus = less(bitcast(flat, DType::int32), Tensor(0));
    Tensor carries = is_minus;
    if (f.nan_is_minus_0) {
      carries =
          logical_and(is_minus, logical_and(greater(out, byte(0)), not_equal(out, byte(f.nan))));
    }
    out = select(carries, bitwise_or(out, byte(sign_bit(f))), out);
  }
  if (f.nan >= 0) {
    Tensor nan = byte(f.nan);
    if (f.has_sign && !f.nan_is_minus_0) {
      nan = select(less(bitcast(flat, DType::int32), Tensor(0)), byte(f.nan | sign_bit(f)), nan);
    }
    out = select(is_nan(flat), nan, out);
  }
  if (f.instead_of_nan >= 0) out = select(is_nan(flat), byte(f.instead_of_nan), out);
  return reshape(out, shape_of(x));
}

Tensor decoded(const Tensor& codes, const Format& f) {
  std::vector<float> numbers;
  const int count = f.exponent_bits + f.mantissa_bits + (f.has_sign ? 1 : 0);
  for (int code = 0; code < 1 << count; ++code) numbers.push_back(number_of(f, code));
  const Tensor table = Tensor::of<float>(numbers, Shape{static_cast<int64_t>(numbers.size())});
  return gather(table, as(codes, DType::int32), std::nullopt, 0);
}

int bits_of_small(Element element) {
  return element == Element::int4 || element == Element::uint4 ? 4 : 2;
}

/// Integers kept to their low bits, as machines do.
Tensor wrapped(const Tensor& x, Element element) {
  const int bits = bits_of_small(element);
  const Tensor whole = as(is_floating(x.dtype()) ? as(x, DType::int32) : x, DType::int8);
  const Tensor low = bitwise_and(whole, number((1 << bits) - 1, DType::int8));
  if (storage_of(element) == DType::uint8) return as(low, DType::uint8);
  const Tensor half = number(1 << (bits - 1), DType::int8);
  return bitwise_xor(low, half) - half;
}

Tensor to_text(const Tensor& x) {
  if (x.dtype() == DType::string) return x;
  if (!is_floating(x.dtype())) return as_string(x);
  const Tensor wide = x.dtype() == DType::float64 ? x : as(x, DType::float32);
  return as_string(wide, -1, false, true);
}

Tensor from_text(const Tensor& x, DType dtype) {
  const DType read = is_integer(dtype)         ? DType::int64
                     : dtype == DType::float64 ? DType::float64
                                               : DType::float32;
  return as(string_to_number(x, read), dtype);
}

}  // namespace

Tensor widened(const Value& value) {
  const Format* format = format_of(value.element);
  return format ? decoded(value.tensor, *format) : value.tensor;
}

Value narrowed(const Tensor& x, Element element, const NarrowOptions& options) {
  if (const Format* format = format_of(element)) return {encoded(x, *format, options), element};
  return {wrapped(x, element), element};
}

Value converted(const Value& value, Element element, const NarrowOptions& options) {
  if (value.element == element) return value;
  const Tensor x = widened(value);
  if (is_narrow(element)) return narrowed(x, element, options);
  const DType dtype = storage_of(element);
  if (dtype == DType::string) return to_text(x);
  if (x.dtype() == DType::string) return from_text(x, dtype);
  return as(x, dtype);
}

}  // namespace tidemark::io::onnx
