// Kernels whose results have as many rows as values say, as on the CPU.

#include <gtest/gtest.h>

#include "tidemark/kernels/cuda/host_gpu_testing.h"

namespace tidemark::cuda {
namespace {

Tensor mask_of(const Shape& shape, unsigned one_in, std::mt19937& random) {
  const Tensor t = new_tensor(DType::bool_, shape);
  bool* data = static_cast<bool*>(t.mutable_raw_data());
  for (int64_t i = 0; i < t.num_elements(); ++i) data[i] = random() % one_in == 0;
  return t;
}

TEST(CudaPicking, TheTrueElementsAreThoseOfTheCpu) {
  std::mt19937 random(1);
  std::vector<GpuCall> calls;
  for (const Shape& shape : {Shape{1}, Shape{70}, Shape{3, 5, 7}, Shape{9000}, Shape{2, 0, 3}}) {
    for (const unsigned one_in : {1u, 2u, 1000u}) {
      calls.push_back({"nonzero", {mask_of(shape, one_in, random)}});
    }
  }
  calls.push_back({"nonzero", {mask_of({}, 1, random)}});
  calls.push_back({"nonzero", {mask_of({2, 1, 2, 1, 2, 1, 2, 3, 1, 2}, 2, random)}});
  for (const DType d : {DType::float32, DType::bfloat16, DType::int64, DType::bool_, DType::uint8,
                        DType::complex128}) {
    const Tensor x = random_tensor(d, {6, 5, 7}, random);
    calls.push_back({"boolean_mask", {x, mask_of({6}, 2, random)}});
    calls.push_back({"boolean_mask", {x, mask_of({5}, 2, random)}, {{"axis", 1}}});
    calls.push_back({"boolean_mask", {x, mask_of({5, 7}, 3, random)}, {{"axis", -2}}});
    calls.push_back({"boolean_mask", {x, mask_of({6, 5, 7}, 2, random)}});
    calls.push_back({"boolean_mask", {x, mask_of({6}, 1000, random)}});
  }
  calls.push_back({"boolean_mask",
                   {random_tensor(DType::float32, {5000, 2}, random), mask_of({5000}, 3, random)}});
  expect_as_on_cpu(calls);
}

TEST(CudaPicking, DistinctElementsAreInTheOrderOfTheCpu) {
  std::mt19937 random(2);
  std::vector<GpuCall> calls;
  const auto few = [&](DType dtype, int64_t count, unsigned values) {
    const Tensor drawn = new_tensor(DType::int32, {count});
    auto* data = static_cast<int32_t*>(drawn.mutable_raw_data());
    for (int64_t i = 0; i < count; ++i) data[i] = static_cast<int32_t>(random() % values) - 2;
    return call("cast", {drawn}, {{"dtype", dtype}});
  };
  for (const DType d :
       {DType::float32, DType::bfloat16, DType::uint8, DType::int64, DType::bool_}) {
    for (const char* op : {"unique", "unique_with_counts"}) {
      calls.push_back({op, {few(d, 70, 9)}});
      calls.push_back({op, {random_tensor(d, {300}, random)}, {{"out_idx", DType::int64}}});
      calls.push_back({op, {new_tensor(d, {0})}});
    }
    calls.push_back({"unique_with_counts", {few(d, 2500, 120)}});
    calls.push_back({"unique", {few(d, 2049, 1)}});
  }
  calls.push_back({"unique_with_counts", {Tensor::of({NAN, 0.f, -0.f, NAN, -1.f, 0.f})}});
  calls.push_back({"unique", {few(DType::int32, 9000, 100000)}});
  expect_as_on_cpu(calls);
}

TEST(CudaSearching, PlacesAreThoseOfTheCpu) {
  std::mt19937 random(3);
  std::vector<GpuCall> calls;
  for (const DType d : {DType::float32, DType::bfloat16, DType::uint64}) {
    for (const char* side : {"left", "right"}) {
      const Tensor rows = call("sort", {random_tensor(d, {3, 50}, random)});
      const Tensor line = call("sort", {random_tensor(d, {200}, random)});
      calls.push_back({"searchsorted", {rows, random_tensor(d, {3, 7}, random)}, {{"side", side}}});
      calls.push_back({"searchsorted", {rows, rows}, {{"side", side}}});
      calls.push_back({"searchsorted",
                       {line, random_tensor(d, {300}, random)},
                       {{"side", side}, {"out_type", DType::int64}}});
      calls.push_back({"searchsorted", {new_tensor(d, {0}), line}, {{"side", side}}});
    }
    const Tensor x = random_tensor(d, {4, 6, 3}, random);
    const Tensor lengths = Tensor::of<int64_t>({0, 6, 1, 5}),
                 wrong = Tensor::of<int32_t>({7, 0, 1, 2});
    calls.push_back({"reverse_sequence", {x, lengths}, {{"seq_axis", 1}}});
    calls.push_back({"reverse_sequence",
                     {x, Tensor::of<int32_t>({4, 0, 2})},
                     {{"seq_axis", 0}, {"batch_axis", 2}}});
    calls.push_back({"reverse_sequence", {x, wrong}, {{"seq_axis", 1}}});
  }
  expect_as_on_cpu(calls);
}

}  // namespace
}  // namespace tidemark::cuda
