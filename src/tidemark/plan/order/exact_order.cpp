#include <tidemark/error.h>

#include <algorithm>

#include "tidemark/plan/order/order.h"

namespace tidemark::plan {

namespace {

using Set = uint32_t;
constexpr int64_t kUnreachable = std::numeric_limits<int64_t>::max();

/// Works the loads out anew for each set of ops that have run; no code is shared with the
/// heuristics.
class AllOrders {
 public:
  explicit AllOrders(const Problem& problem)
      : problem_(problem), storages_(find_storages(problem)), count_(problem.ops.size()) {
    if (count_ > 20) fail("trying all orders is for up to 20 ops; there are ", count_);
  }

  int64_t lowest_peak() const {
    std::vector<int64_t> peak(size_t{1} << count_, kUnreachable);
    peak[0] = alive_between(0);
    for (Set done = 0; done < peak.size(); ++done) {
      if (peak[done] == kUnreachable) continue;
      for (size_t op = 0; op < count_; ++op) {
        if (done >> op & 1 || !can_run(done, op)) continue;
        int64_t& next = peak[done | Set{1} << op];
        next = std::min(next, std::max(peak[done], alive_during(done, op)));
      }
    }
    return peak.back();
  }

 private:
  bool can_run(Set done, size_t op) const {
    return std::all_of(storages_.before[op].begin(), storages_.before[op].end(),
                       [&](int before) { return done >> before & 1; });
  }
  bool created(const Storage& s, Set done) const {
    return s.creator == kNone || (done >> s.creator & 1) != 0;
  }
  bool needed(const Storage& s, Set done) const {
    return s.kept || std::any_of(s.users.begin(), s.users.end(),
                                 [&](int user) { return (done >> user & 1) == 0; });
  }
  int64_t alive_between(Set done) const {
    int64_t bytes = 0;
    for (const Storage& s : storages_.all)
      bytes += created(s, done) && needed(s, done) ? s.bytes : 0;
    return bytes;
  }
  int64_t alive_during(Set done, size_t op) const {
    int64_t bytes = alive_between(done) + problem_.ops[op].workspace;
    for (const int s : storages_.of_op[op].creates) bytes += storages_.all[s].bytes;
    std::vector<int> used;
    const auto is_used = [&](int s) {
      return std::find(used.begin(), used.end(), s) != used.end();
    };
    for (const auto& [to, from] : storages_.of_op[op].takeovers) {
      const bool dies = !needed(storages_.all[from], done | Set{1} << op);
      if (!dies || is_used(to) || is_used(from)) continue;
      used.insert(used.end(), {to, from});
      bytes -= storages_.all[to].bytes;
    }
    return bytes;
  }

  const Problem& problem_;
  const Storages storages_;
  const size_t count_;
};

}  // namespace

int64_t lowest_order_peak(const Problem& problem) { return AllOrders(problem).lowest_peak(); }

}  // namespace tidemark::plan
