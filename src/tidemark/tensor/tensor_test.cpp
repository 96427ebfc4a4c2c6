#include <tidemark/memory.h>
#include <tidemark/tensor.h>

#include <gtest/gtest.h>

#include <sstream>

#include "tidemark/tensor/storage.h"

namespace tidemark {
namespace {

TEST(Tensor, HoldsValuesAndShape) {
  const Tensor t = Tensor::of({1.f, 2.f, 3.f, 4.f}, {2, 2});
  EXPECT_EQ(t.dtype(), DType::float32);
  EXPECT_EQ(t.nbytes(), 16u);
  EXPECT_EQ(t.data<float>()[3], 4.f);
  EXPECT_THROW(t.data<double>(), InvalidArgumentError);
  EXPECT_THROW(t.item<float>(), InvalidArgumentError);
  EXPECT_EQ(Tensor(7).item<int32_t>(), 7);
  EXPECT_THROW(Tensor::of({1.f, 2.f}, {3}), InvalidArgumentError);
}

TEST(Tensor, BytesGoBackWithTheLastHandleOrView) {
  const int64_t before = memory::stats().live;
  Tensor row;
  {
    Tensor t = Tensor::uninitialized(DType::float64, {100, 10});
    EXPECT_TRUE(t.is_unique());
    row = t.rows(3, 2);
    EXPECT_FALSE(t.is_unique());
    EXPECT_EQ(row.raw_data(), t.data<double>() + 30);
  }
  EXPECT_GE(memory::stats().live - before, 8000);
  row = Tensor();
  EXPECT_EQ(memory::stats().live, before);
}

TEST(Tensor, ViewsShareElements) {
  const Tensor t = Tensor::of({1, 2, 3, 4, 5, 6}, {6});
  const Tensor m = t.reshaped({2, 3});
  EXPECT_EQ(m.raw_data(), t.raw_data());
  EXPECT_THROW(t.reshaped({4}), InvalidArgumentError);
  EXPECT_THROW(t.rows(5, 2), InvalidArgumentError);
  EXPECT_THROW(t.rows(-1, 1), InvalidArgumentError);
  EXPECT_EQ(t.rows(6, 0).num_elements(), 0);
}

TEST(Tensor, StringsLiveInOneBuffer) {
  const std::string_view words[] = {"low", "", "tide mark"};
  // A view of nothing has no characters to copy.
  EXPECT_EQ(Tensor::of_strings(std::vector<std::string_view>(2), {2}).string_at(1), "");
  const Tensor t = Tensor::of_strings(words, {3});
  EXPECT_EQ(t.string_at(0), "low");
  EXPECT_EQ(t.string_at(1), "");
  EXPECT_EQ(t.rows(2, 1).string_at(0), "tide mark");
}

TEST(Tensor, NothingIsPrintedAtOnceHoweverManyRowsItHas) {
  EXPECT_EQ(Tensor::of<float>({}, {int64_t{1} << 40, 0}).to_string(), "[]");
  EXPECT_EQ(Tensor::of<float>({}, {0, 3}).to_string(), "[]");
}

TEST(Tensor, BorrowedMemoryGoesBackOnce) {
  static int returned = 0;
  returned = 0;
  float values[4] = {1, 2, 3, 4};
  {
    const Tensor t = borrowed_tensor(
        DType::float32, {4}, values, true, [](void*) { ++returned; }, nullptr);
    const Tensor view = t.rows(1, 2);
    EXPECT_EQ(view.data<float>()[0], 2.f);
    EXPECT_FALSE(t.is_unique());  // read-only
  }
  EXPECT_EQ(returned, 1);
  EXPECT_THROW(
      borrowed_tensor(
          DType::float32, {int64_t{1} << 62, 4}, values, true, [](void*) { ++returned; }, nullptr),
      InvalidArgumentError);
  EXPECT_EQ(returned, 2);
}

TEST(Tensor, AbsurdSizesAreErrorsNotCrashes) {
  EXPECT_THROW(Tensor::uninitialized(DType::float32, {int64_t{1} << 62}), ResourceExhaustedError);
  EXPECT_THROW(Tensor::uninitialized(DType::int8, {int64_t{1} << 62}), ResourceExhaustedError);
  EXPECT_THROW(Tensor::uninitialized(DType::int8, {int64_t{1} << 62, 4}), InvalidArgumentError);
  EXPECT_THROW(Tensor::uninitialized(DType::int8, {-1}), InvalidArgumentError);
}

TEST(Tensor, Prints) {
  std::ostringstream out;
  out << Tensor::of({1.f, 2.5f}) << Tensor(3) << Tensor::of({1, 20, 3, 4}, {2, 2});
  EXPECT_EQ(out.str(),
            "tf.Tensor([ 1. 2.5], shape=(2,), dtype=float32)"
            "tf.Tensor(3, shape=(), dtype=int32)"
            "tf.Tensor(\n[[ 1 20]\n [ 3  4]]\n, shape=(2, 2), dtype=int32)");
  EXPECT_EQ(Tensor::uninitialized(DType::int32, {0}).to_string(), "[]");
}

}  // namespace
}  // namespace tidemark
