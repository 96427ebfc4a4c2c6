#include "tidemark/plan/order/lifetimes.h"

#include <tidemark/error.h>

#include <algorithm>

#include "tidemark/plan/order/load.h"

namespace tidemark::plan {

namespace {

struct Range {
  int64_t first;
  int64_t last;  // the last step that needs it
};

std::vector<Range> ranges_of(const Storages& storages, const std::vector<int>& order) {
  std::vector<int64_t> step_of(order.size());
  for (size_t i = 0; i < order.size(); ++i) step_of[order[i]] = static_cast<int64_t>(i);
  std::vector<Range> ranges;
  const int64_t end = std::max<int64_t>(0, static_cast<int64_t>(order.size()) - 1);
  for (const Storage& storage : storages.all) {
    const int64_t first = storage.creator == kNone ? 0 : step_of[storage.creator];
    int64_t last = first;
    for (const int user : storage.users) last = std::max(last, step_of[user]);
    ranges.push_back({first, storage.kept ? end : last});
  }
  return ranges;
}

/// Whose bytes each storage has: its own, or those it took over; and until when those are needed.
struct Sharing {
  std::vector<int> bytes_of;
  std::vector<int64_t> last;
};

Sharing share(const Problem& problem, const Storages& storages, const std::vector<Range>& ranges,
              const std::vector<int>& order, std::vector<Lifetimes::Takeover>& takeovers) {
  Sharing sharing;
  for (size_t s = 0; s < storages.all.size(); ++s) {
    sharing.bytes_of.push_back(static_cast<int>(s));
    sharing.last.push_back(ranges[s].last);
  }
  std::vector<int>& bytes_of = sharing.bytes_of;
  for (size_t step = 0; step < order.size(); ++step) {
    const int op = order[step];
    const auto& allowed = storages.of_op[op].takeovers;
    std::vector<int> given;
    for (const auto& [output, input] : problem.ops[op].in_place) {
      const int to = storages.of_value[output];
      const int from = storages.of_value[input];
      if (std::find(allowed.begin(), allowed.end(), std::pair(to, from)) == allowed.end()) continue;
      const bool dies = ranges[from].last == static_cast<int64_t>(step);
      const bool is_given = std::find(given.begin(), given.end(), from) != given.end();
      if (!dies || is_given || bytes_of[to] != to) continue;
      given.push_back(from);
      bytes_of[to] = bytes_of[from];
      int64_t& last = sharing.last[bytes_of[to]];
      last = std::max(last, ranges[to].last);
      takeovers.push_back({op, output, input});
    }
  }
  return sharing;
}

}  // namespace

Lifetimes find_lifetimes(const Problem& problem, const std::vector<int>& order, int64_t alignment) {
  const Storages storages = find_storages(problem);
  if (!is_order(storages, order)) {
    fail("the order of the ops cannot be run: every op must come once, after what it waits for");
  }
  const std::vector<Range> ranges = ranges_of(storages, order);
  Lifetimes out;
  const auto [bytes_of, last] = share(problem, storages, ranges, order, out.takeovers);
  std::vector<int> range_of(storages.all.size(), kNone);
  for (size_t s = 0; s < storages.all.size(); ++s) {
    const Storage& storage = storages.all[s];
    const bool needed = storage.creator != kNone || storage.kept || !storage.users.empty();
    if (storage.bytes == 0 || !needed || bytes_of[s] != static_cast<int>(s)) continue;
    range_of[s] = static_cast<int>(out.ranges.size());
    out.ranges.push_back({ranges[s].first, last[s] + 1, storage.bytes, alignment});
  }
  for (const int storage : storages.of_value) out.of_value.push_back(range_of[bytes_of[storage]]);
  out.workspace_of_op.assign(order.size(), kNone);
  for (size_t step = 0; step < order.size(); ++step) {
    const int64_t bytes = problem.ops[order[step]].workspace;
    if (bytes == 0) continue;
    out.workspace_of_op[order[step]] = static_cast<int>(out.ranges.size());
    const auto begin = static_cast<int64_t>(step);
    out.ranges.push_back({begin, begin + 1, bytes, alignment});
  }
  return out;
}

}  // namespace tidemark::plan
