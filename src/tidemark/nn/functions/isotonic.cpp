// Sequences made monotone.
#include <tidemark/call.h>
#include <tidemark/nn_functions.h>

#include "tidemark/nn/building.h"
#include "tidemark/nn/functions/when_run.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::nn {

namespace {

/// For each row of a float64 matrix the number of each element's block in the nearest falling
/// sequence, counted through all rows.
Tensor blocks_of(const Tensor& rows) {
  struct Block {
    double total;
    int64_t count;
  };
  const int64_t width = rows.dim(1);
  const Tensor out = Tensor::uninitialized(DType::int32, rows.shape());
  auto* to = out.mutable_data<int32_t>();
  int32_t number = 0;
  for (int64_t row = 0; row < rows.dim(0); ++row) {
    std::vector<Block> blocks;
    for (int64_t i = 0; i < width; ++i) {
      blocks.push_back({rows.data<double>()[row * width + i], 1});
      const auto rises = [&] {
        const Block &a = blocks[blocks.size() - 2], &b = blocks.back();
        return a.total * static_cast<double>(b.count) < b.total * static_cast<double>(a.count);
      };
      while (blocks.size() > 1 && rises()) {
        const Block last = blocks.back();
        blocks.pop_back();
        blocks.back().total += last.total;
        blocks.back().count += last.count;
      }
    }
    for (const Block& block : blocks) {
      to = std::fill_n(to, block.count, number);
      ++number;
    }
  }
  return out;
}

/// Each element replaced by the mean of its block, and so is its gradient.
Tensor averaged(const Tensor& x, const Tensor& blocks) {
  const Tensor flat = reshape(blocks, vector_of({-1})), values = reshape(x, vector_of({-1}));
  const Tensor count = size(flat);
  const Tensor sums = unsorted_segment_sum(values, flat, count);
  const Tensor counts = unsorted_segment_sum(ones_like(values), flat, count);
  return reshape(gather(divide_no_nan(sums, counts), flat, {.axis = 0}), sizes_of(x));
}

}  // namespace

std::pair<Tensor, Tensor> isotonic_regression(const Tensor& inputs, bool decreasing, int64_t axis) {
  TIDEMARK_HERE;
  const DType wide = size_of(inputs.dtype()) >= 4 ? DType::float64 : DType::float32;
  const Tensor floats = is_floating(inputs.dtype()) ? inputs : cast(inputs, wide);
  check_rank("isotonic_regression", inputs, 1);
  const int rank = inputs.rank(), along = normalize_axis(axis, rank);
  Ints order, back(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) {
    if (i != along) order.push_back(i);
  }
  order.push_back(along);
  for (int i = 0; i < rank; ++i) back[static_cast<size_t>(order[size_t(i)])] = i;
  const Tensor moved = transpose(floats, order);
  const Tensor columns[] = {Tensor(int32_t{-1}), size_at(moved, rank - 1)};
  const Tensor rows = reshape(decreasing ? moved : -moved, stack(columns));
  const Tensor found =
      when_run("isotonic_regression",
               [](const std::vector<Tensor>& given) { return std::vector{blocks_of(given[0])}; },
               {cast(rows, DType::float64)}, {{DType::int32, rows.shape()}})[0];
  const Tensor blocks = reshape(found, sizes_of(moved));
  return {transpose(averaged(moved, blocks), back),
          transpose(blocks - part(blocks, -1, 0, 1), back)};
}

}  // namespace tidemark::nn
