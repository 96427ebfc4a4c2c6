#include "tidemark/plan/pack/section_search.h"

#include <tidemark/error.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace tidemark::plan {

namespace {
constexpr int64_t kInfinite = std::numeric_limits<int64_t>::max() / 2;
}

SectionSearch::SectionSearch(Sections sections, std::vector<int64_t> sizes)
    : sections_(std::move(sections)), size_(std::move(sizes)) {
  const int n = static_cast<int>(size_.size());
  const std::vector<int>& first = sections_.first;
  const std::vector<int>& last = sections_.last;
  meets_.resize(n);
  twin_.assign(n, -1);
  weight_.assign(sections_.count, 1.0);
  offset_.assign(n, 0);
  scan_.resize(sections_.count);
  reset(0);
  for (const int64_t slack : slack_) largest_load_ = std::max(largest_load_, -slack);
  std::map<std::tuple<int, int, int64_t>, int> latest;
  for (int b = 0; b < n; ++b) {
    const auto [at, is_new] = latest.try_emplace({first[b], last[b], size_[b]}, b);
    if (!is_new) twin_[b] = std::exchange(at->second, b);
    for (int c = 0; c < b; ++c) {
      if (first[c] >= last[b] || first[b] >= last[c]) continue;
      meets_[b].push_back(c);
      meets_[c].push_back(b);
    }
  }
}

void SectionSearch::reset(int64_t capacity) {
  const size_t n = size_.size();
  capacity_ = capacity;
  gave_up_ = false;
  trail_.clear();
  low_.assign(n, 0);
  support_.assign(n, 0);
  placed_.assign(n, 0);
  floor_.assign(sections_.count, 0);
  slack_.assign(sections_.count, capacity);
  open_count_.assign(sections_.count, 0);
  open_.resize(n);
  std::iota(open_.begin(), open_.end(), 0);
  for (size_t b = 0; b < n; ++b) {
    for (int s = sections_.first[b]; s < sections_.last[b]; ++s) {
      slack_[s] -= size_[b];
      ++open_count_[s];
    }
  }
}

SectionSearch::Outcome SectionSearch::run(int64_t capacity, const std::vector<int>& rank, Rule rule,
                                          int64_t node_limit, Deadline deadline) {
  reset(capacity);
  rank_ = &rank;
  rule_ = rule;
  node_limit_ = node_limit;
  nodes_at_start_ = nodes_;
  deadline_ = deadline;
  if (std::any_of(slack_.begin(), slack_.end(), [](int64_t slack) { return slack < 0; })) {
    return Outcome::impossible;
  }
  if (fill(0, open_.size())) return Outcome::found;
  return gave_up_ ? Outcome::gave_up : Outcome::impossible;
}

void SectionSearch::undo(size_t mark) {
  while (trail_.size() > mark) {
    *trail_.back().place = trail_.back().old_value;
    trail_.pop_back();
  }
}

bool SectionSearch::out_of_time() {
  ++nodes_;
  if (nodes_ - nodes_at_start_ > node_limit_) gave_up_ = true;
  if (nodes_ % 64 == 0 && SearchClock::now() > deadline_) gave_up_ = true;
  return gave_up_;
}

/// True iff some moment inside the part is crossed by no open range.
bool SectionSearch::splits(size_t begin, size_t end) {
  int from = sections_.count;
  int to = 0;
  crossings_.assign(sections_.count + 1, 0);
  for (size_t i = begin; i < end; ++i) {
    const int b = open_[i];
    from = std::min(from, sections_.first[b]);
    to = std::max(to, sections_.last[b]);
    ++crossings_[sections_.first[b] + 1];
    --crossings_[sections_.last[b]];
  }
  int crossing = 0;
  for (int s = from + 1; s < to; ++s) {
    crossing += crossings_[s];
    if (crossing == 0) return true;
  }
  return false;
}

/// Sorts the range so that its parts are ranges of it; returns them, small ones first.
std::vector<std::pair<size_t, size_t>> SectionSearch::split(size_t begin, size_t end) {
  std::sort(open_.begin() + begin, open_.begin() + end, [&](int a, int b) {
    return std::pair(sections_.first[a], a) < std::pair(sections_.first[b], b);
  });
  std::vector<std::pair<size_t, size_t>> parts;
  int until = -1;
  for (size_t i = begin; i < end; ++i) {
    if (sections_.first[open_[i]] >= until) {
      if (!parts.empty()) parts.back().second = i;
      parts.emplace_back(i, end);
    }
    until = std::max(until, sections_.last[open_[i]]);
  }
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
    return a.second - a.first < b.second - b.first;
  });
  return parts;
}

