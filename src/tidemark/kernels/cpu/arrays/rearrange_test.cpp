#include <algorithm>

#include "tidemark/kernels/cpu/arrays/movement_testing.h"

namespace tidemark {
namespace {

using namespace testing;

void check_transpose(const Tensor& x, const Ints& perm) {
  Shape out;
  for (int64_t p : perm) out.push_back(x.shape()[static_cast<int>(p)]);
  const Tensor y = call("transpose", {x}, {{"perm", perm}});
  expect_moved(y, x, out, [&](const Ints& at) {
    Ints from(perm.size());
    for (size_t i = 0; i < perm.size(); ++i) from[static_cast<size_t>(perm[i])] = at[i];
    return from;
  });
}

TEST(Transpose, AllPermutationsUpToRankFive) {
  const DType dtypes[] = {DType::uint8, DType::bfloat16, DType::int32, DType::float64,
                          DType::complex128};
  const int64_t sizes[] = {3, 5, 2, 7, 4};
  for (int rank = 0; rank <= 5; ++rank) {
    const Shape shape{std::span<const int64_t>(sizes, static_cast<size_t>(rank))};
    Ints perm(static_cast<size_t>(rank));
    std::iota(perm.begin(), perm.end(), 0);
    do {
      for (DType dtype : dtypes) check_transpose(numbered(dtype, shape), perm);
      if (HasFatalFailure()) return;
    } while (std::next_permutation(perm.begin(), perm.end()));
  }
}

TEST(Transpose, SizesAroundTiles) {
  for (DType dtype :
       {DType::bool_, DType::float16, DType::float32, DType::int64, DType::complex128}) {
    for (int64_t rows : {1, 4, 15, 32, 33, 65, 130}) {
      for (int64_t columns : {1, 3, 16, 31, 64, 67}) {
        check_transpose(numbered(dtype, {rows, columns}), {1, 0});
        check_transpose(numbered(dtype, {2, rows, columns}), {0, 2, 1});
        check_transpose(numbered(dtype, {rows, 2, columns}), {2, 1, 0});
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Transpose, LargeInSeveralPieces) {
  check_transpose(numbered(DType::float32, {701, 1013}), {1, 0});
  check_transpose(numbered(DType::float32, {37, 101, 203}), {1, 0, 2});
  check_transpose(numbered(DType::int8, {1500, 701}), {1, 0});
}

TEST(Transpose, ReversesWithoutPermAndTakesNegativeAxes) {
  const Tensor x = iota<int32_t>({2, 3});
  EXPECT_EQ(to_vector<int32_t>(call("transpose", {x})), (std::vector<int32_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(to_vector<int32_t>(call("transpose", {x}, {{"perm", Ints{-1, 0}}})),
            (std::vector<int32_t>{0, 3, 1, 4, 2, 5}));
}

TEST(Transpose, IsAViewWhereOnlyOnesMove) {
  const Tensor x = iota<float>({1, 4, 1, 3});
  const Tensor y = call("transpose", {x}, {{"perm", Ints{1, 0, 3, 2}}});
  EXPECT_TRUE(shares_elements(x, y));
  EXPECT_EQ(y.shape(), (Shape{4, 1, 3, 1}));
}

TEST(Transpose, Conjugates) {
  using C = std::complex<float>;
  const Tensor x = Tensor::of<C>({C(1, 2), C(3, 4)}, {1, 2});
  const Tensor y = call("transpose", {x}, {{"conjugate", true}});
  EXPECT_EQ(to_vector<C>(y), (std::vector<C>{C(1, -2), C(3, -4)}));
  EXPECT_EQ(x.data<C>()[0], C(1, 2));
}

TEST(Transpose, Strings) {
  const Tensor y = call("transpose", {strings({"a", "bb", "ccc", "d"}, {2, 2})});
  EXPECT_EQ(to_strings(y), (std::vector<std::string>{"a", "ccc", "bb", "d"}));
}

TEST(Transpose, RefusesBadPermutations) {
  const Tensor x = iota<float>({2, 3});
  expect_invalid([&] { call("transpose", {x}, {{"perm", Ints{0}}}); }, "vector of size 2");
  expect_invalid([&] { call("transpose", {x}, {{"perm", Ints{0, 0}}}); }, "twice");
  expect_invalid([&] { call("transpose", {x}, {{"perm", Ints{0, 2}}}); }, "[-2, 2)");
}

TEST(Reverse, AnyAxes) {
  const Tensor x = numbered(DType::uint16, {3, 4, 5});
  for (int mask = 0; mask < 8; ++mask) {
    Ints axes;
    for (int i = 0; i < 3; ++i) {
      if ((mask >> i) & 1) axes.push_back(i == 1 ? -2 : i);
    }
    const Tensor y = call("reverse", {x}, {{"axis", axes}});
    expect_moved(y, x, x.shape(), [&](const Ints& at) {
      Ints from = at;
      for (int i = 0; i < 3; ++i) {
        auto& p = from[static_cast<size_t>(i)];
        if ((mask >> i) & 1) p = x.dim(i) - 1 - p;
      }
      return from;
    });
  }
  expect_invalid(
      [&] {
        call("reverse", {x}, {{"axis", Ints{0, -3}}});
      },
      "specified more than once");
  EXPECT_EQ(call("reverse", {iota<float>({0, 2})}, {{"axis", Ints{0}}}).shape(), (Shape{0, 2}));
}

TEST(Roll, WrapsAround) {
  const Tensor x = numbered(DType::int64, {4, 5});
  for (int64_t a : {-9, -1, 0, 3, 4, 11}) {
    for (int64_t b : {-6, 0, 2}) {
      const Tensor y = call("roll", {x, vec({a, b})}, {{"axis", Ints{0, 1}}});
      expect_moved(y, x, x.shape(), [&](const Ints& at) {
        return Ints{((at[0] - a) % 4 + 4) % 4, ((at[1] - b) % 5 + 5) % 5};
      });
    }
  }
  const Tensor twice = call("roll", {iota<int32_t>({5}), vec({1, 3})}, {{"axis", Ints{0, 0}}});
  EXPECT_EQ(to_vector<int32_t>(twice), (std::vector<int32_t>{1, 2, 3, 4, 0}));
  expect_invalid([&] { call("roll", {x, vec({1})}, {{"axis", Ints{0, 1}}}); }, "same size");
  expect_invalid([&] { call("roll", {x, vec({1})}, {{"axis", Ints{2}}}); }, "[-2, 2)");
}

TEST(ReverseSequence, ReversesTheHeads) {
  const Tensor x = iota<int32_t>({2, 4});
  const Tensor y = call("reverse_sequence", {x, vec({3, 0})}, {{"seq_axis", 1}});
  EXPECT_EQ(to_vector<int32_t>(y), (std::vector<int32_t>{2, 1, 0, 3, 4, 5, 6, 7}));
  const Tensor z =
      call("reverse_sequence", {x, vec({2, 1, 2, 0})}, {{"seq_axis", 0}, {"batch_axis", 1}});
  EXPECT_EQ(to_vector<int32_t>(z), (std::vector<int32_t>{4, 1, 6, 3, 0, 5, 2, 7}));
  expect_invalid(
      [&] {
        call("reverse_sequence", {x, vec({5, 0})}, {{"seq_axis", 1}});
      },
      "seq_lens(0) is 5");
}

}  // namespace
}  // namespace tidemark
