// Words for the tests of the ops that move elements.
#pragma once

#include <gtest/gtest.h>
#include <tidemark/call.h>

#include <complex>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace tidemark::testing {

/// A tensor of that dtype whose elements differ from each other in every byte pattern they can.
inline Tensor numbered(DType dtype, const Shape& shape, uint64_t first = 1) {
  Tensor t = Tensor::uninitialized(dtype, shape);
  auto* bytes = static_cast<unsigned char*>(t.mutable_raw_data());
  const size_t size = size_of(dtype);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    const uint64_t value = first + static_cast<uint64_t>(i);
    for (size_t b = 0; b < size; ++b) {
      bytes[static_cast<size_t>(i) * size + b] = static_cast<unsigned char>(
          dtype == DType::bool_ ? value & 1 : (value * 0x9E3779B97F4A7C15ull + b) >> (8 * (b % 8)));
    }
  }
  return t;
}

template <class T>
Tensor iota(const Shape& shape, T first = T(0)) {
  std::vector<T> values(static_cast<size_t>(shape.num_elements()));
  std::iota(values.begin(), values.end(), first);
  return Tensor::of(std::span<const T>(values), shape);
}

inline Tensor vec(std::initializer_list<int64_t> values) { return Tensor::of<int64_t>(values); }
inline Tensor vec(const Ints& values) {
  return Tensor::of(std::span<const int64_t>(values), Shape{static_cast<int64_t>(values.size())});
}

inline Tensor strings(const std::vector<std::string>& values, const Shape& shape) {
  std::vector<std::string_view> views(values.begin(), values.end());
  return Tensor::of_strings(views, shape);
}
inline std::vector<std::string> to_strings(const Tensor& t) {
  std::vector<std::string> out;
  for (int64_t i = 0; i < t.num_elements(); ++i) out.emplace_back(t.string_at(i));
  return out;
}

template <class T>
std::vector<T> to_vector(const Tensor& t) {
  const auto values = t.values<T>();
  return std::vector<T>(values.begin(), values.end());
}

/// The bytes of element `index`.
inline std::string_view element(const Tensor& t, int64_t index) {
  const size_t size = size_of(t.dtype());
  return {static_cast<const char*>(t.raw_data()) + static_cast<size_t>(index) * size, size};
}

/// Position of element `flat` in a tensor of that shape, and back.
inline Ints position(const Shape& shape, int64_t flat) {
  Ints out(static_cast<size_t>(shape.rank()));
  for (int i = shape.rank() - 1; i >= 0; --i) {
    out[static_cast<size_t>(i)] = flat % shape[i];
    flat /= shape[i];
  }
  return out;
}
inline int64_t flat_index(const Shape& shape, const Ints& position) {
  int64_t flat = 0;
  for (int i = 0; i < shape.rank(); ++i) flat = flat * shape[i] + position[static_cast<size_t>(i)];
  return flat;
}

/// Checks that each element of `out` is the element of `in` that `source` names, bit for bit.
inline void expect_moved(const Tensor& out, const Tensor& in, const Shape& shape,
                         const std::function<Ints(const Ints&)>& source) {
  ASSERT_EQ(out.shape(), shape) << out.shape().to_string() << " instead of " << shape.to_string();
  ASSERT_EQ(out.dtype(), in.dtype());
  for (int64_t i = 0; i < out.num_elements(); ++i) {
    const int64_t from = flat_index(in.shape(), source(position(shape, i)));
    ASSERT_EQ(element(out, i), element(in, from)) << "at " << i << " of " << shape.to_string();
  }
}

/// The call throws InvalidArgumentError whose message holds `part`.
template <class Fn>
void expect_invalid(const Fn& fn, const std::string& part) {
  try {
    fn();
    ADD_FAILURE() << "nothing was thrown; expected an error with: " << part;
  } catch (const InvalidArgumentError& e) {
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

/// True iff both handles look at the same buffer.
inline bool shares_elements(const Tensor& a, const Tensor& b) {
  return a.impl()->buffer == b.impl()->buffer;
}

}  // namespace tidemark::testing