bool SectionSearch::fill(size_t begin, size_t end) {
  if (begin == end) return true;
  if (!splits(begin, end)) return fill_part(begin, end);
  for (const auto& [part_begin, part_end] : split(begin, end)) {
    if (!fill_part(part_begin, part_end)) return false;
  }
  return true;
}

/// On failure everything is as before; on success the ranges of the range are placed.
bool SectionSearch::fill_part(size_t begin, size_t end) {
  const size_t mark = trail_.size();
  int from = sections_.count;
  int to = 0;
  for (size_t i = begin; i < end; ++i) {
    from = std::min(from, sections_.first[open_[i]]);
    to = std::max(to, sections_.last[open_[i]]);
  }
  while (!out_of_time() && propagate(begin, end, from, to)) {
    const int b = choose(begin, end, from, to);
    const size_t before = trail_.size();
    std::swap(*std::find(open_.begin() + begin, open_.begin() + end, b), open_[end - 1]);
    place(b);
    if (fill(begin, end - 1)) return true;
    undo(before);
    if (gave_up_) break;
    // All packings with b at this offset have been tried: from here on it lies higher.
    const int64_t level = next_level(b);
    if (level > capacity_ - size_[b]) break;
    set(low_[b], level);
  }
  undo(mark);
  return false;
}

void SectionSearch::place(int b) {
  const int64_t top = low_[b] + size_[b];
  offset_[b] = low_[b];
  set(placed_[b], 1);
  for (int s = sections_.first[b]; s < sections_.last[b]; ++s) {
    set(floor_[s], top);  // the valley is flat, so the slack stays as it is
    set(open_count_[s], open_count_[s] - 1);
  }
  for (const int c : meets_[b]) {
    if (placed_[c]) continue;
    if (support_[c] < top) set(support_[c], top);
    if (low_[c] < top) set(low_[c], top);
  }
}

/// Above its present lower bound, b can only rest on a range that is still open.
int64_t SectionSearch::next_level(int b) const {
  int64_t level = kInfinite;
  for (const int c : meets_[b]) {
    if (!placed_[c]) level = std::min(level, std::max(low_[c] + size_[c], low_[b] + 1));
  }
  return level;
}

/// True iff b can be placed at its lower bound: it rests on something there, and below it no space
/// is left that another range could take.
bool SectionSearch::is_ready(int b) const {
  if (low_[b] != support_[b] || waits_for_twin(b)) return false;
  for (int s = sections_.first[b]; s < sections_.last[b]; ++s) {
    if (floor_[s] != low_[b]) return false;
  }
  return true;
}

/// The next range to decide on. At the lowest floor of the part every range that could lie there
/// is ready, so after propagation there always is one.
int SectionSearch::choose(size_t begin, size_t end, int from, int to) {
  ready_here_.assign(sections_.count, 0);
  unready_here_.assign(sections_.count, 0);
  for (size_t i = begin; i < end; ++i) {
    const int b = open_[i];
    const bool ready = is_ready(b);
    if (!ready && waits_for_twin(b)) continue;
    std::vector<int>& count = ready ? ready_here_ : unready_here_;
    for (int s = sections_.first[b]; s < sections_.last[b]; ++s) count[s] += low_[b] == floor_[s];
  }
  int best = -1;
  std::pair<double, int64_t> best_key{std::numeric_limits<double>::infinity(), 0};
  for (int s = from; s < to; ++s) {
    // Only where all that could lie on the floor is ready, the choice is complete.
    if (open_count_[s] == 0 || ready_here_[s] == 0 || unready_here_[s] > 0) continue;
    double key = ready_here_[s] + (slack_[s] > 0 ? 1.0 : 0.0);
    if (rule_ == Rule::weighted) key /= weight_[s];
    if (rule_ == Rule::tightest) key = static_cast<double>(floor_[s] + slack_[s]);
    if (std::pair(key, floor_[s]) < best_key) {
      best_key = {key, floor_[s]};
      best = s;
    }
  }
  int chosen = -1;
  for (size_t i = begin; i < end; ++i) {
    const int b = open_[i];
    if (sections_.first[b] > best || best >= sections_.last[b] || !is_ready(b)) continue;
    if (chosen < 0 || (*rank_)[b] < (*rank_)[chosen]) chosen = b;
  }
  if (chosen < 0) fail<InternalError>("no buffer of the part can be placed next");
  return chosen;
}

}  // namespace tidemark::plan
