// Does a packing within a capacity exist? A complete search for one component in time.
//
// Every packing can be pushed down until each range rests on the ground or on another's top, so
// only those are looked for. They grow from the ground up: over each section of time stands a
// skyline, and the next decision is taken where it is hardest, in a valley of the skyline: a range
// that fits into the valley is placed at its ground, or is known to lie higher. Between decisions,
// lower bounds of all open ranges are raised as far as the sections allow; where a section's
// waste exceeds what its load leaves, the branch is dead. Open ranges that no longer meet are
// solved apart. The ideas are those of the literature on static memory allocation (canonical
// solutions, section inference, dominance: MiniMalloc, 2023; failure weights: Boussemart, 2004).
#pragma once

#include <vector>

#include "tidemark/plan/pack/sections.h"
#include "tidemark/plan/search_clock.h"

namespace tidemark::plan {

class SectionSearch {
 public:
  enum class Outcome { found, impossible, gave_up };

  /// Which valley comes next: the one with the fewest choices, these weighted by the failures
  /// seen there so far, or the one whose ground could rise the least.
  enum class Rule { fewest, weighted, tightest };

  /// `sizes` are in units of the common alignment; all are positive.
  SectionSearch(Sections sections, std::vector<int64_t> sizes);

  /// Ranges of lower `rank` are tried first. Deterministic unless the deadline strikes.
  Outcome run(int64_t capacity, const std::vector<int>& rank, Rule rule, int64_t node_limit,
              Deadline deadline);

  /// The packing of the last run that found one, in units.
  const std::vector<int64_t>& offsets() const { return offset_; }
  /// Decisions of all runs so far.
  int64_t nodes() const { return nodes_; }
  /// How often the sections failed in all runs so far.
  const std::vector<double>& failure_weights() const { return weight_; }
  /// The most that meets in one section, in units.
  int64_t largest_load() const { return largest_load_; }
  const Sections& sections() const { return sections_; }

 private:
  struct Change {
    int64_t* place;
    int64_t old_value;
  };
  /// Of one section, valid within one pass of propagation.
  struct Scan {
    int64_t lowest;      // of the open ranges' lower bounds
    int64_t first_top;   // lowest end an open range could have,
    int64_t second_top;  // and the lowest of another one
    int first_top_owner;
    int contenders;  // open ranges that could come next here
    int contender;   // one of them
  };

  void reset(int64_t capacity);
  bool fill(size_t begin, size_t end);
  bool fill_part(size_t begin, size_t end);
  bool splits(size_t begin, size_t end);
  std::vector<std::pair<size_t, size_t>> split(size_t begin, size_t end);
  bool out_of_time();

  bool propagate(size_t begin, size_t end, int from, int to);
  bool raise_floors(size_t begin, size_t end, int from, int to);
  bool demand_support(size_t begin, size_t end, bool& changed);
  bool put_contenders_first(size_t begin, size_t end, int from, int to, bool& changed);
  bool order_twins(size_t begin, size_t end, bool& changed);
  bool fail_at(int section);

  bool is_ready(int b) const;
  int choose(size_t begin, size_t end, int from, int to);
  void place(int b);
  int64_t next_level(int b) const;
  bool waits_for_twin(int b) const { return twin_[b] >= 0 && !placed_[twin_[b]]; }

  void set(int64_t& place, int64_t value) {
    trail_.push_back({&place, place});
    place = value;
  }
  void undo(size_t mark);

  Sections sections_;
  std::vector<int64_t> size_;
  std::vector<std::vector<int>> meets_;
  std::vector<int> twin_;  // the previous range of the same size and time, which lies below; or -1
  std::vector<double> weight_;
  int64_t largest_load_ = 0;

  int64_t capacity_ = 0;
  const std::vector<int>* rank_ = nullptr;
  Rule rule_ = Rule::fewest;
  int64_t node_limit_ = 0;
  int64_t nodes_ = 0;
  int64_t nodes_at_start_ = 0;
  Deadline deadline_;
  bool gave_up_ = false;

  // Per range. All but offset_ are restored from the trail.
  std::vector<int64_t> low_;      // no lower offset is possible
  std::vector<int64_t> support_;  // the highest top placed in its time
  std::vector<int64_t> placed_;
  std::vector<int64_t> offset_;
  // Per section.
  std::vector<int64_t> floor_;  // no open range can lie lower; at least the highest placed top
  std::vector<int64_t> slack_;  // capacity - floor - sizes of the open ranges; never negative
  std::vector<int64_t> open_count_;

  std::vector<int> open_;  // parts of the problem are ranges of it; within them the order is free
  std::vector<Change> trail_;
  std::vector<Scan> scan_;
  std::vector<int> crossings_;
  std::vector<int> ready_here_;
  std::vector<int> unready_here_;
};

}  // namespace tidemark::plan
