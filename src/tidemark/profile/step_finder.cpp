#include "tidemark/profile/step_finder.h"

#include <algorithm>
#include <set>
#include <vector>

namespace tidemark::profile {

namespace {

constexpr uint64_t kFewest = 8;   // rounds that make a loop
constexpr uint64_t kPlenty = 16;  // preferred
constexpr size_t kMostKeys = 1 << 18;

bool is_candidate(EventKind kind) {
  return kind == EventKind::op || kind == EventKind::call || kind == EventKind::session ||
         kind == EventKind::gradient;
}

struct Candidate {
  StepKey key;
  uint64_t count, first, last;
  StepFinder::Line line;
};

/// Candidates whose counts differ by a few per cent at most.
struct Cluster {
  std::vector<Candidate> members;
  double weight = 0;
};

/// Lines count once; a call of a function, a session's run or a gradient is more of a step than any
/// op.
double weight_of(const std::vector<Candidate>& members) {
  double weight = 0;
  std::set<std::string> lines;
  for (const Candidate& c : members) {
    if (c.key.kind != EventKind::op) {
      weight += 2;
    } else if (lines.insert(c.line.name).second) {
      weight += 1;
    }
  }
  return weight;
}

std::vector<Cluster> clusters_of(std::vector<Candidate> candidates) {
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.count < b.count; });
  std::vector<Cluster> clusters;
  for (const Candidate& c : candidates) {
    const bool joins =
        !clusters.empty() && c.count <= clusters.back().members.front().count * 103 / 100 + 2;
    if (!joins) clusters.emplace_back();
    clusters.back().members.push_back(c);
  }
  for (Cluster& cluster : clusters) cluster.weight = weight_of(cluster.members);
  return clusters;
}

}  // namespace

void StepFinder::see(const Event& event) {
  if (event.kind == EventKind::step) ++marked_;
  if (!is_candidate(event.kind) || event.place == 0) return;
  if (event.kind == EventKind::session && event.value != 0) return;  // opened or closed: no run
  const StepKey key{event.kind, event.place,
                    event.kind == EventKind::op ? uint64_t{event.op} : event.id};
  auto found = seen_.find(key);
  if (found == seen_.end()) {
    if (seen_.size() >= kMostKeys) return;
    found = seen_.try_emplace(key, Times{0, event.time, event.time}).first;
  }
  ++found->second.count;
  found->second.last = event.time;
}

std::vector<std::pair<uint32_t, uint64_t>> StepFinder::times() const {
  std::vector<std::pair<uint32_t, uint64_t>> out;
  for (const auto& [key, times] : seen_) {
    if (times.count >= kFewest) out.emplace_back(key.place, times.count);
  }
  return out;
}

StepFinder::Found StepFinder::find(const std::function<Line(uint32_t)>& line_of) const {
  if (marked_ >= 2) return {{EventKind::step, 0, 0}, marked_};
  std::vector<Candidate> candidates;
  uint64_t longest = 0;
  for (const auto& [key, times] : seen_) {
    if (times.count < kFewest) continue;
    candidates.push_back({key, times.count, times.first, times.last, line_of(key.place)});
    longest = std::max(longest, times.last - times.first);
  }
  std::erase_if(candidates, [&](const Candidate& c) {
    // Looking at who holds what takes time while a program makes its variables, and stretches that.
    const uint64_t share = c.key.kind == EventKind::op ? 2 : 4;
    return (c.last - c.first) * share < longest;
  });
  if (std::any_of(candidates.begin(), candidates.end(),
                  [](const Candidate& c) { return c.count >= kPlenty; })) {
    std::erase_if(candidates, [](const Candidate& c) { return c.count < kPlenty; });
  }
  if (candidates.empty()) return {};
  const auto occasional =
      std::stable_partition(candidates.begin(), candidates.end(),
                            [](const Candidate& c) { return !c.line.is_occasional; });
  if (occasional != candidates.begin()) candidates.erase(occasional, candidates.end());
  const std::vector<Cluster> clusters = clusters_of(std::move(candidates));
  double heaviest = 0;
  for (const Cluster& cluster : clusters) heaviest = std::max(heaviest, cluster.weight);
  const double enough = heaviest < 2 ? heaviest : std::max(2.0, heaviest / 4);
  for (const Cluster& cluster : clusters) {
    if (cluster.weight < enough) continue;
    const Candidate* first = &cluster.members.front();
    for (const Candidate& c : cluster.members) {
      const bool is_better_kind = c.key.kind != EventKind::op && first->key.kind == EventKind::op;
      const bool is_worse_kind = c.key.kind == EventKind::op && first->key.kind != EventKind::op;
      if (is_better_kind || (!is_worse_kind && c.first < first->first)) first = &c;
    }
    return {first->key, first->count};
  }
  return {};
}

}  // namespace tidemark::profile
