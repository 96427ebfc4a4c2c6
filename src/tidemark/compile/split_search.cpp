#include "tidemark/compile/split_search.h"

#include <tidemark/bytes.h>

#include <algorithm>
#include <set>

#include "tidemark/compile/fit_budget.h"
#include "tidemark/compile/pass.h"
#include "tidemark/compile/split_rows.h"
#include "tidemark/compile/target.h"
#include "tidemark/kernels/fusion/compiler.h"
#include "tidemark/plan/order/load.h"
#include "tidemark/plan/order/order.h"

namespace tidemark::compile {

namespace {

using plan::kNone;

constexpr int64_t kMostPieces = 64;
constexpr int kMostUnits = 4;
/// What an attempt costs whatever its size, in nodes.
constexpr int64_t kNodesPerAttempt = 50;
/// Regions one after the other, each where the peak is once the others are split.
constexpr int kRounds = 3;
/// How long to look for the order of one attempt: counted, so that the same is found every time.
constexpr plan::OrderOptions kOrdering{.seconds = 2.0, .step_cap = 20'000};

std::string describe(const graph::Node& node) {
  std::string text(graph::kind_of(node));
  if (node.site) text += message(" at ", memory::describe(*node.site));
  return text;
}

/// Whether fusion can make it part of a group.
bool is_fusable(const graph::Node& node) {
  if (!node.op) return false;
  if (node.op->is_elementwise() || node.op->repeated_input() >= 0) return true;
  const ReductionKind kind = node.op->reduction_kind();
  return kind == ReductionKind::sum || kind == ReductionKind::mean ||
         kind == ReductionKind::maximum || kind == ReductionKind::minimum ||
         kind == ReductionKind::logical;
}

/// Or whether a group can run on its tiles.
bool is_fusable_before(const graph::Node& node) {
  if (!node.op || is_fusable(node)) return node.op != nullptr;
  return !node.outputs.empty() &&
         target_of(node).fusion().takes_programs(*node.op, node.outputs[0].dtype);
}

/// What is alive when, by a guess at what fusion leaves to be written.
class Profile {
 public:
  explicit Profile(const plan::Lowering& lowered) : lowered_(lowered) {
    plan::Problem problem = lowered.problem;
    std::vector<int> users(problem.values.size(), 0);
    std::vector<char> is_fused(problem.values.size(), 0);
    for (size_t op = 0; op < problem.ops.size(); ++op) {
      for (const int value : problem.ops[op].inputs) {
        ++users[value];
        is_fused[value] = is_fusable(*lowered.steps[op].node);
      }
    }
    for (size_t op = 0; op < problem.ops.size(); ++op) {
      if (!is_fusable_before(*lowered.steps[op].node)) continue;
      for (const int value : problem.ops[op].outputs) {
        const bool is_gone = users[value] == 1 && is_fused[value] && !problem.values[value].kept;
        if (is_gone) problem.values[value].bytes = 0;
      }
    }
    order_ = plan::find_order(problem, kOrdering);
    storages_ = plan::find_storages(problem);
    std::vector<int> position(order_.order.size());
    for (size_t i = 0; i < order_.order.size(); ++i)
      position[order_.order[i]] = static_cast<int>(i);
    peak_at_ = static_cast<size_t>(std::max_element(order_.loads.begin(), order_.loads.end()) -
                                   order_.loads.begin());
    is_alive_.assign(storages_.all.size(), 0);
    for (size_t s = 0; s < storages_.all.size(); ++s) {
      const plan::Storage& storage = storages_.all[s];
      if (storage.external || storage.creator == kNone) continue;
      int last = position[storage.creator];
      for (const int user : storage.users) last = std::max(last, position[user]);
      const auto at = static_cast<int>(peak_at_);
      is_alive_[s] = position[storage.creator] <= at && (storage.kept || at <= last);
    }
  }

  const std::vector<int>& order() const { return order_.order; }
  int64_t peak() const { return order_.peak; }

  /// Ops whose outputs are alive at the peak.
  std::vector<int> ops_at_peak() const {
    std::vector<int> ops;
    for (size_t s = 0; s < is_alive_.size(); ++s) {
      if (is_alive_[s]) ops.push_back(storages_.all[s].creator);
    }
    ops.push_back(order_.order[peak_at_]);
    return ops;
  }

  /// When these ops run, the first ones.
  std::vector<size_t> positions(const std::vector<int>& ops) const {
    constexpr size_t kMost = 8;
    const std::set<int> asked(ops.begin(), ops.end());
    std::vector<size_t> out;
    for (size_t at = 0; at < order_.order.size() && out.size() < kMost; ++at) {
      if (asked.contains(order_.order[at])) out.push_back(at);
    }
    return out;
  }

  /// Bytes at the peak that values of the region hold.
  int64_t alive(const std::vector<int>& values) const {
    std::set<int> storages;
    for (const int value : values) storages.insert(storages_.of_value[value]);
    int64_t bytes = 0;
    for (const int s : storages) bytes += s != kNone && is_alive_[s] ? storages_.all[s].bytes : 0;
    return bytes;
  }

  /// Around the peak, as long as the load is above a limit.
  std::pair<size_t, size_t> above(double limit) const {
    size_t first = peak_at_, last = peak_at_ + 1;
    while (first > 0 && static_cast<double>(order_.loads[first - 1]) > limit) --first;
    while (last < order_.loads.size() && static_cast<double>(order_.loads[last]) > limit) ++last;
    return {first, last};
  }

  /// Numbers of rows that divide much of what is alive at the peak, the best first.
  std::vector<int64_t> units(const graph::Graph& graph) const {
    std::set<int64_t> candidates;
    std::vector<std::pair<int64_t, int64_t>> alive;  // rows, bytes
    for (size_t i = 0; i < lowered_.values.size(); ++i) {
      const int s = storages_.of_value[i];
      const plan::PlannedValue& v = lowered_.values[i];
      if (s == kNone || !is_alive_[s] || v.view_of != kNone) continue;
      const Shape& shape = v.node->outputs[v.output].shape;
      if (!shape.is_fully_known() || shape.rank() == 0 || shape[0] < 2) continue;
      alive.emplace_back(shape[0], storages_.all[s].bytes);
      if (storages_.all[s].bytes * 20 >= peak()) candidates.insert(shape[0]);
    }
    for (const Tensor& t : graph.inputs()) {
      if (t.shape().is_fully_known() && t.rank() > 0 && t.shape()[0] > 1) {
        candidates.insert(t.shape()[0]);
      }
    }
    std::vector<std::pair<int64_t, int64_t>> ranked;  // bytes, units
    for (const int64_t units : candidates) {
      int64_t bytes = 0;
      for (const auto& [rows, size] : alive) bytes += rows % units == 0 ? size : 0;
      if (bytes > 0) ranked.emplace_back(bytes, units);
    }
    std::sort(ranked.rbegin(), ranked.rend());
    std::vector<int64_t> out;
    for (const auto& [bytes, units] : ranked) {
      if (out.size() < kMostUnits) out.push_back(units);
    }
    return out;
  }

 private:
  const plan::Lowering& lowered_;
  plan::OrderResult order_;
  plan::Storages storages_;
  std::vector<char> is_alive_;  // at the peak, by storage
  size_t peak_at_ = 0;
};

struct Candidate {
  RowRegion region;
  int64_t relief = 0;  // bytes inside it that are alive at the peak
  int64_t moved = 0;   // bytes that have to be put together afterwards
};

class SplitSearch {
 public:
  SplitSearch(int64_t budget, const SplitOptions& options) : budget_(budget), options_(options) {}

  void run(const std::shared_ptr<graph::Graph>& unfused) {
    std::shared_ptr<graph::Graph> now = unfused;
    std::vector<SplitNote> notes;
    for (int round = 0; round < kRounds && now && !is_over(); ++round) {
      const size_t before = found_.size();
      const std::shared_ptr<graph::Graph> next = improve(now, notes);
      if (found_.size() == before) return;
      now = next;
    }
  }

  std::vector<SplitAttempt> result() {
    std::stable_sort(found_.begin(), found_.end(),
                     [&](const SplitAttempt& a, const SplitAttempt& b) {
                       const bool a_fits = a.peak <= budget_, b_fits = b.peak <= budget_;
                       if (a_fits != b_fits) return a_fits;
                       return a_fits ? a.seconds < b.seconds : a.peak < b.peak;
                     });
    return std::move(found_);
  }

 private:
  bool is_over() const { return spent_ > options_.most_tried; }

  /// One region more. Gives the graph, before fusion, with the lowest peak; null: one fits, or none
  /// can be split.
  std::shared_ptr<graph::Graph> improve(const std::shared_ptr<graph::Graph>& graph,
                                        std::vector<SplitNote>& notes) {
    const plan::Lowering lowered(*graph);
    if (lowered.steps.empty()) return nullptr;
    const Profile profile(lowered);
    std::shared_ptr<graph::Graph> lowest;
    std::vector<SplitNote> lowest_notes;
    int64_t lowest_peak = std::numeric_limits<int64_t>::max();
    int64_t moved_of_fitting = std::numeric_limits<int64_t>::max();
    bool fits = false;
    for (const Candidate& candidate : candidates(*graph, lowered, profile)) {
      if (fits && candidate.moved >= moved_of_fitting) continue;
      const int64_t most = most_pieces(candidate, lowered);
      if (most < 2) continue;
      int64_t pieces = std::min(most, first_pieces(candidate, profile));
      for (int64_t last = 0; pieces <= most && !is_over();) {
        const int64_t peak = attempt(*graph, lowered, candidate, pieces, notes);
        if (peak < 0) break;
        if (peak <= budget_) {
          fits = true;
          moved_of_fitting = std::min(moved_of_fitting, candidate.moved);
        }
        if (peak < lowest_peak) {
          lowest_peak = peak;
          lowest = unfused_;
          lowest_notes = found_.back().notes;
        }
        const bool is_better =
            last == 0 || static_cast<double>(peak) < 0.97 * static_cast<double>(last);
        if (peak <= budget_ || pieces == most || !is_better) break;
        last = peak;
        pieces = std::min(most, 2 * pieces);
      }
    }
    notes = std::move(lowest_notes);
    return fits ? nullptr : lowest;
  }

  int64_t most_pieces(const Candidate& candidate, const plan::Lowering& lowered) const {
    const auto inside = static_cast<int64_t>(candidate.region.ops.size());
    const int64_t rest = static_cast<int64_t>(lowered.steps.size()) - inside;
    const int64_t room = (options_.most_nodes - rest) / std::max<int64_t>(1, 2 * inside);
    return std::min({candidate.region.units, kMostPieces, room});
  }

  /// As many as the budget asks for if all else stays.
  int64_t first_pieces(const Candidate& candidate, const Profile& profile) const {
    const int64_t room = budget_ - (profile.peak() - candidate.relief);
    int64_t pieces = 2;
    if (room <= 0) return std::min<int64_t>(4, candidate.region.units);
    // A third is left for what putting the pieces together takes.
    while (pieces < kMostPieces && 3 * candidate.relief > 2 * pieces * room) pieces *= 2;
    return std::min(pieces, candidate.region.units);
  }

  std::vector<Candidate> candidates(const graph::Graph& graph, const plan::Lowering& lowered,
                                    const Profile& profile) const {
    std::vector<std::pair<size_t, size_t>> windows = {{0, profile.order().size()}};
    const double start =
        std::min(static_cast<double>(budget_), static_cast<double>(profile.peak()));
    for (const double part : {1.0, 0.75, 0.5, 0.25}) windows.push_back(profile.above(part * start));
    for (const double part : {0.9, 0.5}) {
      windows.push_back(profile.above(part * static_cast<double>(profile.peak())));
    }
    const std::vector<int> wanted = profile.ops_at_peak();
    // What runs before may be in the way: it starts a region that others depend on.
    for (const size_t first : profile.positions(wanted)) {
      windows.emplace_back(first, profile.order().size());
    }
    std::set<std::vector<int>> seen;
    std::vector<Candidate> out;
    for (const int64_t units : profile.units(graph)) {
      for (const auto& [first, last] : windows) {
        auto region = find_region(lowered, profile.order(), first, last, units, wanted);
        if (!region || !seen.insert(region->ops).second) continue;
        Candidate candidate;
        candidate.relief = profile.alive(region->inner);
        if (candidate.relief == 0) continue;
        for (const int value : region->boundary) candidate.moved += lowered.values[value].bytes;
        for (const int value : region->accumulated) candidate.moved += lowered.values[value].bytes;
        candidate.region = std::move(*region);
        out.push_back(std::move(candidate));
      }
    }
    std::stable_sort(out.begin(), out.end(), [](const Candidate& a, const Candidate& b) {
      return a.relief - a.moved > b.relief - b.moved;
    });
    return out;
  }

  /// Gives the peak; -1: it cannot be split so.
  int64_t attempt(const graph::Graph& graph, const plan::Lowering& lowered,
                  const Candidate& candidate, int64_t pieces, const std::vector<SplitNote>& notes) {
    unfused_ = split_rows(graph, lowered, candidate.region, pieces);
    if (!unfused_) return -1;
    verify(*unfused_);
    SplitAttempt made;
    made.graph = fuse(unfused_);
    verify(*made.graph);
    const plan::Lowering now(*made.graph);
    spent_ += static_cast<int64_t>(now.steps.size()) + kNodesPerAttempt;
    made.peak = plan::find_order(now.problem, kOrdering).peak;
    made.seconds = estimated_seconds(now);
    made.notes = notes;
    made.notes.push_back(note_of(lowered, candidate, pieces));
    found_.push_back(std::move(made));
    return found_.back().peak;
  }

  static SplitNote note_of(const plan::Lowering& lowered, const Candidate& candidate,
                           int64_t pieces) {
    const RowRegion& region = candidate.region;
    SplitNote note;
    note.pieces = pieces_of(region.units, pieces);
    const int largest = *std::max_element(
        region.inner.begin(), region.inner.end(),
        [&](int a, int b) { return lowered.values[a].bytes < lowered.values[b].bytes; });
    const plan::PlannedValue& value = lowered.values[largest];
    note.rows = value.node->outputs[value.output].shape[0];
    note.rows_each = (region.units + note.pieces - 1) / note.pieces * (note.rows / region.units);
    note.inner_bytes = candidate.relief;
    note.steps = static_cast<int>(region.ops.size());
    note.first = describe(*lowered.steps[region.ops.front()].node);
    note.last = describe(*lowered.steps[region.ops.back()].node);
    return note;
  }

  const int64_t budget_;
  const SplitOptions options_;
  int64_t spent_ = 0;  // nodes of all attempts
  std::vector<SplitAttempt> found_;
  std::shared_ptr<graph::Graph> unfused_;  // of the last attempt
};

}  // namespace

std::string SplitNote::to_string() const {
  return message("split into ", pieces, " by rows (", rows_each, " of ", rows, " each): ", steps,
                 steps == 1 ? " step from " : " steps from ", first, " to ", last, ", because ",
                 format_bytes(inner_bytes), " between them would be alive at the peak");
}

std::vector<SplitAttempt> find_splits(const std::shared_ptr<graph::Graph>& unfused, int64_t budget,
                                      const SplitOptions& options) {
  SplitSearch search(budget, options);
  search.run(unfused);
  return search.result();
}

}  // namespace tidemark::compile
