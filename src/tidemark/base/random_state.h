// Where random numbers come from when nobody names a seed: a key and counters that only grow.
//
//   random_state::set_seed(42);
//   RandomStream s = random_state::reserve({}, blocks);   // nobody else gets these blocks
#pragma once

#include <tidemark/dtype.h>
#include <tidemark/export.h>

#include <cstdint>
#include <optional>

namespace tidemark {

/// The start of a draw: block i is Philox 4x32-10 of (key, counter + i). 128 bits a block.
struct RandomStream {
  uint64_t key;
  uint64_t counter_low, counter_high;
};

/// Element i of a draw depends on the stream and on i alone, on every device. Elements come in
/// groups of so many blocks.
inline constexpr int64_t kBlocksPerGroup = 16;
/// Elements of a group: 64 of up to 32 bits, or 32 of 64 bits.
constexpr int64_t random_group(DType dtype) { return size_of(dtype) == 8 ? 32 : 64; }

/// The stream of a stateless draw; the same seeds always give the same numbers.
constexpr RandomStream stateless_stream(uint64_t seed_0, uint64_t seed_1) {
  return {seed_0, 0, seed_1};
}

namespace random_state {

/// All later draws repeat after the same seed. Draws with an op seed of their own start again too.
TIDEMARK_API void set_seed(int64_t seed);

/// Takes `blocks` blocks that no other draw gets. Without a global seed the key is the system's
/// entropy; draws with an op seed repeat from run to run even then, as TensorFlow's do. Draws with
/// the same op seed continue one another. Safe from any thread.
TIDEMARK_API RandomStream reserve(std::optional<int64_t> op_seed, uint64_t blocks);

}  // namespace random_state

}  // namespace tidemark
