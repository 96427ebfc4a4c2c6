// StepFinder: which event of a recording begins a step, when the program did not say so.
//
// A training loop shows itself as lines that run equally often. Lines that run in every round have
// about the same count; of such counts the lowest that enough lines share is taken, so that neither
// an inner loop nor a line that prints now and then is mistaken for the step. What runs only on a
// condition, as the source says, is no step where anything else could be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tidemark/profile/format.h"

namespace tidemark::profile {

/// What an event has to be to begin a step.
struct StepKey {
  EventKind kind = EventKind::lost;  // lost: there are no steps
  uint32_t place = 0;
  uint64_t what = 0;  // the op's number, or the text's
  bool operator==(const StepKey&) const = default;
  bool matches(const Event& event) const {
    if (event.kind != kind) return false;
    if (kind == EventKind::step) return true;
    return event.place == place && what == (kind == EventKind::op ? event.op : event.id);
  }
};

class StepFinder {
 public:
  void see(const Event& event);
  struct Found {
    StepKey key;
    uint64_t count = 0;
  };
  /// What is known of a place: its line, and whether the source runs that only now and then.
  struct Line {
    std::string name;
    bool is_occasional = false;
  };
  Found find(const std::function<Line(uint32_t)>& line_of) const;
  /// How often each op of a place ran that ran as often as makes a loop.
  std::vector<std::pair<uint32_t, uint64_t>> times() const;

 private:
  struct Times {
    uint64_t count = 0, first = 0, last = 0;
  };
  struct Hash {
    size_t operator()(const StepKey& key) const noexcept {
      const uint64_t word = (uint64_t{key.place} << 20) ^ (key.what << 4) ^ uint64_t(key.kind);
      return static_cast<size_t>((word * 0x9e3779b97f4a7c15u) >> 16);
    }
  };
  std::unordered_map<StepKey, Times, Hash> seen_;
  uint64_t marked_ = 0;
};

}  // namespace tidemark::profile
