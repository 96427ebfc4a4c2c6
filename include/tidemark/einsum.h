// Sums of products of tensors, in Einstein's notation.
//
//   td::Tensor scores = td::einsum("bqhd,bkhd->bhqk", {q, k});
//   td::Tensor trace = td::einsum("ii->", {m});
#pragma once

#include <tidemark/tensor.h>

#include <span>
#include <string_view>

namespace tidemark {

/// Takes any number of operands, "..." for leading dimensions that broadcast, labels repeated
/// inside of one operand (diagonals) or inside of the output, and an output left out: then it is
/// "..." and the labels that appear once, in alphabetical order. It is a composition of other ops
/// (transpose, reshape, matmul, …), so gradients and graphs follow from theirs. Of several
/// operands, those whose product is smallest are contracted first.
TIDEMARK_API Tensor einsum(std::string_view equation, std::span<const Tensor> operands);
TIDEMARK_API Tensor einsum(std::string_view equation, std::initializer_list<Tensor> operands);

}  // namespace tidemark
