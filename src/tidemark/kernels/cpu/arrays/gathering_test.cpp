#include "tidemark/kernels/cpu/arrays/movement_testing.h"
#include "tidemark/memory/buffer.h"

namespace tidemark {
namespace {

using namespace testing;

Tensor random_indices(std::mt19937& random, const Shape& shape, int64_t limit, bool wide) {
  std::vector<int64_t> values(static_cast<size_t>(shape.num_elements()));
  for (auto& v : values) v = static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
  if (wide) return Tensor::of(std::span<const int64_t>(values), shape);
  const std::vector<int32_t> narrow(values.begin(), values.end());
  return Tensor::of(std::span<const int32_t>(narrow), shape);
}

TEST(Gather, AgreesWithLoopsForEveryAxisAndBatch) {
  std::mt19937 random(3);
  const DType dtypes[] = {DType::bool_, DType::float16, DType::float32, DType::int64,
                          DType::complex128};
  for (int round = 0; round < 400; ++round) {
    Shape params;
    for (int i = 0; i < 4; ++i) params.push_back(1 + static_cast<int64_t>(random() % 4));
    const auto axis = static_cast<int>(random() % 4);
    const auto batch = static_cast<int>(random() % static_cast<unsigned>(axis + 1));
    Shape index_shape;
    for (int i = 0; i < batch; ++i) index_shape.push_back(params[i]);
    const auto extra = static_cast<int>(random() % 3);
    for (int i = 0; i < extra; ++i) index_shape.push_back(static_cast<int64_t>(random() % 4));
    const Tensor x = numbered(dtypes[random() % 5], params);
    const Tensor indices = random_indices(random, index_shape, params[axis], random() % 2);
    const Ints flat = indices.to_ints();
    Shape out;
    for (int i = 0; i < axis; ++i) out.push_back(params[i]);
    for (int i = batch; i < index_shape.rank(); ++i) out.push_back(index_shape[i]);
    for (int i = axis + 1; i < 4; ++i) out.push_back(params[i]);
    const Tensor y =
        call("gather", {x, indices}, {{"axis", axis - (round % 2 ? 4 : 0)}, {"batch_dims", batch}});
    expect_moved(y, x, out, [&](const Ints& at) {
      Ints which(at.begin(), at.begin() + batch);
      which.insert(which.end(), at.begin() + axis, at.begin() + axis + extra);
      Ints from(at.begin(), at.begin() + axis);
      from.push_back(flat[static_cast<size_t>(flat_index(index_shape, which))]);
      from.insert(from.end(), at.begin() + axis + extra, at.end());
      return from;
    });
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST(Gather, LargeRowsInSeveralPieces) {
  const Tensor x = numbered(DType::float32, {300, 1000});
  std::mt19937 random(1);
  const Tensor indices = random_indices(random, {500}, 300, false);
  const Ints rows = indices.to_ints();
  expect_moved(call("gather", {x, indices}), x, {500, 1000}, [&](const Ints& at) {
    return Ints{rows[static_cast<size_t>(at[0])], at[1]};
  });
}

TEST(Gather, Strings) {
  const Tensor x = strings({"zero", "", "two"}, {3});
  EXPECT_EQ(to_strings(call("gather", {x, vec({2, 0, 2, 1})})),
            (std::vector<std::string>{"two", "zero", "two", ""}));
}

TEST(Gather, OneLongStringDoesNotCountForAll) {
  const Tensor x = strings({"a", std::string(1 << 20, 'x')}, {2});
  const Tensor y = call("gather", {x, call("broadcast_to", {Tensor(0), vec({1000})})});
  EXPECT_EQ(y.impl()->buffer->bytes, 1000 * sizeof(StringRef) + 1000);
}

TEST(Gather, RefusesBadIndices) {
  const Tensor x = iota<float>({3, 2});
  expect_invalid([&] { call("gather", {x, vec({0, 3})}); }, "indices[1] = 3 is not in [0, 3)");
  expect_invalid([&] { call("gather", {x, vec({-1})}); }, "indices[0] = -1 is not in [0, 3)");
  expect_invalid([&] { call("gather", {x, Tensor(7)}); }, "indices = 7 is not in [0, 3)");
  expect_invalid(
      [&] {
        call("gather", {x, Tensor::of<int32_t>({0, 1, 2, 0}, {2, 2})}, {{"axis", 1}});
      },
      "indices[1,0] = 2 is not in [0, 2)");
  expect_invalid([&] { call("gather", {x, vec({0})}, {{"axis", 2}}); }, "[-2, 2)");
  expect_invalid([&] { call("gather", {x, vec({0})}, {{"batch_dims", 2}}); }, "batch_dims");
  expect_invalid(
      [&] {
        call("gather", {x, vec({0, 1})}, {{"batch_dims", 1}, {"axis", 1}});
      },
      "params.shape[0]: 3");
  EXPECT_EQ(call("gather", {iota<float>({0, 2}), vec(Ints{})}).shape(), (Shape{0, 2}));
  expect_invalid([&] { call("gather", {iota<float>({0, 2}), vec({0})}); }, "not in [0, 0)");
}

TEST(GatherNd, AgreesWithLoops) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    const Shape params{3, 2, 4, 2};
    const auto batch = static_cast<int>(random() % 2);
    const auto depth = static_cast<int>(random() % static_cast<unsigned>(5 - batch));
    Shape index_shape;
    if (batch) index_shape.push_back(3);
    index_shape.push_back(5);
    index_shape.push_back(depth);
    std::vector<int64_t> values(static_cast<size_t>(index_shape.num_elements()));
    for (size_t i = 0; i < values.size(); ++i) {
      const int d = batch + static_cast<int>(i % static_cast<size_t>(depth));
      values[i] = static_cast<int64_t>(random() % static_cast<uint64_t>(params[d]));
    }
    const Tensor x = numbered(DType::int32, params);
    const Tensor indices = Tensor::of(std::span<const int64_t>(values), index_shape);
    Shape out = index_shape;
    out.erase(out.rank() - 1);
    const int points = out.rank();
    for (int i = batch + depth; i < 4; ++i) out.push_back(params[i]);
    const Tensor y = call("gather_nd", {x, indices}, {{"batch_dims", batch}});
    expect_moved(y, x, out, [&](const Ints& at) {
      Ints which(at.begin(), at.begin() + points);
      Ints from(at.begin(), at.begin() + batch);
      which.push_back(0);
      for (int d = 0; d < depth; ++d) {
        which.back() = d;
        from.push_back(values[static_cast<size_t>(flat_index(index_shape, which))]);
      }
      from.insert(from.end(), at.begin() + points, at.end());
      return from;
    });
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST(GatherNd, RefusesBadPositions) {
  const Tensor x = iota<float>({3, 2});
  expect_invalid(
      [&] {
        call("gather_nd", {x, Tensor::of<int32_t>({0, 0, 1, 2}, {2, 2})});
      },
      "indices[1] = [1, 2] does not index into params shape [3,2]");
  expect_invalid(
      [&] {
        call("gather_nd", {x, Tensor::of<int32_t>({0, 0, 0}, {1, 3})});
      },
      "index innermost dimension length must be <= params rank; saw: 3 vs. 2");
}

TEST(OneHot, EveryAxisAndOutside) {
  const Tensor indices = Tensor::of<int32_t>({0, 2, -1, 3}, {2, 2});
  const Tensor y = call("one_hot", {indices, Tensor(3), Tensor(5.f), Tensor(1.f)});
  EXPECT_EQ(y.shape(), (Shape{2, 2, 3}));
  EXPECT_EQ(to_vector<float>(y), (std::vector<float>{5, 1, 1, 1, 1, 5, 1, 1, 1, 1, 1, 1}));
  const Tensor z =
      call("one_hot", {indices, Tensor(3), Tensor(true), Tensor(false)}, {{"axis", 0}});
  EXPECT_EQ(z.shape(), (Shape{3, 2, 2}));
  EXPECT_EQ(to_vector<bool>(z), (std::vector<bool>{1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0}));
  expect_invalid(
      [&] {
        call("one_hot", {indices, Tensor(-1), Tensor(1.f), Tensor(0.f)});
      },
      "depth must be non-negative, got: -1");
  EXPECT_EQ(call("one_hot", {indices, Tensor(0), Tensor(1.f), Tensor(0.f)}).shape(),
            (Shape{2, 2, 0}));
}

TEST(Nonzero, PositionsInOrder) {
  const Tensor c = Tensor::of<bool>({false, true, true, false, false, true}, {2, 3});
  const Tensor y = call("nonzero", {c});
  EXPECT_EQ(y.shape(), (Shape{3, 2}));
  EXPECT_EQ(to_vector<int64_t>(y), (std::vector<int64_t>{0, 1, 0, 2, 1, 2}));
  EXPECT_EQ(call("nonzero", {Tensor(true)}).shape(), (Shape{1, 0}));
  EXPECT_EQ(call("nonzero", {Tensor::of<bool>({false})}).shape(), (Shape{0, 1}));
}

TEST(BooleanMask, RowsAndElementsAndInnerAxes) {
  const Tensor x = iota<int32_t>({2, 3});
  EXPECT_EQ(to_vector<int32_t>(call("boolean_mask", {x, Tensor::of<bool>({false, true})})),
            (std::vector<int32_t>{3, 4, 5}));
  const Tensor all = Tensor::of<bool>({true, false, true, false, true, true}, {2, 3});
  EXPECT_EQ(to_vector<int32_t>(call("boolean_mask", {x, all})), (std::vector<int32_t>{0, 2, 4, 5}));
  const Tensor inner =
      call("boolean_mask", {x, Tensor::of<bool>({true, false, true})}, {{"axis", 1}});
  EXPECT_EQ(inner.shape(), (Shape{2, 2}));
  EXPECT_EQ(to_vector<int32_t>(inner), (std::vector<int32_t>{0, 2, 3, 5}));
  EXPECT_EQ(to_strings(call("boolean_mask", {strings({"a", "bb", "c"}, {3}),
                                             Tensor::of<bool>({true, false, true})})),
            (std::vector<std::string>{"a", "c"}));
  expect_invalid(
      [&] {
        call("boolean_mask", {x, Tensor::of<bool>({true, true, true})});
      },
      "incompatible");
}

}  // namespace
}  // namespace tidemark
