#include "tidemark/kernels/cpu/arrays/movement_testing.h"

namespace tidemark {
namespace {

using namespace testing;

TEST(Concat, AlongEveryAxisOfEveryElementSize) {
  for (DType dtype :
       {DType::bool_, DType::float16, DType::float32, DType::int64, DType::complex128}) {
    for (int axis = 0; axis < 3; ++axis) {
      Shape sa{3, 4, 5}, sb{3, 4, 5};
      sb[axis] = 2;
      const Tensor a = numbered(dtype, sa), b = numbered(dtype, sb, 1000);
      const Tensor y = call("concat", {a, b}, {{"axis", axis - 3}});
      Shape out = sa;
      out[axis] += 2;
      ASSERT_EQ(y.shape(), out);
      for (int64_t i = 0; i < y.num_elements(); ++i) {
        Ints at = position(out, i);
        int64_t& along = at[static_cast<size_t>(axis)];
        const bool first = along < sa[axis];
        if (!first) along -= sa[axis];
        const Tensor& from = first ? a : b;
        ASSERT_EQ(element(y, i), element(from, flat_index(from.shape(), at)));
      }
    }
  }
}

TEST(Concat, EmptyPartsAndOnePart) {
  const Tensor a = iota<float>({2, 3});
  const Tensor none = iota<float>({0, 3});
  EXPECT_EQ(call("concat", {none, a, none}, {{"axis", 0}}).shape(), (Shape{2, 3}));
  EXPECT_EQ(call("concat", {none, none}, {{"axis", 1}}).shape(), (Shape{0, 6}));
  EXPECT_TRUE(shares_elements(call("concat", {a}, {{"axis", 0}}), a));
}

TEST(Concat, Strings) {
  const Tensor a = strings({"a", "bb"}, {2, 1}), b = strings({"ccc", "", "d", "ee"}, {2, 2});
  EXPECT_EQ(to_strings(call("concat", {a, b}, {{"axis", 1}})),
            (std::vector<std::string>{"a", "ccc", "", "bb", "d", "ee"}));
}

TEST(Concat, RefusesWhatDoesNotFit) {
  const Tensor a = iota<float>({2, 3});
  expect_invalid(
      [&] {
        call("concat", {a, iota<float>({2})}, {{"axis", 0}});
      },
      "Ranks of all input tensors should match: [2,3] vs. [2]");
  expect_invalid(
      [&] {
        call("concat", {a, iota<float>({2, 2})}, {{"axis", 0}});
      },
      "Dimension 1 in both shapes must be equal");
  expect_invalid([&] { call("concat", {a, a}, {{"axis", 2}}); }, "[-2, 2)");
  expect_invalid(
      [&] {
        call("concat", {Tensor(1.f), Tensor(2.f)}, {{"axis", 0}});
      },
      "Can't concatenate scalars");
}

TEST(Stack, AlongEveryAxis) {
  const Tensor a = iota<int32_t>({2, 2}), b = iota<int32_t>({2, 2}, 10);
  auto stack = [&](int axis) {
    return to_vector<int32_t>(call("stack", {a, b}, {{"axis", axis}}));
  };
  EXPECT_EQ(stack(0), (std::vector<int32_t>{0, 1, 2, 3, 10, 11, 12, 13}));
  EXPECT_EQ(stack(1), (std::vector<int32_t>{0, 1, 10, 11, 2, 3, 12, 13}));
  EXPECT_EQ(stack(-1), (std::vector<int32_t>{0, 10, 1, 11, 2, 12, 3, 13}));
  expect_invalid(
      [&] {
        call("stack", {a, iota<int32_t>({2})});
      },
      "Shapes of all inputs must match: values[0].shape = [2,2] != values[1].shape");
}

TEST(Split, EqualAndGivenSizes) {
  const Tensor x = iota<float>({2, 6});
  const auto thirds = call_all("split", std::vector{x}, {{"num", 3}, {"axis", 1}});
  ASSERT_EQ(thirds.size(), 3u);
  EXPECT_EQ(to_vector<float>(thirds[1]), (std::vector<float>{2, 3, 8, 9}));
  const auto parts =
      call_all("split", std::vector{x}, {{"num", 3}, {"axis", 1}, {"sizes", Ints{1, -1, 2}}});
  EXPECT_EQ(to_vector<float>(parts[1]), (std::vector<float>{1, 2, 3, 7, 8, 9}));
  const auto rows = call_all("split", std::vector{x}, {{"num", 2}});
  EXPECT_TRUE(shares_elements(rows[1], x));
  EXPECT_EQ(rows[1].data<float>()[0], 6.f);
}

TEST(Split, RefusesSizesThatDoNotSum) {
  const Tensor x = iota<float>({6});
  auto split = [&](int num, Attr sizes) {
    call_all("split", std::vector{x}, {{"num", num}, {"sizes", sizes}});
  };
  expect_invalid([&] { split(4, {}); }, "evenly divide");
  expect_invalid([&] { split(2, Ints{1, 2}); }, "sizes must sum up to 6");
  expect_invalid([&] { split(2, Ints{7, -1}); }, "sizes must sum up to 6");
  expect_invalid([&] { split(2, Ints{-1, -1}); }, "only one");
  expect_invalid([&] { split(2, Ints{-2, 8}); }, "must be >= 0");
  expect_invalid([&] { split(3, Ints{2, 4}); }, "there are 2 sizes");
}

TEST(Unstack, ViewsAlongTheFirstAxisCopiesAlongOthers) {
  const Tensor x = iota<int64_t>({2, 3});
  const auto rows = call_all("unstack", std::vector{x}, {{"num", 2}});
  EXPECT_TRUE(shares_elements(rows[1], x));
  EXPECT_EQ(to_vector<int64_t>(rows[1]), (std::vector<int64_t>{3, 4, 5}));
  const auto columns = call_all("unstack", std::vector{x}, {{"num", 3}, {"axis", -1}});
  EXPECT_EQ(to_vector<int64_t>(columns[2]), (std::vector<int64_t>{2, 5}));
  expect_invalid([&] { call_all("unstack", std::vector{x}, {{"num", 3}}); }, "'num' is 3");
}

TEST(Tile, RepeatsTheWhole) {
  for (DType dtype : {DType::uint8, DType::float32, DType::complex64}) {
    const Tensor x = numbered(dtype, {2, 3, 2});
    const Tensor y = call("tile", {x, vec({2, 1, 3})});
    expect_moved(y, x, {4, 3, 6}, [](const Ints& at) { return Ints{at[0] % 2, at[1], at[2] % 2}; });
  }
  EXPECT_EQ(to_strings(call("tile", {strings({"ab", "c"}, {2}), vec({2})})),
            (std::vector<std::string>{"ab", "c", "ab", "c"}));
  EXPECT_EQ(call("tile", {iota<float>({2}), vec({0})}).shape(), Shape{0});
}

TEST(Tile, RefusesNegativeAndTooLarge) {
  const Tensor x = iota<float>({2, 2});
  expect_invalid(
      [&] {
        call("tile", {x, vec({1, -1})});
      },
      "Expected multiples[1] >= 0, but got -1");
  expect_invalid([&] { call("tile", {x, vec({1})}); }, "vector of length 2");
  expect_invalid([&] { call("tile", {x, vec({int64_t{1} << 62, 1})}); }, "2^63 - 1");
  expect_invalid([&] { call("tile", {x, vec({int64_t{1} << 40, int64_t{1} << 40})}); }, "2^63 - 1");
}

TEST(Repeat, EachSlice) {
  const Tensor x = iota<int32_t>({2, 2}, 1);
  EXPECT_EQ(to_vector<int32_t>(call("repeat", {x, Tensor(2)})),
            (std::vector<int32_t>{1, 1, 2, 2, 3, 3, 4, 4}));
  EXPECT_EQ(to_vector<int32_t>(call("repeat", {x, vec({2, 1})}, {{"axis", 0}})),
            (std::vector<int32_t>{1, 2, 1, 2, 3, 4}));
  EXPECT_EQ(to_vector<int32_t>(call("repeat", {x, vec({0, 3})}, {{"axis", -1}})),
            (std::vector<int32_t>{2, 2, 2, 4, 4, 4}));
  EXPECT_EQ(to_vector<int32_t>(call("repeat", {x, Tensor(2)}, {{"axis", 1}})),
            (std::vector<int32_t>{1, 1, 2, 2, 3, 3, 4, 4}));
  EXPECT_EQ(to_strings(call("repeat", {strings({"ab", "c"}, {2}), vec({1, 2})}, {{"axis", 0}})),
            (std::vector<std::string>{"ab", "c", "c"}));
  expect_invalid([&] { call("repeat", {x, vec({1, 2, 3})}, {{"axis", 0}}); }, "length 2");
  expect_invalid([&] { call("repeat", {x, vec({1, -2})}, {{"axis", 0}}); }, "repeats[1]");
}

}  // namespace
}  // namespace tidemark
