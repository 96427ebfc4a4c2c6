#include "tidemark/kernels/cpu/arrays/movement_testing.h"

namespace tidemark {
namespace {

using namespace testing;

TEST(Reshape, IsAViewAndInfersOneSize) {
  const Tensor x = iota<float>({2, 6});
  const Tensor y = call("reshape", {x, vec({3, -1})});
  EXPECT_EQ(y.shape(), (Shape{3, 4}));
  EXPECT_TRUE(shares_elements(x, y));
  EXPECT_EQ(call("reshape", {Tensor(1.f), vec({1, 1})}).shape(), (Shape{1, 1}));
  EXPECT_EQ(call("reshape", {iota<float>({1}), vec(Ints{})}).shape(), Shape{});
  EXPECT_EQ(call("reshape", {iota<float>({0, 3}), vec({3, 0})}).shape(), (Shape{3, 0}));
  EXPECT_EQ(call("reshape", {iota<float>({0, 3}), vec({3, -1})}).shape(), (Shape{3, 0}));
}

TEST(Reshape, RefusesWhatDoesNotFit) {
  const Tensor x = iota<float>({6});
  expect_invalid(
      [&] {
        call("reshape", {x, vec({4})});
      },
      "Input to reshape is a tensor with 6 values, but the requested shape has 4");
  expect_invalid([&] { call("reshape", {x, vec({4, -1})}); }, "requires a multiple of 4");
  expect_invalid(
      [&] {
        call("reshape", {x, vec({-1, -1})});
      },
      "Only one input size may be -1, not both 0 and 1");
  expect_invalid(
      [&] {
        call("reshape", {x, vec({-2, 3})});
      },
      "Size 0 must be non-negative, not -2");
  expect_invalid([&] { call("reshape", {x, Tensor(6)}); }, "must be 1-D");
  expect_invalid([&] { call("reshape", {x, vec({int64_t{1} << 62, 4})}); }, "2^63 - 1");
  expect_invalid([&] { call("reshape", {x, vec({int64_t{1} << 62, -1, 4})}); }, "2^63 - 1");
  expect_invalid([&] { call("reshape", {iota<float>({0}), vec({0, -1})}); }, "cannot infer");
}

TEST(ExpandDims, EveryAxis) {
  const Tensor x = iota<float>({2, 3});
  EXPECT_EQ(call("expand_dims", {x}, {{"axis", 0}}).shape(), (Shape{1, 2, 3}));
  EXPECT_EQ(call("expand_dims", {x}, {{"axis", -1}}).shape(), (Shape{2, 3, 1}));
  EXPECT_EQ(call("expand_dims", {x}, {{"axis", -3}}).shape(), (Shape{1, 2, 3}));
  expect_invalid(
      [&] {
        call("expand_dims", {x}, {{"axis", 3}});
      },
      "Tried to expand dim index 3 for tensor with 2 dimensions");
}

TEST(Squeeze, AllOrNamed) {
  const Tensor x = iota<float>({1, 2, 1, 3});
  EXPECT_EQ(call("squeeze", {x}).shape(), (Shape{2, 3}));
  EXPECT_EQ(call("squeeze", {x}, {{"axis", Ints{-2}}}).shape(), (Shape{1, 2, 3}));
  EXPECT_EQ(call("squeeze", {x}, {{"axis", Ints{}}}).shape(), (Shape{2, 3}));
  expect_invalid(
      [&] {
        call("squeeze", {x}, {{"axis", Ints{1}}});
      },
      "Can not squeeze dim[1], expected a dimension of 1, got 2");
}

TEST(ShapeRankSize, TellWhatThereIs) {
  const Tensor x = iota<float>({2, 0, 5});
  EXPECT_EQ(to_vector<int32_t>(call("shape", {x})), (std::vector<int32_t>{2, 0, 5}));
  EXPECT_EQ(to_vector<int64_t>(call("shape", {x}, {{"out_type", DType::int64}})),
            (std::vector<int64_t>{2, 0, 5}));
  EXPECT_EQ(call("shape", {Tensor(1.f)}).shape(), Shape{0});
  EXPECT_EQ(call("rank", {x}).item<int32_t>(), 3);
  EXPECT_EQ(call("size", {x}).item<int32_t>(), 0);
  EXPECT_EQ(call("size", {strings({"a", "b"}, {2})}, {{"out_type", DType::int64}}).item<int64_t>(),
            2);
  expect_invalid([&] { call("shape", {x}, {{"out_type", DType::float32}}); }, "int32 or int64");
}

TEST(BroadcastTo, EveryKindOfDimension) {
  for (DType dtype :
       {DType::int8, DType::float16, DType::float32, DType::float64, DType::complex128}) {
    for (const Shape& in : {Shape{}, Shape{1}, Shape{5}, Shape{4, 1}, Shape{1, 5}, Shape{3, 1, 1},
                            Shape{3, 4, 5}, Shape{3, 1, 5}}) {
      const Tensor x = numbered(dtype, in);
      const Tensor y = call("broadcast_to", {x, vec({3, 4, 5})});
      expect_moved(y, x, {3, 4, 5}, [&](const Ints& at) {
        Ints from;
        for (int i = 0; i < in.rank(); ++i) {
          from.push_back(in[i] == 1 ? 0 : at[static_cast<size_t>(3 - in.rank() + i)]);
        }
        return from;
      });
    }
  }
  EXPECT_EQ(call("broadcast_to", {iota<float>({1}), vec({0})}).shape(), Shape{0});
  EXPECT_EQ(to_strings(call("broadcast_to", {strings({"ab"}, {1}), vec({3})})),
            (std::vector<std::string>(3, "ab")));
}

TEST(BroadcastTo, RefusesWhatDoesNotFit) {
  const Tensor x = iota<float>({2});
  expect_invalid([&] { call("broadcast_to", {x, vec({3})}); }, "Incompatible shapes: [2]");
  expect_invalid([&] { call("broadcast_to", {x, vec(Ints{})}); }, "Incompatible shapes: [2]");
  expect_invalid([&] { call("broadcast_to", {x, vec({-1, 2})}); }, "element 0 is -1");
  expect_invalid(
      [&] {
        call("broadcast_to", {Tensor(1.f), vec({int64_t{1} << 40, int64_t{1} << 40})});
      },
      "2^63 - 1");
}

}  // namespace
}  // namespace tidemark
