#include "tidemark/profile/replay.h"

#include <algorithm>

namespace tidemark::profile {

uint32_t Replay::group_of(const Event& event) {
  const GroupKey key{event.place, event.op, static_cast<uint8_t>(event.holder & ~kIdle)};
  const auto [found, is_new] = index_.try_emplace(key, static_cast<uint32_t>(groups_.size()));
  if (is_new) {
    groups_.push_back({.key = key, .seen_peak = peak_number_});
  }
  return found->second;
}

void Replay::add(const Event& event) {
  const uint32_t number = group_of(event);
  const bool idle = (event.holder & kIdle) != 0;
  const auto [at, is_new] =
      alive_.try_emplace(event.id, Alive{number, event.value, event.time, step, idle});
  if (!is_new) {  // its end was lost
    remove(event.id);
    alive_[event.id] = {number, event.value, event.time, step, idle};
  }
  GroupCount& group = groups_[number];
  remember_peak(group);
  const auto bytes = static_cast<int64_t>(event.value);
  group.live += bytes;
  ++group.count;
  group.highest = std::max(group.highest, group.live);
  (idle ? idle_ : live_) += bytes;
  touched_ = number;
}

void Replay::remove(uint64_t id) {
  const auto found = alive_.find(id);
  if (found == alive_.end()) return;  // it began before the oldest event kept
  const Alive gone = found->second;
  alive_.erase(found);
  GroupCount& group = groups_[gone.group];
  remember_peak(group);
  group.live -= static_cast<int64_t>(gone.bytes);
  --group.count;
  (gone.idle ? idle_ : live_) -= static_cast<int64_t>(gone.bytes);
  touched_ = gone.group;
}

bool Replay::apply(const Event& event) {
  if (event.value > (uint64_t{1} << 48)) return false;  // no buffer is so large: rubbish
  switch (event.kind) {
    case EventKind::found:
    case EventKind::allocate: {
      add(event);
      left_ = touched_;
      GroupCount& group = groups_[touched_];
      ++group.total_count;
      group.total_bytes += static_cast<int64_t>(event.value);
      break;
    }
    case EventKind::free:
      remove(event.id);
      left_ = touched_;
      break;
    case EventKind::change: {
      const auto found = alive_.find(event.id);
      if (found == alive_.end()) return false;
      const uint64_t since = found->second.since, born = found->second.step;
      remove(event.id);
      left_ = touched_;
      add(event);
      alive_[event.id].since = since;
      alive_[event.id].step = born;
      break;
    }
    default:
      return false;
  }
  if (live_ > peak_) {
    peak_ = live_;
    peak_time_ = event.time;
    ++peak_number_;
  }
  return true;
}

}  // namespace tidemark::profile
