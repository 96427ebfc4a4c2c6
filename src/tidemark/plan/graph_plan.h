// A graph whose sizes are known, planned: the order of its steps and where every byte lies.
//
//   plan::GraphPlan plan = plan::plan_graph(*graph);
//   plan.host().arena_bytes;  // one block for everything that does not outlive the run
//   plan.host().peak;         // the most that a run needs at once, results included
//   plan.host().lower_bound;  // no placement of this order needs less
//   plan.devices;             // the same for each device that the graph meets
//
// Nothing runs and nothing is allocated: a plan for a machine of any size can be made on any other.
#pragma once

#include <tidemark/kernel.h>

#include <optional>

#include "tidemark/graph/graph.h"
#include "tidemark/plan/order/problem.h"

namespace tidemark::plan {

enum class Place : uint8_t {
  elsewhere,  ///< an input, a variable, a constant, or a view of one
  arena,
  fresh,  ///< a buffer of its own: it leaves with the results, or somebody may keep it
};

struct PlannedValue {
  const graph::Node* node = nullptr;
  uint32_t output = 0;
  int64_t bytes = 0;  ///< 0 too where only the run can tell
  Place place = Place::elsewhere;
  int64_t offset = 0;        ///< in the arena of its device
  int view_of = kNone;       ///< shares that value's bytes, from `view_offset` on
  int64_t view_offset = 0;   ///< in bytes
  int viewed_input = kNone;  ///< of its node: what a view shows, be it a constant
  int takes_over = kNone;    ///< the value whose bytes it is written into
  bool is_result = false;
  int first = 0;  ///< the step that makes it
  int last = 0;   ///< the last step that needs it
};

struct PlannedStep {
  enum class Kind : uint8_t {
    kernel,     ///< into outputs that are there
    queued,     ///< the same, or a fused step, on the stream of a device, at a time of its own
    computing,  ///< a special that computes as a kernel does
    view,       ///< nothing is computed
    eager,      ///< an op whose outputs only the run can tell
    special,    ///< anything else: reads and updates variables, branches, loops, prints
  };
  const graph::Node* node = nullptr;
  Kind kind = Kind::special;
  Device device;  ///< where its outputs lie, what it updates, and its workspace
  Kernel kernel;
  int64_t workspace = 0;
  int64_t workspace_offset = 0;
  int64_t inner = 0;  ///< bytes outside the arena that a branch or a loop takes while it runs
  std::vector<graph::InnerNeed::OnDevice> inner_on_devices;  ///< the same elsewhere

  /// The arena that a branch or a loop is lent is the host's: on devices it takes its own.
  Device workspace_device() const { return kind == Kind::queued ? device : Device(); }
  /// Bytes outside the arena that a branch or a loop takes there while it runs.
  int64_t inner_on(Device where) const;
  /// Its outputs are there before it runs.
  bool fills_outputs() const {
    return kind == Kind::kernel || kind == Kind::queued || kind == Kind::computing;
  }
};

/// An input whose memory the caller gives up, and what becomes of it.
struct Donation {
  enum class Fate : uint8_t {
    in_place,   ///< a result is written over it by the step that reads it last
    reused,     ///< a result is written into its memory after the last read
    returned,   ///< it is a result, or a part of it is
    kept,       ///< a step that reads it may keep it
    read_last,  ///< the only result of its size is written while it is still read
    no_result,  ///< no result has its size
  };
  uint32_t input = 0;  ///< of the graph
  Fate fate = Fate::no_result;
  int value = kNone;      ///< the result that gets the memory
  int last_read = kNone;  ///< the last step that needs it; kNone: no step does
};

/// What a run takes of one device.
struct DevicePlan {
  Device device;
  int64_t arena_bytes = 0;
  int64_t result_bytes = 0;
  int64_t outside = 0;      ///< the most that lies outside the arena at one time
  int64_t peak = 0;         ///< arena and what lies outside: a run takes this much, to the byte
  int64_t lower_bound = 0;  ///< the largest load of any step
  int64_t traced_peak = 0;  ///< the largest load in the order of the program
  /// By step: bytes alive there while it runs, its workspace and inner bytes included.
  std::vector<int64_t> loads;
  std::vector<int64_t> outsides;  ///< of those, what does not lie in the arena

  /// The first step with the highest load; kNone: there are no steps.
  int fullest_step() const;
};

struct GraphPlan {
  std::vector<PlannedStep> steps;    ///< in the order in which they run
  std::vector<PlannedValue> values;  ///< those of the inputs first
  std::vector<int> input_values;     ///< the value of each input of the graph
  std::vector<int> output_values;    ///< the value of each output; kNone: a constant
  /// The CPU first, then each device where a value lies that the plan places.
  std::vector<DevicePlan> devices = std::vector<DevicePlan>(1);
  double seconds = 0;  ///< spent on planning
  std::vector<Donation> donations;

  /// The value that stands for the tensor; kNone: it holds elements itself.
  int value_of(const Tensor& t) const;
  /// The value whose bytes a view shows; of others, the value itself.
  int root_of(int value) const;
  /// Where the value lies.
  Device device_of(int value) const;
  const DevicePlan& host() const { return devices.front(); }
  /// Of a device that the graph does not meet: the nothing that it takes there.
  DevicePlan on(Device device) const;
  /// The one of which a run takes the most; the CPU where no other takes more.
  const DevicePlan& fullest() const;
  std::vector<std::pair<const graph::Node*, int>> first_values;  // sorted by node
};

struct GraphPlanOptions {
  /// How long to look for a better order and a better placement. Unless given, as
  /// TIDEMARK_PLAN_MILLISECONDS says.
  std::optional<double> seconds = {};
  /// Inputs whose memory the run may have, if it turns out to be the caller's alone.
  std::span<const uint32_t> donated{};
};

/// Throws InternalError where the plan does not stand up to the checkers.
TIDEMARK_API GraphPlan plan_graph(const graph::Graph& graph, const GraphPlanOptions& options = {});

}  // namespace tidemark::plan
