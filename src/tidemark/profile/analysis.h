// What a recording tells: the peak and its owners, memory over time, steps, and what grew.
//
//   const Analysis a = analyse("run.tidemark", {});
//
// Two passes over the file; what is kept grows with the places and the live buffers, not with the
// events.
#pragma once

#include <tidemark/export.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tidemark/profile/format.h"

namespace tidemark::profile {

/// Buffers of one place, op and holder.
struct GroupUse {
  std::string place, op, holder;
  int64_t live_bytes = 0;  // at the end
  int64_t live_count = 0;
  int64_t peak_bytes = 0;
  int64_t bytes_at_peak = 0;  // of the process
  int64_t count_at_peak = 0;
  int64_t total_count = 0;
  int64_t total_bytes = 0;
  // What stayed live from each of Steps::samples to the next; empty: always 0.
  std::vector<int64_t> at_samples;
};

/// What is one place for people: several instructions of one line are one.
struct Series {
  std::string name;
  std::vector<int64_t> bytes;  // one each time of the timeline
};

struct Timeline {
  std::vector<uint64_t> times;  // of the highest moment of each stretch
  std::vector<Series> by_place, by_holder;
  std::vector<Series> by_label;  // as AnalysisOptions::labels names them; empty: none are named
  std::vector<int64_t> idle;     // planned memory that waits
};

struct Steps {
  std::string how;    // "marked", "calls of f", "runs of a session", "calls of add", …
  std::string place;  // where
  uint64_t count = 0;
  std::vector<uint64_t> samples;  // numbers of the steps looked at
  std::vector<uint64_t> times;
  std::vector<int64_t> live, idle;        // at the beginning of each
  std::map<std::string, uint64_t> lines;  // how often each ran that ran in rounds
  double until = 0;                       // share of all ops that had run when the last one began
};

struct Mark {
  EventKind kind;
  uint64_t time = 0;
  std::string text, place;
  uint64_t value = 0;
};

struct LiveUse {
  std::string place, op, holder;
  int64_t bytes = 0;
  uint64_t since = 0;
  uint64_t step = 0;
};

/// A plan and what lies where in its arena.
struct PlanMap {
  struct PlacedValue {
    std::string op, place, kind;  // kind: "arena", "workspace", "result" or "own"
    int64_t bytes = 0, offset = 0;
    uint32_t first = 0, last = 0;  // steps
  };
  std::string name, place;
  uint64_t time = 0;
  int64_t arena = 0, results = 0, peak = 0, lower_bound = 0;
  std::vector<PlacedValue> values;
};

struct OpUse {
  std::string op;
  uint64_t count = 0;
  uint64_t nanoseconds = 0;
};

/// What a device did for one op of one line.
struct WorkUse {
  std::string device, op, place;
  uint64_t count = 0;
  uint64_t nanoseconds = 0;
};

struct Analysis {
  std::vector<std::string> devices;  // others than the CPU that have buffers in the recording
  int64_t started = 0, pid = 0, limit = 0;
  bool is_whole = false, from_ring = false;
  uint64_t events = 0, lost = 0, duration = 0;
  uint64_t counts[kEventKinds] = {};
  int64_t peak = 0;
  uint64_t peak_time = 0;
  int64_t live_at_end = 0, idle_at_end = 0;
  std::vector<GroupUse> groups;  // largest at the peak or at the end first
  Timeline timeline;
  Steps steps;
  std::vector<Mark> marks;     // traces, plans, sessions: the first thousands
  std::vector<LiveUse> alive;  // at the end, largest first
  std::vector<OpUse> ops;
  std::vector<WorkUse> work;  // most time first
  std::vector<PlanMap> plans;
};

struct AnalysisOptions {
  /// (place, op, holder) → who keeps such buffers, in words.
  std::map<std::tuple<std::string, std::string, std::string>, std::string> labels = {};
  /// Places that the source runs only now and then: under a condition, say.
  std::set<std::string> occasional = {};
  /// Whose buffers; "": the CPU's. The rest of an analysis is the same for all.
  std::string device = {};
  size_t stretches = 800;
  size_t samples = 1024;
  size_t series = 12;
  size_t most_alive = 2000;
  size_t most_marks = 5000;
};

TIDEMARK_API Analysis analyse(const std::string& path, const AnalysisOptions& options);

}  // namespace tidemark::profile
