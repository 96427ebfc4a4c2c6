#include "tidemark/serve/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tidemark/serve/status.h"

namespace tidemark::serve {
namespace {

std::string text_of(const Tensor& t) {
  std::string out;
  put_elements(out, t, false);
  return out;
}

Tensor read(std::string_view json, DType dtype) {
  return tensor_from(JsonDocument(json).root(), dtype, "x");
}

TEST(Json, TensorsComeBackAsTheyWere) {
  EXPECT_EQ(text_of(read("[[1, 2.5], [-3e2, 0]]", DType::float32)), "[[1.0, 2.5], [-300.0, 0.0]]");
  EXPECT_EQ(text_of(read("[true, false]", DType::bool_)), "[true, false]");
  EXPECT_EQ(text_of(read("18446744073709551615", DType::uint64)), "18446744073709551615");
  EXPECT_EQ(text_of(read("[]", DType::int32)), "[]");
  EXPECT_EQ(read("[[], []]", DType::int32).shape(), (Shape{2, 0}));
  EXPECT_EQ(text_of(read(R"(["a\n", {"b64": "/w=="}])", DType::string)),
            "[\"a\\u000a\", \"\xEF\xBF\xBD\"]");
  EXPECT_EQ(text_of(read("0.1", DType::float64)), "0.1");
  EXPECT_EQ(text_of(read("0.1", DType::float32)), "0.1");
}

TEST(Json, NumbersThatJsonLacks) {
  const float values[] = {std::nanf(""), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()};
  EXPECT_EQ(text_of(Tensor::of(std::span<const float>(values), {3})), "[NaN, Infinity, -Infinity]");
}

TEST(Json, WhatDoesNotFitIsRefused) {
  for (const char* wrong : {"[[1], [1, 2]]", "[1, [2]]", "[[1], 2]", "\"a\"", "null", "{}",
                            "[true]", "1.5", "300", "-1"}) {
    EXPECT_THROW(read(wrong, DType::uint8), RequestError) << wrong;
  }
  for (const char* wrong : {"", "[", "{\"a\":}", "01", "\"\\x\"", "\xff"}) {
    EXPECT_THROW(JsonDocument{wrong}, RequestError) << wrong;
  }
  EXPECT_THROW(read(std::string(40, '[') + std::string(40, ']'), DType::int32), RequestError);
  EXPECT_THROW(tensor_of_shape(JsonDocument("[1, 2]").root(), DType::int32, {3}, "x"),
               RequestError);
  EXPECT_THROW(tensor_of_shape(JsonDocument("[1, 2]").root(), DType::int32, {1}, "x"),
               RequestError);
}

TEST(Json, RowsOfATensor) {
  std::string out;
  put_row(out, Tensor::of({1, 2, 3, 4}, {2, 2}), 1, false);
  EXPECT_EQ(out, "[3, 4]");
}

TEST(Base64, GoesThereAndBack) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    std::string again;
    ASSERT_TRUE(from_base64(base64(bytes), again));
    EXPECT_EQ(again, bytes);
    bytes += static_cast<char>(i * 37);
  }
  std::string ignored;
  EXPECT_FALSE(from_base64("a", ignored));
  EXPECT_FALSE(from_base64("ab!d", ignored));
}

}  // namespace
}  // namespace tidemark::serve
