// Kernels that take and put rows by index, and those that lay out elements, as on the CPU.

#include <gtest/gtest.h>

#include "tidemark/kernels/cuda/host_gpu_testing.h"

namespace tidemark::cuda {
namespace {

Tensor ints(std::vector<int32_t> values) {
  return Tensor::of<int32_t>(values, {static_cast<int64_t>(values.size())});
}
Tensor ints(std::vector<int32_t> values, const Shape& shape) {
  return Tensor::of<int32_t>(values, shape);
}
Tensor scalar(int32_t value) { return ints({value}, {}); }

/// Numbers in [0, limit), with many alike.
Tensor indices(DType dtype, const Shape& shape, int64_t limit, std::mt19937& random) {
  const Tensor t = new_tensor(dtype, shape);
  with_plain_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      for (int64_t i = 0; i < t.num_elements(); ++i) {
        static_cast<T*>(t.mutable_raw_data())[i] = static_cast<T>(random() % limit);
      }
    }
  });
  return t;
}

constexpr DType kSome[] = {DType::float32, DType::float64,   DType::float16, DType::bfloat16,
                           DType::int32,   DType::complex64, DType::uint8};

TEST(CudaIndexing, RowsAreTakenAsOnTheCpu) {
  std::mt19937 random(3);
  std::vector<GpuCall> calls;
  for (const DType d : {DType::float32, DType::uint8, DType::complex128, DType::float16}) {
    const Tensor x = random_tensor(d, {3, 4, 5}, random);
    calls.push_back({"gather", {x, indices(DType::int32, {7}, 3, random)}});
    calls.push_back({"gather", {x, indices(DType::int64, {2, 2}, 4, random)}, {{"axis", 1}}});
    calls.push_back({"gather",
                     {x, indices(DType::int16, {3, 6}, 5, random)},
                     {{"axis", 2}, {"batch_dims", 1}}});
    calls.push_back({"gather_nd", {x, indices(DType::int32, {6, 2}, 3, random)}});
    calls.push_back(
        {"gather_nd", {x, indices(DType::int64, {3, 2, 2}, 4, random)}, {{"batch_dims", 1}}});
    calls.push_back({"gather_nd", {x, new_tensor(DType::int32, {2, 0})}});
  }
  const Tensor x = random_tensor(DType::float32, {3, 4}, random);
  calls.push_back({"gather", {x, ints({0, 3, 1})}});
  calls.push_back({"gather", {x, ints({0, -1})}});
  calls.push_back({"gather_nd", {x, ints({2, 4}, {1, 2})}});
  calls.push_back({"gather", {x, new_tensor(DType::int32, {0})}});
  expect_as_on_cpu(calls);
}

TEST(CudaIndexing, RowsAreCombinedInTheOrderInWhichTheyCome) {
  std::mt19937 random(4);
  std::vector<GpuCall> calls;
  for (const DType d : kSome) {
    const Tensor rows = random_tensor(d, {40, 5}, random);
    for (const DType i : {DType::int32, DType::int64}) {
      const Tensor at = indices(i, {40}, 7, random);
      calls.push_back({"gather_grad", {at, rows, ints({7, 5})}});
      calls.push_back({"scatter_nd", {indices(i, {40, 1}, 7, random), rows, ints({7, 5})}});
    }
    const Tensor grads = random_tensor(d, {3, 6, 4}, random);
    calls.push_back({"gather_grad",
                     {indices(DType::int32, {3, 6}, 5, random), grads, ints({3, 5, 4})},
                     {{"axis", 1}, {"batch_dims", 1}}});
    calls.push_back({"gather_nd_grad",
                     {indices(DType::int64, {3, 6, 1}, 5, random), grads, ints({3, 5, 4})},
                     {{"batch_dims", 1}}});
    const Tensor whole = random_tensor(d, {7, 5}, random);
    for (const char* op : {"update", "add", "sub", "min", "max"}) {
      if (d == DType::complex64 && op[0] == 'm') continue;
      calls.push_back({message("tensor_scatter_nd_", op),
                       {whole, indices(DType::int32, {40, 1}, 7, random), rows}});
    }
    for (const char* op : {"sum", "prod", "min", "max"}) {
      if (d == DType::complex64 && op[0] == 'm') continue;
      const Tensor ids = call("subtract", {indices(DType::int32, {40}, 7, random), scalar(1)});
      calls.push_back({message("unsorted_segment_", op), {rows, ids, scalar(9)}});
    }
  }
  const Tensor many = random_tensor(DType::float32, {5000, 2}, random);
  calls.push_back(
      {"gather_grad", {indices(DType::int32, {5000}, 300, random), many, ints({300, 2})}});
  calls.push_back({"scatter_nd", {ints({0, 9}, {2, 1}), ints({1, 2}), ints({5})}});
  calls.push_back({"scatter_nd",
                   {ints({0, 9}, {2, 1}), ints({1, 2}), ints({5})},
                   {{"bad_indices_policy", "IGNORE"}}});
  calls.push_back({"unsorted_segment_sum", {ints({1, 2}), ints({0, 5}), scalar(3)}});
  expect_as_on_cpu(calls);
}

