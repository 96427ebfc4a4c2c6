#include <algorithm>
#include <bit>

#include "tidemark/plan/order/order.h"

namespace tidemark::plan {

namespace {

/// With more ops, only an op's own inputs and outputs are counted: the sets take n^2 bits.
constexpr size_t kReachLimit = 8192;

/// A set of ops for each op.
class OpSets {
 public:
  explicit OpSets(size_t count) : words_((count + 63) / 64), bits_(count * words_, 0) {}
  uint64_t* row(size_t op) { return bits_.data() + op * words_; }
  size_t words() const { return words_; }
  void insert(size_t into, size_t op) { row(into)[op / 64] |= uint64_t{1} << (op % 64); }
  void join(size_t into, size_t from) {
    for (size_t w = 0; w < words_; ++w) row(into)[w] |= row(from)[w];
  }

 private:
  size_t words_;
  std::vector<uint64_t> bits_;
};

int64_t own_need(const Problem& problem, const Storages& storages, size_t op) {
  const Storages::Use& use = storages.of_op[op];
  int64_t bytes = problem.ops[op].workspace;
  for (const int s : use.reads) bytes += storages.all[s].bytes;
  for (const int s : use.creates) bytes += storages.all[s].bytes;
  return bytes;
}

/// As much as takeovers could ever save in this op.
int64_t possible_savings(const Storages& storages, size_t op) {
  int64_t bytes = 0;
  std::vector<int> outputs;
  for (const auto& [to, from] : storages.of_op[op].takeovers) {
    if (std::find(outputs.begin(), outputs.end(), to) != outputs.end()) continue;
    outputs.push_back(to);
    bytes += storages.all[to].bytes;
  }
  return bytes;
}

}  // namespace

int64_t order_lower_bound(const Problem& problem, const Storages& storages) {
  const size_t count = problem.ops.size();
  std::vector<int64_t> need(count, 0);
  if (count > kReachLimit) {
    for (size_t op = 0; op < count; ++op) need[op] = own_need(problem, storages, op);
  } else {
    // Ops come after those they wait for, so one sweep each way closes the sets.
    OpSets earlier(count);  // each with the op itself
    OpSets later(count);
    for (size_t op = 0; op < count; ++op) {
      earlier.insert(op, op);
      for (const int before : storages.before[op]) earlier.join(op, before);
    }
    for (size_t op = count; op-- > 0;) {
      later.insert(op, op);
      for (const int next : storages.next[op]) later.join(op, next);
    }
    // A storage is alive during every op that surely comes after its creator and before a user.
    std::vector<uint64_t> alive(earlier.words());
    for (const Storage& storage : storages.all) {
      if (storage.bytes == 0) continue;
      std::fill(alive.begin(), alive.end(), storage.kept ? ~uint64_t{0} : 0);
      for (const int user : storage.users) {
        for (size_t w = 0; w < alive.size(); ++w) alive[w] |= earlier.row(user)[w];
      }
      if (storage.creator != kNone) {
        const auto creator = static_cast<size_t>(storage.creator);
        alive[creator / 64] |= uint64_t{1} << (creator % 64);
        for (size_t w = 0; w < alive.size(); ++w) alive[w] &= later.row(creator)[w];
      }
      for (size_t w = 0; w < alive.size(); ++w) {
        for (uint64_t bits = alive[w]; bits != 0; bits &= bits - 1) {
          const size_t op = w * 64 + static_cast<size_t>(std::countr_zero(bits));
          if (op < count) need[op] += storage.bytes;
        }
      }
    }
    for (size_t op = 0; op < count; ++op) need[op] += problem.ops[op].workspace;
  }
  int64_t bound = 0;
  for (size_t op = 0; op < count; ++op) {
    bound = std::max(bound, need[op] - possible_savings(storages, op));
  }
  return bound;
}

}  // namespace tidemark::plan
