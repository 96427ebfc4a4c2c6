// Where random numbers come from when nobody names a seed: a key and counters that only grow.
//
//   random_state::set_seed(42);
//   RandomStream s = random_state::reserve({}, blocks);   // nobody else gets these blocks
#pragma once

#include <tidemark/dtype.h>
#include <tidemark/export.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

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

/// One block of Philox 4x32-10 (Salmon et al., 2011).
struct RandomBlock {
  uint32_t word[4];
};
constexpr RandomBlock random_block(uint64_t key, uint64_t counter_low, uint64_t counter_high) {
  uint32_t c[4] = {static_cast<uint32_t>(counter_low), static_cast<uint32_t>(counter_low >> 32),
                   static_cast<uint32_t>(counter_high), static_cast<uint32_t>(counter_high >> 32)};
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{c[0]} * 0xd2511f53u, p1 = uint64_t{c[2]} * 0xcd9e8d57u;
    c[0] = static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0;
    c[1] = static_cast<uint32_t>(p1);
    c[2] = static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1;
    c[3] = static_cast<uint32_t>(p0);
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  return {{c[0], c[1], c[2], c[3]}};
}

/// The stream of a stateless draw; the same seeds always give the same numbers. Key and counter
/// are the block of TensorFlow's own key at the seeds, so that a stateful draw of the seeds that
/// this block spells is the same draw.
constexpr RandomStream stateless_stream(uint64_t seed_0, uint64_t seed_1) {
  const RandomBlock mixed = random_block(0x02461e293ec8f720u, seed_0, seed_1);
  return {uint64_t{mixed.word[1]} << 32 | mixed.word[0], 0,
          uint64_t{mixed.word[3]} << 32 | mixed.word[2]};
}

namespace random_state {

/// All later draws repeat after the same seed. Draws with an op seed of their own start again too.
TIDEMARK_API void set_seed(int64_t seed);

/// Takes `blocks` blocks that no other draw gets. Without a global seed the key is the system's
/// entropy; draws with an op seed repeat from run to run even then, as TensorFlow's do. Draws with
/// the same op seed continue one another. Safe from any thread.
TIDEMARK_API RandomStream reserve(std::optional<int64_t> op_seed, uint64_t blocks);

/// The op seed of one operation of a session's graph: operations with equal seeds draw the same
/// numbers, and each goes on by itself.
constexpr int64_t seed_of_operation(uint32_t seed, uint32_t operation) {
  return static_cast<int64_t>(uint64_t{operation} << 32 | seed);
}

/// Where the operations of a graph that have seeds stand: in every session they start anew.
class TIDEMARK_API Positions {
 public:
  /// Where the draws of the operation go on; the next begin `blocks` further.
  uint64_t advance(int64_t seed_of_operation, uint64_t blocks);

 private:
  std::mutex mutex_;
  std::unordered_map<int64_t, uint64_t> next_;
};

/// Until the end of the scope op seeds on this thread are those of operations of a graph.
class TIDEMARK_API PositionsScope {
 public:
  explicit PositionsScope(Positions& positions) noexcept;
  ~PositionsScope();
  PositionsScope(const PositionsScope&) = delete;
  PositionsScope& operator=(const PositionsScope&) = delete;

 private:
  Positions* outer_;
};

}  // namespace random_state

}  // namespace tidemark
