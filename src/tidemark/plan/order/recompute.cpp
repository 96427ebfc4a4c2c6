#include "tidemark/plan/order/recompute.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "tidemark/plan/order/load.h"
#include "tidemark/plan/search_clock.h"

namespace tidemark::plan {

namespace {

/// How many ops may be repeated to have one value again.
constexpr int kLongestChain = 24;
/// How often to aim anew for the lowest peak there is, where the budget cannot be kept.
constexpr int kRoundsForTheLowest = 6;

/// A problem whose order is that of its list, and what is alive when.
struct Schedule {
  Problem problem;
  std::vector<int> op_of, value_of;
  // Worked out:
  Storages storages;
  std::vector<int64_t> loads;
  std::vector<int> first, last;  // steps, by storage
  int64_t peak = 0;
  double excess = 0;  // bytes above the budget, summed over time

  void work_out(int64_t budget) {
    storages = find_storages(problem);
    std::vector<int> order(problem.ops.size());
    std::iota(order.begin(), order.end(), 0);
    Loads found = loads_of(problem, storages, order);
    loads = std::move(found.steps);
    peak = found.peak;
    excess = 0;
    for (const int64_t load : loads)
      excess += static_cast<double>(std::max<int64_t>(0, load - budget));
    const int end = static_cast<int>(problem.ops.size()) - 1;
    first.assign(storages.all.size(), 0);
    last.assign(storages.all.size(), 0);
    for (size_t s = 0; s < storages.all.size(); ++s) {
      const Storage& storage = storages.all[s];
      first[s] = storage.creator == kNone ? -1 : storage.creator;
      last[s] = first[s];
      for (const int user : storage.users) last[s] = std::max(last[s], user);
      if (storage.kept) last[s] = end;
    }
  }
  bool is_alive(int storage, int step) const {
    return first[storage] <= step && step <= last[storage];
  }
};

Schedule scheduled(const Problem& problem, const std::vector<int>& order) {
  Schedule out;
  out.problem.values = problem.values;
  out.op_of = order;
  for (size_t i = 0; i < problem.values.size(); ++i) out.value_of.push_back(static_cast<int>(i));
  for (const int op : order) {
    out.problem.ops.push_back(problem.ops[op]);
    out.problem.ops.back().after.clear();
  }
  return out;
}

/// Repeats what is needed to have a storage again after a step at which it is let go.
class Repetition {
 public:
  Repetition(const Schedule& from, const std::vector<OpCost>& costs,
             const std::vector<int>& valid_until, int storage, int gap)
      : from_(from), costs_(costs), valid_until_(valid_until), storage_(storage), gap_(gap) {
    for (const int user : from.storages.all[storage].users) {
      if (user > gap) first_use_ = first_use_ == kNone ? user : std::min(first_use_, user);
    }
  }

  /// False: it cannot be had again.
  bool prepare() {
    if (first_use_ == kNone) return false;
    for (size_t op = static_cast<size_t>(first_use_); op < from_.problem.ops.size(); ++op) {
      for (const int value : from_.problem.ops[op].inputs) {
        if (from_.storages.of_value[value] == storage_ && !need(value, 0)) return false;
      }
    }
    return !repeated_.empty();
  }
  double seconds() const { return seconds_; }
  int64_t added_bytes() const { return added_bytes_; }

  Schedule applied() const {
    Schedule out;
    out.problem.values = from_.problem.values;
    out.value_of = from_.value_of;
    std::map<int, int> now;  // values, as those after the gap see them
    for (size_t i = 0; i < from_.problem.ops.size(); ++i) {
      if (static_cast<int>(i) == first_use_) {
        for (const int op : repeated_) repeat(op, now, out);
      }
      Op op = from_.problem.ops[i];
      if (static_cast<int>(i) >= first_use_) {
        rename(op, now);
        for (const int output : op.outputs) {
          int& base = out.problem.values[output].view_of;
          if (base != kNone) base = renamed(now, base);
        }
      }
      out.problem.ops.push_back(std::move(op));
      out.op_of.push_back(from_.op_of[i]);
    }
    return out;
  }

 private:
  /// Makes sure of a value at the first late use; what is alive across the gap is there.
  bool need(int value, int depth) {
    const int storage = from_.storages.of_value[value];
    const Storage& s = from_.storages.all[storage];
    if (storage != storage_) {
      if (s.external || s.creator == kNone) return is_valid(value);
      if (from_.is_alive(storage, gap_)) return true;
    }
    const int op = maker(value);
    if (op == kNone || op > gap_) return op != kNone;
    if (done_.contains(op)) return true;
    if (depth > 0 && storage != storage_ && !is_repeatable(op)) {
      added_bytes_ += s.bytes;  // kept instead
      return true;
    }
    if (!is_repeatable(op) || static_cast<int>(done_.size()) >= kLongestChain) return false;
    done_.insert(op);
    for (const int input : from_.problem.ops[op].inputs) {
      if (!need(input, depth + 1)) return false;
    }
    repeated_.push_back(op);
    seconds_ += costs_[from_.op_of[op]].seconds;
    return true;
  }

  int maker(int value) const {
    if (makers_.empty()) {
      makers_.assign(from_.problem.values.size(), kNone);
      for (size_t i = 0; i < from_.problem.ops.size(); ++i) {
        for (const int output : from_.problem.ops[i].outputs) makers_[output] = static_cast<int>(i);
      }
    }
    return makers_[value];
  }
  bool is_repeatable(int op) const { return costs_[from_.op_of[op]].is_repeatable; }
  bool is_valid(int value) const {
    if (valid_until_.empty()) return true;
    const int until = valid_until_[from_.value_of[value]];
    if (until == kNone) return true;
    for (int i = 0; i < first_use_; ++i) {
      if (from_.op_of[i] == until) return false;
    }
    return true;
  }