TEST(CudaArrays, ElementsAreLaidOutAsOnTheCpu) {
  std::mt19937 random(5);
  std::vector<GpuCall> calls;
  for (const DType d : kSome) {
    const Tensor x = random_tensor(d, {3, 4, 5}, random);
    const Tensor one = call("slice", {call("reshape", {x, ints({-1})}), ints({3}), ints({1})});
    const Tensor single = call("reshape", {one, ints(std::vector<int32_t>{})});
    for (const char* mode : {"CONSTANT", "REFLECT", "SYMMETRIC"}) {
      calls.push_back({"pad", {x, ints({1, 2, 0, 3, 2, 0}, {3, 2}), single}, {{"mode", mode}}});
    }
    calls.push_back({"reverse", {x}, {{"axis", Ints{0, 2}}}});
    calls.push_back({"roll", {x, ints({1, -7})}, {{"axis", Ints{1, 2}}}});
    calls.push_back({"strided_slice", {x, ints({2, 3, 0}), ints({0, 0, 5}), ints({-1, -2, 2})}});
    calls.push_back({"strided_slice_grad",
                     {ints({3, 4, 5}), ints({0, 1, 4}), ints({3, 3, 0}), ints({2, 1, -2}),
                      random_tensor(d, {2, 2, 2}, random)}});
    calls.push_back({"tensor_strided_slice_update",
                     {x, ints({0, 1, 4}), ints({3, 3, 0}), ints({2, 1, -2}),
                      random_tensor(d, {2, 2, 2}, random)}});
    calls.push_back({"unstack", {x}, {{"axis", 1}, {"num", 4}}});
    calls.push_back({"repeat", {x, ints({3})}, {{"axis", 1}}});
    calls.push_back({"repeat", {x, ints({2, 0, 1})}, {{"axis", 0}}});
    calls.push_back({"band_part", {x, scalar(1), scalar(0)}});
    calls.push_back({"band_part", {x, scalar(-1), scalar(2)}});
    calls.push_back({"diag_part", {x}, {{"k", -1}}});
    calls.push_back({"diag", {random_tensor(d, {2, 3}, random)}, {{"k", 1}}});
    calls.push_back({"set_diag", {x, random_tensor(d, {3, 4}, random)}});
    calls.push_back({"ones_like", {x}});
    calls.push_back({"add_n", {x, random_tensor(d, {3, 4, 5}, random), x}});
    calls.push_back({"one_hot", {ints({1, 0, -1, 4}, {2, 2}), scalar(3), single, single}});
    calls.push_back({"one_hot",
                     {indices(DType::uint8, {5}, 4, random), scalar(3), single, single},
                     {{"axis", 0}}});
  }
  for (const DType d : {DType::float32, DType::float64, DType::bfloat16, DType::int64}) {
    const auto number = [&](int value) { return call("cast", {scalar(value)}, {{"dtype", d}}); };
    calls.push_back({"range", {number(-5), number(90), number(3)}});
  }
  expect_as_on_cpu(calls);
}

TEST(CudaArrays, StagedArraysAreAsOnTheCpu) {
  std::mt19937 random(6);
  std::vector<GpuCall> calls;
  for (const DType d : kSome) {
    const Tensor rows = random_tensor(d, {5, 3}, random), row = random_tensor(d, {3}, random);
    for (const int index : {0, 2, 4}) {
      calls.push_back({"array_write", {rows, scalar(index), row}});
      calls.push_back({"array_read", {rows, scalar(index)}});
      calls.push_back({"array_cut", {rows, scalar(index)}, {{"rows", 4}}});
    }
    calls.push_back({"array_write", {rows, scalar(8), row}, {{"dynamic_size", true}}});
    for (const int size : {3, 5, 9, -1}) calls.push_back({"array_resize", {rows, scalar(size)}});
  }
  expect_as_on_cpu(calls);
}

TEST(CudaIndexing, SortedSegmentsAreReducedAsOnTheCpu) {
  std::mt19937 random(51);
  const Tensor ids = Tensor::of<int32_t>({0, 0, 2, 2, 2, 5}, {6});
  std::vector<GpuCall> calls;
  for (const char* op :
       {"segment_sum", "segment_mean", "segment_prod", "segment_max", "segment_min"}) {
    for (int d = 0; d < kDTypeSlots; ++d) {
      const auto dtype = static_cast<DType>(d);
      const bool has_order = op[9] == 'a' || op[9] == 'i';
      if (!(has_order ? kReal : kNumeric).contains(dtype)) continue;
      calls.push_back({op, {random_tensor(dtype, {6, 3}, random), ids}});
    }
    const Tensor x = random_tensor(DType::float32, {6}, random);
    calls.push_back({op, {x, call("cast", {ids}, {{"dtype", DType::int64}})}});
    calls.push_back({op, {x, Tensor::of<int32_t>({0, 2, 1, 3, 3, 3}, {6})}});
    calls.push_back({op, {x, Tensor::of<int32_t>({-1, 2, 2, 3, 3, 3}, {6})}});
    calls.push_back({op, {new_tensor(DType::float32, {0, 2}), new_tensor(DType::int32, {0})}});
    calls.push_back({op, {new_tensor(DType::float32, {6, 0}), ids}});
  }
  expect_as_on_cpu(calls);
}

}  // namespace
}  // namespace tidemark::cuda
