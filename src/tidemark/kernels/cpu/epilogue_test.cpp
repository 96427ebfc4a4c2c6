// Products without a place for their result.
#include "tidemark/kernels/cpu/epilogue.h"

#include <gtest/gtest.h>
#include <tidemark/call.h>

#include <atomic>
#include <cstring>

#include "tidemark/base/thread_pool.h"

namespace tidemark::cpu {
namespace {

/// Puts the parts together again.
class Collect final : public Epilogue {
 public:
  explicit Collect(const Tensor& into) : into_(into) {}
  bool needs_whole_rows() const override { return false; }
  void apply(int64_t, int64_t, int64_t, int64_t) const override { ++whole; }
  void apply_to(const void* part, int64_t stride, int64_t first_row, int64_t rows,
                int64_t first_column, int64_t columns) const override {
    const auto item = static_cast<int64_t>(size_of(into_.dtype()));
    const int64_t width = into_.shape().dim(-1);
    for (int64_t r = 0; r < rows; ++r) {
      std::memcpy(static_cast<char*>(into_.mutable_raw_data()) +
                      ((first_row + r) * width + first_column) * item,
                  static_cast<const char*>(part) + r * stride * item,
                  static_cast<size_t>(columns * item));
    }
    elements += rows * columns;
    ++parts;
  }
  mutable std::atomic<int64_t> whole{0}, parts{0}, elements{0};

 private:
  const Tensor& into_;
};

Tensor numbers(DType dtype, const Shape& shape, int seed) {
  const Tensor t = Tensor::uninitialized(DType::float32, shape);
  uint32_t state = static_cast<uint32_t>(seed) * 2654435761u + 1;
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    state = state * 1664525u + 1013904223u;
    t.mutable_data<float>()[i] = static_cast<float>(state >> 8) * 0x1p-23f - 1;
  }
  return dtype == DType::float32 ? t : call("cast", {t}, {{"dtype", dtype}});
}

/// x transposed times y, as the gradient of weights is.
void check_parts(DType dtype, const Shape& x_shape, const Shape& y_shape, bool is_cut) {
  const std::vector<Tensor> inputs = {numbers(dtype, x_shape, 1), numbers(dtype, y_shape, 2)};
  const std::vector<Attr> attrs = {Attr(true), Attr(false), Attr(false), Attr(false)};
  const OpDef& op = OpRegistry::instance().get("matmul");
  const Tensor expected = call(op, inputs, attrs);
  const ProductKernel& kernel = *product_kernel("matmul", dtype);
  const OpCall now{op, inputs, attrs};
  const Shape shape = expected.shape();
  const size_t bytes = kernel.workspace_for_parts(now, {&shape, 1});
  const int before = num_threads();
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    const Tensor made = numbers(dtype, shape, 3);
    const Tensor memory =
        Tensor::uninitialized(DType::uint8, {static_cast<int64_t>(std::max<size_t>(1, bytes))});
    const Collect collect(made);
    kernel.run(now, shape, nullptr, static_cast<char*>(memory.mutable_raw_data()), collect);
    EXPECT_EQ(collect.whole, 0);
    EXPECT_EQ(collect.elements, shape.num_elements()) << "each element in one part";
    EXPECT_EQ(std::memcmp(made.raw_data(), expected.raw_data(), made.nbytes()), 0)
        << name_of(dtype) << " " << shape.to_string() << " by " << threads << " threads";
    if (is_cut) {
      EXPECT_GT(collect.parts, 4);
      EXPECT_LT(bytes, made.nbytes());
    }
  }
  set_num_threads(before);
}

TEST(ProductInParts, GivesTheBitsOfTheWholeProduct) {
  check_parts(DType::float32, {64, 1000}, {64, 2100}, true);
  check_parts(DType::float32, {256, 784}, {256, 512}, false);
  check_parts(DType::float32, {33, 130}, {33, 77}, false);
  check_parts(DType::bfloat16, {64, 900}, {64, 1100}, false);
  check_parts(DType::float32, {5, 3}, {5, 4}, false);  // too small for the library
  check_parts(DType::float64, {50, 200}, {50, 300}, false);
  check_parts(DType::float32, {300, 1}, {300, 500}, false);  // a row
  check_parts(DType::float32, {300, 500}, {300, 1}, false);  // a column
  check_parts(DType::float32, {0, 7}, {0, 5}, false);        // nothing to add up
  check_parts(DType::float32, {3, 40, 70}, {3, 40, 90}, false);
}

}  // namespace
}  // namespace tidemark::cpu