  static int renamed(const std::map<int, int>& now, int value) {
    const auto found = now.find(value);
    return found == now.end() ? value : found->second;
  }
  static void rename(Op& op, const std::map<int, int>& now) {
    for (int& input : op.inputs) input = renamed(now, input);
    for (auto& [output, input] : op.in_place) {
      output = renamed(now, output);
      input = renamed(now, input);
    }
  }

  void repeat(int index, std::map<int, int>& now, Schedule& out) const {
    Op op = from_.problem.ops[index];
    for (int& input : op.inputs) input = renamed(now, input);
    for (int& output : op.outputs) {
      Value value = from_.problem.values[output];
      value.kept = false;
      if (value.view_of != kNone) value.view_of = renamed(now, value.view_of);
      now[output] = static_cast<int>(out.problem.values.size());
      out.problem.values.push_back(value);
      out.value_of.push_back(from_.value_of[output]);
      output = now[output];
    }
    for (auto& [output, input] : op.in_place) {
      output = renamed(now, output);
      input = renamed(now, input);
    }
    out.problem.ops.push_back(std::move(op));
    out.op_of.push_back(from_.op_of[index]);
  }

  const Schedule& from_;
  const std::vector<OpCost>& costs_;
  const std::vector<int>& valid_until_;
  int storage_, gap_;
  int first_use_ = kNone;
  std::vector<int> repeated_;  // in an order in which they can run
  std::set<int> done_;
  mutable std::vector<int> makers_;
  double seconds_ = 0;
  int64_t added_bytes_ = 0;
};

class Search {
 public:
  Search(const Problem& problem, const std::vector<int>& order, const std::vector<OpCost>& costs,
         int64_t budget, const RecomputeOptions& options)
      : costs_(costs), budget_(budget), options_(options), now_(scheduled(problem, order)) {
    now_.work_out(budget);
  }

  Recomputation run() {
    Recomputation out;
    out.given_peak = now_.peak;
    for (const OpCost& cost : costs_) out.given_seconds += cost.seconds;
    const size_t given = now_.problem.ops.size();
    const Deadline deadline = deadline_in(options_.seconds);
    while (now_.peak > budget_ && SearchClock::now() < deadline && improve()) {
    }
    out.peak = now_.peak;
    out.fits = now_.peak <= budget_;
    out.added_seconds = added_seconds_;
    out.repeated = static_cast<int>(now_.problem.ops.size() - given);
    out.problem = std::move(now_.problem);
    out.op_of = std::move(now_.op_of);
    out.value_of = std::move(now_.value_of);
    return out;
  }

 private:
  struct Candidate {
    int storage;
    double seconds;
    double score;
  };

  /// One repetition more; false: none helps.
  bool improve() {
    const int gap = static_cast<int>(std::max_element(now_.loads.begin(), now_.loads.end()) -
                                     now_.loads.begin());
    for (const Candidate& candidate : candidates(gap)) {
      Repetition repetition(now_, costs_, options_.valid_until, candidate.storage, gap);
      if (!repetition.prepare()) continue;
      Schedule next = repetition.applied();
      next.work_out(budget_);
      if (next.excess >= now_.excess) {
        refused_.insert({now_.op_of[gap], key(candidate.storage)});
        continue;
      }
      added_seconds_ += candidate.seconds;
      now_ = std::move(next);
      return true;
    }
    return false;
  }

  int key(int storage) const {
    const int creator = now_.storages.all[storage].creator;
    return creator == kNone ? kNone : now_.op_of[creator];
  }

  /// What is alive at the step and not used by it, the best bargain first.
  std::vector<Candidate> candidates(int gap) const {
    const auto& used = now_.storages.of_op[gap];
    std::vector<Candidate> out;
    for (int s = 0; s < static_cast<int>(now_.storages.all.size()); ++s) {
      const Storage& storage = now_.storages.all[s];
      if (storage.external || storage.kept || storage.bytes == 0) continue;
      if (!(now_.first[s] < gap && gap < now_.last[s])) continue;
      const bool at_work = std::find(used.reads.begin(), used.reads.end(), s) != used.reads.end();
      if (at_work || refused_.contains({now_.op_of[gap], key(s)})) continue;
      Repetition repetition(now_, costs_, options_.valid_until, s, gap);
      if (!repetition.prepare()) continue;
      const int64_t gained = storage.bytes - repetition.added_bytes();
      if (gained <= 0) continue;
      const double seconds = repetition.seconds();
      out.push_back({s, seconds, static_cast<double>(gained) / (seconds + 1e-7)});
    }
    std::sort(out.begin(), out.end(),
              [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
    return out;
  }

  const std::vector<OpCost>& costs_;
  int64_t budget_;
  const RecomputeOptions& options_;
  Schedule now_;
  std::set<std::pair<int, int>> refused_;
  double added_seconds_ = 0;
};

}  // namespace

Recomputation recompute(const Problem& problem, const std::vector<int>& order,
                        const std::vector<OpCost>& costs, int64_t budget,
                        const RecomputeOptions& options) {
  Recomputation best = Search(problem, order, costs, budget, options).run();
  if (best.fits) return best;
  // A search that aims too low spends its repetitions badly: what can be reached at all is found by
  // aiming higher.
  int64_t out_of_reach = budget;
  for (int round = 0; round < kRoundsForTheLowest; ++round) {
    const int64_t aim = out_of_reach + (best.peak - out_of_reach) / 2;
    Recomputation found = Search(problem, order, costs, aim, options).run();
    if (!found.fits) out_of_reach = aim;
    if (found.peak < best.peak) best = std::move(found);
  }
  best.fits = best.peak <= budget;
  return best;
}

}  // namespace tidemark::plan
