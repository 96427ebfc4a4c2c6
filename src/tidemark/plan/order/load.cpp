#include "tidemark/plan/order/load.h"

#include <algorithm>

namespace tidemark::plan {

namespace {

uint64_t hash_of(int op) {
  uint64_t z = (static_cast<uint64_t>(op) + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

LoadState::LoadState(const Problem& problem, const Storages& storages)
    : problem_(&problem), storages_(&storages) {
  for (const Storage& storage : storages.all) {
    users_left_.push_back(static_cast<int>(storage.users.size()));
    const bool needed = storage.kept || !storage.users.empty();
    if (storage.creator == kNone && needed) live_ += storage.bytes;
  }
  for (size_t op = 0; op < storages.before.size(); ++op) {
    waits_for_.push_back(static_cast<int>(storages.before[op].size()));
    if (waits_for_.back() == 0) ready_.push_back(static_cast<int>(op));
  }
}

LoadState::Effect LoadState::effect(int op) const {
  const Storages::Use& use = storages_->of_op[op];
  int64_t created = 0;
  int64_t freed = 0;
  for (const int s : use.creates) {
    const Storage& storage = storages_->all[s];
    created += storage.bytes;
    if (storage.users.empty() && !storage.kept) freed += storage.bytes;
  }
  for (const int s : use.reads) {
    if (users_left_[s] == 1 && !storages_->all[s].kept) freed += storages_->all[s].bytes;
  }
  const int64_t during = live_ + created - taken_over(use) + problem_->ops[op].workspace;
  return {during, live_ + created - freed};
}

/// The first pair that can have its way does; each storage takes part once.
int64_t LoadState::taken_over(const Storages::Use& use) const {
  int64_t bytes = 0;
  std::vector<std::pair<int, int>> done;
  for (const auto& [to, from] : use.takeovers) {
    if (users_left_[from] != 1) continue;
    const bool used = std::any_of(done.begin(), done.end(), [&](const auto& pair) {
      return pair.first == to || pair.second == from;
    });
    if (used) continue;
    bytes += storages_->all[to].bytes;
    if (use.takeovers.size() == 1) break;
    done.emplace_back(to, from);
  }
  return bytes;
}

LoadState::Effect LoadState::run(int op) {
  const Effect effect = this->effect(op);
  live_ = effect.after;
  hash_ ^= hash_of(op);
  for (const int s : storages_->of_op[op].reads) --users_left_[s];
  std::erase(ready_, op);
  for (const int next : storages_->next[op]) {
    if (--waits_for_[next] == 0) ready_.push_back(next);
  }
  return effect;
}

Loads loads_of(const Problem& problem, const Storages& storages, const std::vector<int>& order) {
  LoadState state(problem, storages);
  Loads loads;
  loads.peak = state.live();
  for (const int op : order) {
    loads.steps.push_back(state.run(op).during);
    loads.peak = std::max(loads.peak, loads.steps.back());
  }
  return loads;
}

bool is_order(const Storages& storages, const std::vector<int>& order) {
  if (order.size() != storages.before.size()) return false;
  std::vector<char> done(order.size(), 0);
  for (const int op : order) {
    if (op < 0 || op >= static_cast<int>(order.size()) || done[op]) return false;
    for (const int earlier : storages.before[op]) {
      if (!done[earlier]) return false;
    }
    done[op] = 1;
  }
  return true;
}

}  // namespace tidemark::plan
