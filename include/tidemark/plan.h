// What a call will need, told before it runs.
//
//   auto step = td::function([](td::Tensor x) { return td::tanh(td::square(x) * 2.f + 1.f); });
//   td::PlanReport plan = step.plan(x);
//   plan.peak;                  // bytes that a call takes at once, beside its arguments
//   plan.device;                // of which device: the one of which it takes the most
//   std::cout << plan;          // the same in words: what is alive at the peak, and who made it
#pragma once

#include <tidemark/export.h>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace tidemark {

/// Bytes that live together: a value, its views, and what is written over it.
struct PlannedBuffer {
  std::string op;     // who makes it; "workspace of …" for the scratch of a kernel
  std::string line;   // where in the program
  std::string place;  // "arena", "result", or "own" where somebody may keep it
  int64_t bytes = 0;
  int64_t offset = 0;                        // in the arena
  int first = 0;                             // the step that makes it
  int last = 0;                              // the last step that needs it
  std::vector<std::string> written_over_by;  // ops that write their output here, in place
};

struct PlannedStepInfo {
  std::string op, line;
  int64_t load = 0;    // bytes alive on the plan's device while it runs
  std::string device;  // where its results lie
};

/// What a call takes of a device beside the plan's.
struct PlannedDevice {
  std::string name;
  int64_t peak = 0, lower_bound = 0, arena = 0, results = 0;
  std::vector<PlannedBuffer> buffers{};
  std::vector<int64_t> loads{};  // by step: bytes alive there while it runs
};

/// A value that is computed on one device and needed on another.
struct PlannedCopy {
  int step = 0;
  std::string op, line;  // who makes it
  std::string from, to;
  int64_t bytes = 0;
};

/// A result that might have been written over what it was computed from.
struct PlannedReuse {
  int step = 0;
  std::string op;
  int64_t bytes = 0;
  bool done = false;
  std::string why;  // why it is done, or why not
};

/// An argument that is given up: whether a result is written into its memory.
struct PlannedDonation {
  int argument = 0;  // counted among the tensors given
  int64_t bytes = 0;
  bool done = false;
  std::string why;  // which result, or why none
};

/// A value that is computed again where it is needed late, instead of being kept.
struct PlannedRepeat {
  std::string op, line;
  int64_t bytes = 0;
  std::string why;
};

/// A step that is code in Python and runs there whenever the function runs.
struct PlannedPythonStep {
  std::string function;  // the library's function that could not be traced, or "py_function"
  std::string line;
};

struct TIDEMARK_API PlanReport {
  std::string name;
  std::string device;       // whose numbers these are: a call takes the most of it
  int64_t peak = 0;         // arena and results
  int64_t lower_bound = 0;  // no placement of these steps needs less
  int64_t arena = 0;
  int64_t results = 0;
  int64_t constants = 0;               // kept with the function
  int64_t variables = 0;               // used by it, in memory of their own
  int64_t inputs = 0;                  // the arguments
  int64_t workspaces = 0;              // the largest scratch of a kernel; inside the arena
  int64_t inner = 0;                   // the most that a branch or a loop takes inside
  int64_t as_traced = 0;               // the peak in the order of the program
  double seconds = 0;                  // that planning took
  int64_t budget = 0;                  // what a run may take; 0: anything
  int64_t unbounded_peak = 0;          // without the budget
  std::string over_limit;              // why no run can have it: the limit of a device
  int64_t repeated = 0;                // steps done again to keep within it
  double added_time = 0;               // that the budget costs, estimated, as a part of the whole
  std::vector<std::string> splits;     // what runs in pieces to keep within it, and why
  std::vector<PlannedDevice> devices;  // the others
  std::vector<PlannedCopy> copies;     // between devices, in the order in which they run
  std::vector<PlannedStepInfo> steps;  // in the order in which they run
  std::vector<PlannedBuffer> buffers;
  std::vector<PlannedReuse> reuses;    // the largest first
  std::vector<PlannedRepeat> repeats;  // done without a budget, as they are cheap
  double repeat_time = 0;              // that those cost, estimated, as a part of the whole
  std::vector<PlannedDonation> donations;
  std::vector<std::string> refusals;            // why values have buffers of their own
  std::vector<PlannedPythonStep> python_steps;  // those in branches and loops, too

  /// peak / lower_bound - 1
  double gap() const;
  /// The step with the highest load; -1: there are none.
  int peak_step() const;
  /// Fits a terminal of 80 columns.
  std::string to_string() const;
};
TIDEMARK_API std::ostream& operator<<(std::ostream& out, const PlanReport& plan);

}  // namespace tidemark
