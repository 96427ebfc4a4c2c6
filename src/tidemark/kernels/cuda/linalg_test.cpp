// Linear algebra, as on the CPU.

#include <gtest/gtest.h>

#include "tidemark/kernels/cuda/host_gpu_testing.h"

namespace tidemark::cuda {
namespace {

constexpr DType kMatrices[] = {DType::float32, DType::float64, DType::complex64, DType::complex128};

Tensor drawn(DType dtype, const Shape& shape, std::mt19937& random) {
  const auto part = [&] {
    const Tensor whole = random_tensor(DType::float64, shape, random);
    return call("cast", {call("sin", {whole})},
                {{"dtype", is_complex(dtype) ? DType::float64 : dtype}});
  };
  if (!is_complex(dtype)) return part();
  return call("cast", {call("complex", {part(), part()})}, {{"dtype", dtype}});
}

/// With a diagonal that nothing beside it comes near.
Tensor well_made(DType dtype, const Shape& shape, std::mt19937& random) {
  const Tensor x = drawn(dtype, shape, random);
  const Tensor diagonal = call("diag_part", {x});
  const Tensor nine =
      call("cast", {Tensor(2.0 * static_cast<double>(shape.dim(-1)))}, {{"dtype", dtype}});
  return call("set_diag", {x, call("add", {diagonal, nine})});
}

TEST(CudaLinalg, FactorsAndSolutionsAreTheCpus) {
  std::mt19937 random(21);
  std::vector<GpuCall> calls;
  const auto add = [&](const char* op, std::vector<Tensor> inputs,
                       std::vector<std::pair<std::string, Attr>> attrs = {}) {
    calls.push_back({op, std::move(inputs), std::move(attrs), 0.5});
  };
  for (const DType d : kMatrices) {
    for (const Shape& shape : {Shape{1, 1}, Shape{3, 5, 5}, Shape{2, 1, 9, 9}, Shape{2, 0, 0}}) {
      const Tensor a = well_made(d, shape, random);
      Shape narrow = shape;
      narrow[shape.rank() - 1] = 3;
      const Tensor b = drawn(d, narrow, random);
      add("cholesky", {call("matmul", {a, a}, {{"adjoint_b", true}})});
      add("lu", {a}, {{"output_idx_type", DType::int64}});
      add("lu", {drawn(d, shape, random)});
      add("matrix_determinant", {a});
      add("log_matrix_determinant", {a});
      for (const bool adjoint : {false, true}) {
        add("matrix_solve", {a, b}, {{"adjoint", adjoint}});
        add("matrix_inverse", {a}, {{"adjoint", adjoint}});
        for (const bool lower : {false, true}) {
          add("triangular_solve", {a, b}, {{"adjoint", adjoint}, {"lower", lower}});
        }
      }
    }
    add("triangular_solve", {well_made(d, {2, 1, 4, 4}, random), drawn(d, {3, 4, 2}, random)});
    add("triangular_solve", {well_made(d, {4, 4}, random), drawn(d, {3, 4, 2}, random)});
  }
  expect_as_on_cpu(calls);
}

TEST(CudaLinalg, DecompositionsAreTheCpus) {
  std::mt19937 random(22);
  std::vector<GpuCall> calls;
  const auto add = [&](const char* op, const Tensor& x,
                       std::vector<std::pair<std::string, Attr>> attrs) {
    calls.push_back({op, {x}, std::move(attrs), 40});
  };
  for (const DType d : kMatrices) {
    for (const Shape& shape :
         {Shape{2, 4, 4}, Shape{1, 1}, Shape{5, 3}, Shape{3, 4}, Shape{2, 0, 3}}) {
      if (shape.rank() == 2 && (d == DType::float64 || d == DType::complex64)) continue;
      const Tensor x = drawn(d, shape, random);
      for (const bool flag : {false, true}) {
        add("qr", x, {{"full_matrices", flag}});
        add("svd", x, {{"full_matrices", flag}});
      }
      add("svd", x, {{"compute_uv", false}});
      if (shape.dim(-1) != shape.dim(-2)) continue;
      add("eigh", x, {});
      add("eigh", x, {{"compute_v", false}});
    }
    const Tensor zeros = call("zeros_like", {drawn(d, {4, 3}, random)});
    add("svd", zeros, {{"full_matrices", true}});
    add("qr", zeros, {});
    add("eigh", call("zeros_like", {drawn(d, {3, 3}, random)}), {});
    const Tensor wrong = call("truediv", {drawn(d, {3, 3}, random), drawn(d, {3, 3}, random)});
    const Tensor nowhere = call("truediv", {wrong, call("zeros_like", {wrong})});
    add("svd", nowhere, {});
    add("eigh", nowhere, {});
  }
  const Tensor large = drawn(DType::float64, {30, 30}, random);
  add("eigh", call("add", {large, call("transpose", {large})}), {});
  expect_as_on_cpu(calls);
}

TEST(CudaLinalg, WhatCannotBeSolvedIsTheSameError) {
  const Tensor zeros = Tensor::of<double>({0, 0, 0, 0}, {2, 2});
  const Tensor right = Tensor::of<double>({1, 2}, {2, 1});
  expect_as_on_cpu({{"cholesky", {zeros}},
                    {"lu", {zeros}},
                    {"matrix_inverse", {zeros}},
                    {"matrix_solve", {zeros, right}},
                    {"triangular_solve", {zeros, right}},
                    {"matrix_determinant", {zeros}},
                    {"log_matrix_determinant", {zeros}}});
}

}  // namespace
}  // namespace tidemark::cuda
