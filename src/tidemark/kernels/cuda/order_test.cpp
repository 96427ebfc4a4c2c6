// Kernels about order and chance, as on the CPU: running sums, extremes, sorting, random numbers.

#include <gtest/gtest.h>

#include "tidemark/kernels/cpu/isa_level.h"
#include "tidemark/kernels/cuda/host_gpu_testing.h"

namespace tidemark::cuda {
namespace {

constexpr DType kReals[] = {DType::float32, DType::float64, DType::float16, DType::bfloat16,
                            DType::int8,    DType::uint8,   DType::int16,   DType::uint16,
                            DType::int32,   DType::uint32,  DType::int64,   DType::uint64};

TEST(CudaScans, RunningResultsAreAsOnTheCpu) {
  std::mt19937 random(1);
  std::vector<GpuCall> calls;
  for (const DType d : {DType::float32, DType::float64, DType::bfloat16, DType::int32, DType::uint8,
                        DType::complex64}) {
    for (const Shape& shape : {Shape{4, 6, 3}, Shape{2, 70}, Shape{1300, 2}}) {
      const Tensor x = random_tensor(d, shape, random);
      for (int axis = 0; axis < shape.rank(); ++axis) {
        for (const bool flag : {false, true}) {
          const std::vector<std::pair<std::string, Attr>> attrs = {
              {"axis", axis}, {"exclusive", flag}, {"reverse", !flag}};
          calls.push_back({"cumsum", {x}, attrs, 200});
          if (shape.num_elements() < 100 && !is_complex(d)) {
            calls.push_back({"cumprod", {x}, attrs});
          }
          if (is_floating(d)) calls.push_back({"cumulative_logsumexp", {x}, attrs, 1});
        }
      }
    }
  }
  expect_as_on_cpu(calls);
}

TEST(CudaScans, ExtremesAreWhereTheCpuFindsThem) {
  std::mt19937 random(2);
  std::vector<GpuCall> calls;
  for (const char* op : {"argmax", "argmin"}) {
    for (const DType d : kReals) {
      calls.push_back({op, {random_tensor(d, {9, 5}, random)}});
      calls.push_back({op, {random_tensor(d, {400}, random)}, {{"output_type", DType::int32}}});
      calls.push_back({op, {random_tensor(d, {3, 200}, random)}, {{"axis", -1}}});
    }
    calls.push_back({op, {random_tensor(DType::bool_, {2, 70}, random)}, {{"axis", 1}}});
    calls.push_back({op, {Tensor::of({NAN, NAN, 1.f, NAN})}});
    calls.push_back({op, {Tensor::of({NAN, NAN})}, {{"output_type", DType::int16}}});
  }
  const Tensor rows = random_tensor(DType::float32, {5, 9}, random);
  calls.push_back({"in_top_k", {Tensor::of<int32_t>({0, 3, 8, -1, 9}), rows}, {{"k", 3}}});
  calls.push_back(
      {"in_top_k", {Tensor::of<int64_t>({1}), Tensor::of({1.f, NAN}, {1, 2})}, {{"k", 2}}});
  expect_as_on_cpu(calls);
}

TEST(CudaSorting, ElementsAreInTheOrderOfTheCpu) {
  std::mt19937 random(3);
  std::vector<GpuCall> calls;
  const Tensor three = Tensor::of<int32_t>({3}, {});
  for (const DType d : kReals) {
    const Tensor line = random_tensor(d, {70}, random), x = random_tensor(d, {3, 9, 4}, random);
    for (const char* direction : {"ASCENDING", "DESCENDING"}) {
      calls.push_back({"argsort", {line}, {{"direction", direction}}});
      calls.push_back({"sort", {line}, {{"direction", direction}}});
      calls.push_back({"sort", {x}, {{"direction", direction}, {"axis", 1}}});
      calls.push_back({"argsort", {x}, {{"direction", direction}, {"axis", 0}}});
    }
    calls.push_back({"top_k", {line, three}});
    calls.push_back({"top_k", {x, three}, {{"index_type", DType::int64}}});
  }
  calls.push_back({"argsort", {Tensor::of({0.f, -0.f, 1.f, 0.f, -0.f})}});
  calls.push_back({"top_k", {random_tensor(DType::float32, {7, 5000}, random), three}});
  calls.push_back({"sort", {new_tensor(DType::float32, {3, 0})}});
  expect_as_on_cpu(calls);
}

/// Of calls whose results must be the CPU's to the bit.
void expect_same_bits(const std::vector<GpuCall>& calls) {
  HostGpu gpu;
  const auto given = gpu.run(calls);
  expect_nvrtc_takes(gpu);
  for (size_t i = 0; i < calls.size(); ++i) {
    const auto wanted = call_all(OpRegistry::instance().get(calls[i].op), calls[i].inputs,
                                 HostGpu::attrs_of(calls[i]));
    ASSERT_EQ(given[i].size(), 1u) << gpu.errors[i];
    ASSERT_EQ(given[i][0].shape(), wanted[0].shape());
    int64_t unlike = 0;
    const size_t size = size_of(wanted[0].dtype());
    for (int64_t e = 0; e < wanted[0].num_elements(); ++e) {
      const auto at = static_cast<size_t>(e) * size;
      unlike += std::memcmp(static_cast<const char*>(wanted[0].raw_data()) + at,
                            static_cast<const char*>(given[i][0].raw_data()) + at, size) != 0;
    }
    EXPECT_EQ(unlike, 0) << calls[i].op << " of " << name_of(wanted[0].dtype());
  }
}

TEST(CudaRandom, NumbersAreThoseOfTheCpuToTheBit) {
  const Tensor shape = Tensor::of<int32_t>({3, 7001}), seed = Tensor::of<int64_t>({42, -7});
  std::vector<GpuCall> calls, near;
  for (const DType d : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
    // Where one is missing the processor rounds products before they are added.
    const bool has_fma = std::string_view(cpu::name_of(cpu::best_level())) != "v2";
    auto& floats = has_fma ? calls : near;
    calls.push_back({"stateless_random_uniform", {shape, seed}, {{"dtype", d}}});
    floats.push_back({"stateless_random_uniform",
                      {shape, seed},
                      {{"dtype", d}, {"minval", -3.7}, {"maxval", 1.3}},
                      4});
    floats.push_back({"stateless_random_normal", {shape, seed}, {{"dtype", d}}, 1});
    floats.push_back({"stateless_random_normal",
                      {shape, seed},
                      {{"dtype", d}, {"mean", 2.}, {"stddev", .3}},
                      1});
    (d == DType::float64 ? near : floats)
        .push_back({"stateless_random_truncated_normal", {shape, seed}, {{"dtype", d}}, 1});
  }
  for (const DType d :
       {DType::int8, DType::uint16, DType::int32, DType::uint32, DType::int64, DType::uint64}) {
    calls.push_back({"stateless_random_full_int", {shape, seed}, {{"dtype", d}}});
    const auto number = [&](int n) {
      return call("cast", {Tensor::of<int32_t>({n}, {})}, {{"dtype", d}});
    };
    calls.push_back({"stateless_random_uniform_int", {shape, seed, number(3), number(101)}});
  }
  const Tensor stream = Tensor::of<uint64_t>({0x123456789abcdef0u, ~uint64_t{0} - 3, 77});
  calls.push_back({"stream_random_uniform", {shape, stream}});
  expect_same_bits(calls);
  expect_as_on_cpu(near);
}

}  // namespace
}  // namespace tidemark::cuda
