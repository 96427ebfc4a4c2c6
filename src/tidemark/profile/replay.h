// Replay: events in, the live buffers and the groups they belong to out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tidemark/profile/format.h"

namespace tidemark::profile {

struct GroupKey {
  uint32_t place;
  uint16_t op;
  uint8_t holder;
  bool operator==(const GroupKey&) const = default;
};
struct HashGroupKey {
  size_t operator()(const GroupKey& key) const noexcept {
    const uint64_t word =
        (uint64_t{key.place} << 24) ^ (uint64_t{key.op} << 8) ^ uint64_t { key.holder };
    return static_cast<size_t>((word * 0x9e3779b97f4a7c15u) >> 16);
  }
};

/// Counts of one group while events go by. What it had at the peak is known as in the ledger: an
/// account that has not changed since a peak needs no note of it.
struct GroupCount {
  GroupKey key;
  int64_t live = 0, count = 0, highest = 0, total_count = 0, total_bytes = 0;
  int64_t at_peak = 0, count_at_peak = 0;
  uint64_t seen_peak = 0;
};

class Replay {
 public:
  struct Alive {
    uint32_t group;
    uint64_t bytes;
    uint64_t since;
    uint64_t step;
    bool idle;
  };

  /// Whether the event changed what is live.
  bool apply(const Event& event);

  int64_t live() const { return live_; }
  int64_t idle() const { return idle_; }
  int64_t peak() const { return peak_; }
  uint64_t peak_time() const { return peak_time_; }
  uint64_t step = 0;  // the number buffers are noted with
  const std::vector<GroupCount>& groups() const { return groups_; }
  /// The groups that the last event changed: one, or twice the same, or two.
  uint32_t touched() const { return touched_; }
  uint32_t left() const { return left_; }
  const std::unordered_map<uint64_t, Alive>& alive() const { return alive_; }
  int64_t at_peak(const GroupCount& g) const {
    return g.seen_peak == peak_number_ ? g.at_peak : g.live;
  }
  int64_t count_at_peak(const GroupCount& g) const {
    return g.seen_peak == peak_number_ ? g.count_at_peak : g.count;
  }

 private:
  uint32_t group_of(const Event& event);
  void add(const Event& event);
  void remove(uint64_t id);
  void remember_peak(GroupCount& g) {
    if (g.seen_peak == peak_number_) return;
    g.at_peak = g.live;
    g.count_at_peak = g.count;
    g.seen_peak = peak_number_;
  }

  std::unordered_map<GroupKey, uint32_t, HashGroupKey> index_;
  std::vector<GroupCount> groups_;
  std::unordered_map<uint64_t, Alive> alive_;
  int64_t live_ = 0, idle_ = 0, peak_ = 0;
  uint64_t peak_time_ = 0, peak_number_ = 0;
  uint32_t touched_ = 0, left_ = 0;
};

}  // namespace tidemark::profile
