// What is alive after which ops have run, kept up to date op by op.
#pragma once

#include "tidemark/plan/order/problem.h"

namespace tidemark::plan {

/// All it says follows from the set of ops that have run, not from their order.
class LoadState {
 public:
  explicit LoadState(const Problem& problem, const Storages& storages);

  struct Effect {
    int64_t during;  ///< bytes alive while the op runs: inputs, outputs, workspace, all others
    int64_t after;   ///< bytes alive once it has run
  };
  /// What running this op now would do.
  Effect effect(int op) const;

  bool is_ready(int op) const { return waits_for_[op] == 0; }
  /// Ops that have not run and wait for none.
  const std::vector<int>& ready() const { return ready_; }
  /// Runs a ready op.
  Effect run(int op);

  int64_t live() const { return live_; }
  /// The same for the same set of ops, else different, but for odds of one in 2^64.
  uint64_t hash() const { return hash_; }

 private:
  int64_t taken_over(const Storages::Use& use) const;

  const Problem* problem_;
  const Storages* storages_;
  std::vector<int> waits_for_;
  std::vector<int> users_left_;
  std::vector<int> ready_;
  int64_t live_ = 0;
  uint64_t hash_ = 0;
};

/// The load of each step of an order, and its peak.
struct Loads {
  std::vector<int64_t> steps;
  int64_t peak = 0;
};
Loads loads_of(const Problem& problem, const Storages& storages, const std::vector<int>& order);

/// True iff every op comes once, after all it waits for.
bool is_order(const Storages& storages, const std::vector<int>& order);

}  // namespace tidemark::plan
