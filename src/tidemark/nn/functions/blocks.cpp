// Blocks of pixels moved between space, depth and batch.
#include <tidemark/call.h>
#include <tidemark/composed.h>
#include <tidemark/nn_functions.h>
#include <tidemark/ops.h>

#include "tidemark/nn/building.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/nn/shapes.h"

namespace tidemark {

namespace {

int64_t divided(std::string_view name, int64_t size, int64_t by) {
  if (size % by == 0) return size / by;
  fail("[", name, "] a size is divisible by ", by, ". Received: ", size);
}

void check_blocks(std::string_view name, const Tensor& x, const Ints& block,
                  const std::vector<Ints>& edges) {
  nn::check_rank(name, x, static_cast<int>(block.size()) + 1);
  if (edges.size() != block.size()) {
    fail("[", name, "] has a pair of edges for each of the ", block.size(),
         " sizes of a block. Received: ", edges.size());
  }
  for (size_t i = 0; i < block.size(); ++i) {
    const bool is_pair = edges[i].size() == 2 && edges[i][0] >= 0 && edges[i][1] >= 0;
    if (is_pair && block[i] > 0) continue;
    fail("[", name, "] sizes of a block are positive, edges two numbers that are not negative");
  }
}

/// The sizes after those of the batch and of the block's dimensions.
void append_rest(Ints& sizes, std::string_view name, const Tensor& x, size_t blocks) {
  for (int i = static_cast<int>(blocks) + 1; i < x.rank(); ++i) {
    sizes.push_back(nn::known_size(name, x, i));
  }
}

Tensor reordered(const Tensor& x, Ints order, size_t from) {
  for (auto axis = static_cast<int64_t>(from); axis < x.rank(); ++axis) order.push_back(axis);
  return transpose(x, order);
}

}  // namespace

Tensor space_to_batch(const Tensor& input, const Ints& block_shape,
                      const std::vector<Ints>& paddings) {
  TIDEMARK_HERE;
  constexpr const char* kName = "space_to_batch";
  check_blocks(kName, input, block_shape, paddings);
  const size_t count = block_shape.size();
  Tensor x = input;
  for (size_t i = 0; i < count; ++i) {
    x = nn::padded(x, static_cast<int>(i) + 1, paddings[i][0], paddings[i][1]);
  }
  const int64_t batch = nn::known_size(kName, x, 0);
  Ints folded = {batch}, order, out = {batch};
  for (size_t i = 0; i < count; ++i) {
    const int64_t size = nn::known_size(kName, x, static_cast<int>(i) + 1);
    folded.insert(folded.end(), {divided(kName, size, block_shape[i]), block_shape[i]});
    order.push_back(static_cast<int64_t>(2 + 2 * i));
    out[0] *= block_shape[i];
    out.push_back(folded[1 + 2 * i]);
  }
  order.push_back(0);
  for (size_t i = 0; i < count; ++i) order.push_back(static_cast<int64_t>(1 + 2 * i));
  append_rest(folded, kName, x, count);
  append_rest(out, kName, x, count);
  const Tensor blocks = reordered(reshape(x, nn::vector_of(folded)), order, 2 * count + 1);
  return reshape(blocks, nn::vector_of(out));
}

Tensor space_to_batch_nd(const Tensor& input, const Ints& block_shape,
                         const std::vector<Ints>& paddings) {
  TIDEMARK_HERE;
  return space_to_batch(input, block_shape, paddings);
}

Tensor batch_to_space(const Tensor& input, const Ints& block_shape,
                      const std::vector<Ints>& crops) {
  TIDEMARK_HERE;
  constexpr const char* kName = "batch_to_space";
  check_blocks(kName, input, block_shape, crops);
  const size_t count = block_shape.size();
  int64_t batch = nn::known_size(kName, input, 0);
  for (const int64_t block : block_shape) batch = divided(kName, batch, block);
  Ints folded = block_shape, order = {static_cast<int64_t>(count)}, out = {batch};
  folded.push_back(batch);
  for (size_t i = 0; i < count; ++i) {
    folded.push_back(nn::known_size(kName, input, static_cast<int>(i) + 1));
    order.insert(order.end(), {static_cast<int64_t>(count + 1 + i), static_cast<int64_t>(i)});
    out.push_back(folded.back() * block_shape[i]);
  }
  append_rest(folded, kName, input, count);
  append_rest(out, kName, input, count);
  const Tensor blocks = reordered(reshape(input, nn::vector_of(folded)), order, 2 * count + 1);
  Tensor x = reshape(blocks, nn::vector_of(out));
  for (size_t i = 0; i < count; ++i) {
    const int64_t left = out[i + 1] - crops[i][0] - crops[i][1];
    if (left < 0) fail("[batch_to_space] crops are larger than the picture, of ", out[i + 1]);
    x = nn::part(x, static_cast<int>(i) + 1, crops[i][0], left);
  }
  return x;
}

Tensor nn::space_to_depth(const Tensor& input, int64_t block_size) {
  TIDEMARK_HERE;
  constexpr const char* kName = "space_to_depth";
  if (block_size < 2) fail("[space_to_depth] a block has 2 pixels or more. Received: ", block_size);
  const int64_t b = block_size;
  const int64_t high = divided(kName, known_size(kName, input, 1), b);
  const int64_t wide = divided(kName, known_size(kName, input, 2), b);
  const int64_t channels = known_size(kName, input, 3);
  const Tensor blocks = reshape(input, vector_of({-1, high, b, wide, b, channels}));
  return reshape(transpose(blocks, Ints{0, 1, 3, 2, 4, 5}),
                 vector_of({-1, high, wide, b * b * channels}));
}

Tensor nn::depth_to_space(const Tensor& input, int64_t block_size) {
  TIDEMARK_HERE;
  constexpr const char* kName = "depth_to_space";
  if (block_size < 2) fail("[depth_to_space] a block has 2 pixels or more. Received: ", block_size);
  const int64_t b = block_size;
  const int64_t high = known_size(kName, input, 1), wide = known_size(kName, input, 2);
  const int64_t channels = divided(kName, known_size(kName, input, 3), b * b);
  const Tensor blocks = reshape(input, vector_of({-1, high, wide, b, b, channels}));
  return reshape(transpose(blocks, Ints{0, 1, 3, 2, 4, 5}),
                 vector_of({-1, high * b, wide * b, channels}));
}

}  // namespace tidemark
