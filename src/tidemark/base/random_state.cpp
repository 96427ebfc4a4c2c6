#include "tidemark/base/random_state.h"

#include <random>
#include <utility>

namespace tidemark::random_state {

namespace {

constexpr int64_t kDefaultSeed = 87654321;  // TensorFlow's, for op seeds without a global one
/// Op seeds whose position is remembered; a program that uses more starts them again.
constexpr size_t kMostOpSeeds = 1 << 16;

/// Spreads a seed over 64 bits (the finisher of splitmix64).
uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// TensorFlow keeps seeds in so many values; its draws know no others.
constexpr uint64_t kSeedsBelow = 0x7fffffff;
uint64_t kept_small(int64_t seed) {
  const int64_t rest = seed % static_cast<int64_t>(kSeedsBelow);
  return static_cast<uint64_t>(rest < 0 ? rest + static_cast<int64_t>(kSeedsBelow) : rest);
}

uint64_t entropy() {
  std::random_device device;
  return static_cast<uint64_t>(device()) << 32 | device();
}

struct State {
  std::mutex mutex;
  std::optional<int64_t> seed;
  uint64_t key = entropy();
  uint64_t next = 0;
  std::unordered_map<int64_t, uint64_t> next_of_op_seed;
};

thread_local constinit Positions* positions_of_session = nullptr;

State& state() {
  static State* const state = new State;  // pool threads may outlive static objects
  return *state;
}

}  // namespace

void set_seed(int64_t seed) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  s.seed = seed;
  s.key = mixed(static_cast<uint64_t>(seed));
  s.next = 0;
  s.next_of_op_seed.clear();
}

uint64_t Positions::advance(int64_t seed_of_operation, uint64_t blocks) {
  const std::lock_guard lock(mutex_);
  uint64_t& next = next_[seed_of_operation];
  return std::exchange(next, next + blocks);
}

PositionsScope::PositionsScope(Positions& positions) noexcept
    : outer_(std::exchange(positions_of_session, &positions)) {}
PositionsScope::~PositionsScope() { positions_of_session = outer_; }

RandomStream reserve(std::optional<int64_t> op_seed, uint64_t blocks) {
  if (op_seed && positions_of_session) {
    const uint64_t begin = positions_of_session->advance(*op_seed, blocks);
    return {mixed(static_cast<uint64_t>(kDefaultSeed)), begin,
            mixed(static_cast<uint32_t>(*op_seed)) | 1};
  }
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (!op_seed) {
    const uint64_t begin = s.next;
    s.next += blocks;
    return {s.key, begin, 0};
  }
  if (s.next_of_op_seed.size() >= kMostOpSeeds) s.next_of_op_seed.clear();
  uint64_t& next = s.next_of_op_seed[*op_seed];
  const uint64_t begin = next;
  next += blocks;
  const uint64_t first = kept_small(s.seed.value_or(kDefaultSeed));
  const uint64_t second = kept_small(*op_seed);
  return {first, begin, first == 0 && second == 0 ? kSeedsBelow : second};
}

}  // namespace tidemark::random_state
