// Single elementwise ops that may fail, as on the CPU.

#include <gtest/gtest.h>

#include "tidemark/kernels/cuda/host_gpu_testing.h"

namespace tidemark::cuda {
namespace {

Tensor ints(std::vector<int32_t> values) {
  return Tensor::of<int32_t>(values, {static_cast<int64_t>(values.size())});
}

TEST(CudaElementwise, IntegersAreDividedAsOnTheCpu) {
  std::mt19937 random(5);
  std::vector<GpuCall> calls;
  for (const char* op : {"floordiv", "floormod", "truncatediv", "truncatemod", "pow"}) {
    for (int d = 0; d < kDTypeSlots; ++d) {
      const auto dtype = static_cast<DType>(d);
      if (!kInts.contains(dtype)) continue;
      const auto as = [&](const Tensor& t) { return call("cast", {t}, {{"dtype", dtype}}); };
      const Tensor x = random_tensor(dtype, {9, 5}, random);
      const bool is_power = op[0] == 'p';
      calls.push_back({op, {x, as(is_power ? ints({0, 1, 2, 3, 9}) : ints({1, 2, -1, -3, 7}))}});
      calls.push_back({op, {as(ints({7, 1, 2})), as(ints({1, 0, -2}))}});
    }
    const Tensor lowest = Tensor::of<int64_t>({INT64_MIN}, {1});
    if (op[0] != 'p') calls.push_back({op, {lowest, Tensor::of<int64_t>({-1}, {1})}});
    calls.push_back({op, {new_tensor(DType::int32, {0}), ints({0})}});
  }
  expect_as_on_cpu(calls);
}

TEST(CudaElementwise, SpecialFunctionsAreTheCpus) {
  std::mt19937 random(6);
  std::vector<GpuCall> calls;
  for (const DType d : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
    const Tensor x = random_tensor(d, {300}, random);
    const Tensor below_one = call("sin", {x}), poles = call("round", {x});
    for (const char* op : {"lgamma", "digamma", "trigamma", "bessel_i0e", "bessel_i1e", "erfinv"}) {
      for (const Tensor& t : {x, below_one, poles}) calls.push_back({op, {t}});
    }
    calls.push_back({"ndtri", {call("abs", {below_one})}});
  }
  expect_as_on_cpu(calls);
}

TEST(CudaElementwise, ComplexNumbersAreTheCpus) {
  std::mt19937 random(8);
  std::vector<GpuCall> calls;
  for (const DType part : {DType::float32, DType::float64}) {
    const Tensor a = random_tensor(part, {300}, random), b = random_tensor(part, {300}, random);
    const Tensor x = call("complex", {a, b}),
                 y = call("complex", {b, random_tensor(part, {300}, random)});
    const Tensor small =
        call("complex", {random_tensor(part, {4, 1}, random), random_tensor(part, {4, 1}, random)});
    for (const char* op :
         {"negative", "conj", "square", "reciprocal", "real", "imag", "abs", "angle"}) {
      calls.push_back({op, {x}});
    }
    for (const char* op : {"add", "subtract", "multiply", "truediv", "divide_no_nan",
                           "multiply_no_nan", "xdivy", "equal", "not_equal"}) {
      calls.push_back({op, {x, y}});
      calls.push_back({op, {x, call("multiply", {x, call("zeros_like", {y})})}});
    }
    calls.push_back({"add", {small, call("transpose", {small}, {{"perm", Ints{1, 0}}})}});
    calls.push_back({"complex", {a, b}});
    calls.push_back({"angle", {a}});
  }
  expect_as_on_cpu(calls);
}

TEST(CudaElementwise, AFaultIsToldOnceAndTheNextCallIsRight) {
  HostGpu gpu;
  const auto results = gpu.run({{"floordiv", {ints({1, 2}), ints({1, 0})}},
                                {"pow", {ints({1, 2}), ints({1, -3})}},
                                {"floordiv", {ints({7, -7}), ints({2, 2})}}});
  EXPECT_NE(gpu.errors[0].find("[floordiv] Integer division by zero"), std::string::npos);
  EXPECT_NE(gpu.errors[1].find("[pow] Integers to negative"), std::string::npos) << gpu.errors[1];
  EXPECT_NE(gpu.errors[1].find("-3"), std::string::npos) << gpu.errors[1];
  ASSERT_EQ(gpu.errors[2], "");
  EXPECT_EQ(results[2][0].data<int32_t>()[1], -4);
}

}  // namespace
}  // namespace tidemark::cuda
