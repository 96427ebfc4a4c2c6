// Fused programs as CUDA C++.
//
//   const Walk walk(program, shapes);
//   const std::string source = emit_kernel(program, walk, "fused");
//   std::vector<uint64_t> arguments = kernel_arguments(program, walk, inputs, outputs);
//
// A kernel is one function with one parameter, a struct of 8-byte words. Without rows, threads take
// elements in turn. With rows, a block takes a row: a pass over it for each reduction that needs
// the ones before, then one that stores; what a pass needs it computes again.
#pragma once

#include <string>

#include "tidemark/kernels/cuda/walk.h"

namespace tidemark::cuda {

/// The most threads of a block: rows have room for as many.
inline constexpr int kThreads = 256;

/// As kernels store elements of a dtype, "tm::Half", and as they compute with them, "float".
const char* stored_type(DType dtype);
const char* computed_type(DType dtype);

/// Whether a kernel can be written for it: it draws no random numbers, reduces no columns, and all
/// its ops have code.
bool can_emit(const fusion::FusedProgram& program);

/// Neighbours that a thread of a program over elements has at a time.
int elements_of_thread(const fusion::FusedProgram& program, const Walk& walk);
/// Only the function, for with_texts (texts.h).
std::string emit_kernel(const fusion::FusedProgram& program, const Walk& walk,
                        const std::string& name);

/// What the kernel is called with.
std::vector<uint64_t> kernel_arguments(const fusion::FusedProgram& program, const Walk& walk,
                                       std::span<const void* const> inputs,
                                       std::span<void* const> outputs);

}  // namespace tidemark::cuda
