// Constants, copies, choices, sums of many, and strings.

#include <gtest/gtest.h>

#include "tidemark/kernels/cpu/testing.h"

namespace tidemark {
namespace {

using namespace tidemark::testing;
using Values = std::vector<double>;

Tensor dims(std::initializer_list<int64_t> d) { return Tensor::of(d); }
Tensor strings(std::initializer_list<std::string_view> v) {
  const std::vector<std::string_view> all(v);
  return Tensor::of_strings(all, {static_cast<int64_t>(all.size())});
}
std::vector<std::string> texts(const Tensor& t) {
  std::vector<std::string> out;
  for (int64_t i = 0; i < t.num_elements(); ++i) out.emplace_back(t.string_at(i));
  return out;
}

TEST(Fill, EveryDtype) {
  for (DType d : all_of(kPlain)) {
    const Tensor y = call("fill", {dims({2, 3}), tensor(d, {1}, {})});
    EXPECT_EQ(y.shape(), (Shape{2, 3}));
    EXPECT_EQ(y.dtype(), d);
    EXPECT_EQ(doubles(y), Values(6, 1));
  }
  EXPECT_EQ(call("fill", {Tensor::of<int32_t>({4}), Tensor(2.f)}).shape(), Shape{4});
  EXPECT_EQ(call("fill", {dims({}), Tensor(2.f)}).item<float>(), 2);
  EXPECT_EQ(call("fill", {dims({0, 3}), Tensor(2.f)}).num_elements(), 0);
}

TEST(Fill, LargeAndOdd) {
  const Tensor y = call("fill", {dims({(8 << 20) / 8 + 12345}), Tensor(int64_t{7})});
  for (int64_t v : y.values<int64_t>()) ASSERT_EQ(v, 7);
}

TEST(Fill, BadSizes) {
  EXPECT_THROW(call("fill", {dims({2, -1}), Tensor(1)}), InvalidArgumentError);
  EXPECT_THROW(call("fill", {dims({int64_t{1} << 40, int64_t{1} << 40}), Tensor(1)}), Error);
  EXPECT_THROW(call("fill", {dims({int64_t{1} << 61}), Tensor(1)}), ResourceExhaustedError);
  EXPECT_THROW(call("fill", {dims({2}), tensor(DType::int32, {1, 2})}), InvalidArgumentError);
  EXPECT_THROW(call("fill", {Tensor(int64_t{2}), Tensor(1)}), InvalidArgumentError);
}

TEST(Fill, Strings) {
  const Tensor value = strings({"tide"}).reshaped({});
  EXPECT_EQ(texts(call("fill", {dims({3}), value})), (std::vector<std::string>(3, "tide")));
}

TEST(Fill, LikeAnother) {
  for (DType d : all_of(kPlain)) {
    const Tensor x = tensor(d, {0, 1, 1}, {3, 1});
    EXPECT_EQ(doubles(call("zeros_like", {x})), Values(3, 0));
    EXPECT_EQ(doubles(call("ones_like", {x})), Values(3, 1));
    EXPECT_EQ(call("ones_like", {x}).shape(), x.shape());
    EXPECT_EQ(call("ones_like", {Tensor(1)}, {{"dtype", d}}).dtype(), d);
  }
  EXPECT_EQ(texts(call("zeros_like", {strings({"a", "b"})})), (std::vector<std::string>{"", ""}));
  EXPECT_THROW(call("ones_like", {strings({"a"})}), InvalidArgumentError);
}

TEST(Fill, IdentitySharesTheElements) {
  const Tensor x = tensor(DType::float32, {1, 2});
  EXPECT_EQ(call("identity", {x}).raw_data(), x.raw_data());
  EXPECT_EQ(call("stop_gradient", {x}).raw_data(), x.raw_data());
}

TEST(Select, EveryDtypeAndBroadcast) {
  const Tensor c = tensor(DType::bool_, {1, 0, 0, 1});
  for (DType d : all_of(kPlain)) {
    const Tensor x = tensor(d, {1, 1, 1, 1}), y = tensor(d, {0, 0, 0, 0});
    EXPECT_EQ(doubles(call("select", {c, x, y})), (Values{1, 0, 0, 1})) << name_of(d);
  }
  const Tensor column = tensor(DType::bool_, {1, 0}, {2, 1});
  const Tensor row = tensor(DType::int16, {1, 2, 3});
  const Tensor y = call("select", {column, row, tensor(DType::int16, {9}, {})});
  EXPECT_EQ(y.shape(), (Shape{2, 3}));
  EXPECT_EQ(doubles(y), (Values{1, 2, 3, 9, 9, 9}));
  EXPECT_EQ(doubles(call("select", {Tensor(true), row, row + row})), (Values{1, 2, 3}));
  EXPECT_THROW(call("select", {row, row, row}), InvalidArgumentError);
}

TEST(Select, MixedDtypesPromote) {
  const Tensor y = call("select", {Tensor(true), Tensor(1), Tensor(2.5f)});
  EXPECT_EQ(y.dtype(), DType::float32);
}

TEST(AddN, SumsAllInputs) {
  for (DType d : all_of(kNumeric)) {
    const Tensor a = tensor(d, {1, 2, 3}), b = tensor(d, {4, 5, 6}), c = tensor(d, {7, 8, 9});
    EXPECT_EQ(doubles(call("add_n", {a, b, c})), (Values{12, 15, 18})) << name_of(d);
    EXPECT_EQ(doubles(call("add_n", {a})), (Values{1, 2, 3}));
    EXPECT_EQ(doubles(a), (Values{1, 2, 3}));
  }
  const Tensor big = call("fill", {dims({100'003}), Tensor(3.f)});
  for (float v : call("add_n", {big, big, big}).values<float>()) ASSERT_EQ(v, 9);
  EXPECT_THROW(call("add_n", {Tensor(1.f), tensor(DType::float32, {1, 2})}), InvalidArgumentError);
}

TEST(Bitcast, ReadsTheSameBytes) {
  const Tensor x = tensor(DType::float32, {1, 2});
  const Tensor bits = call("bitcast", {x}, {{"type", DType::int32}});
  EXPECT_EQ(bits.data<int32_t>()[0], 0x3f800000);
  EXPECT_EQ(bits.raw_data(), x.raw_data());
  const Tensor bytes = call("bitcast", {x}, {{"type", DType::uint8}});
  EXPECT_EQ(bytes.shape(), (Shape{2, 4}));
  EXPECT_EQ(doubles(bytes), (Values{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}));
  const Tensor back = call("bitcast", {bytes}, {{"type", DType::float32}});
  EXPECT_EQ(back.shape(), Shape{2});
  EXPECT_EQ(doubles(back), (Values{1, 2}));
  EXPECT_THROW(call("bitcast", {tensor(DType::int32, {1, 2, 3})}, {{"type", DType::int64}}),
               InvalidArgumentError);
  EXPECT_THROW(call("bitcast", {x}, {{"type", DType::string}}), InvalidArgumentError);
}

TEST(Strings, CompareJoinAndChoose) {
  const Tensor x = strings({"a", "", "long enough to matter"}), y = strings({"a", "b", "c"});
  EXPECT_EQ(doubles(call("equal", {x, y})), (Values{1, 0, 0}));
  EXPECT_EQ(doubles(call("not_equal", {x, strings({"a"})})), (Values{0, 1, 1}));
  EXPECT_EQ(texts(call("add", {x, y})),
            (std::vector<std::string>{"aa", "b", "long enough to matterc"}));
  EXPECT_EQ(texts(call("add", {y, strings({"!"}).reshaped({})})),
            (std::vector<std::string>{"a!", "b!", "c!"}));
  const Tensor c = tensor(DType::bool_, {1, 0, 1});
  EXPECT_EQ(texts(call("select", {c, x, y})),
            (std::vector<std::string>{"a", "b", "long enough to matter"}));
  EXPECT_EQ(texts(call("select", {c, x, strings({"?"})}))[1], "?");
  EXPECT_THROW(call("add", {x, Tensor(1)}), InvalidArgumentError);
}

}  // namespace
}  // namespace tidemark
