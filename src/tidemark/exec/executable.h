// Executable: a planned graph, ready to run. Values lie where the plan says, in one arena a run and
// device; a run in steady state allocates nothing but its results. Kernels of devices are enqueued
// in the order of the plan, and the host waits where it needs their values, nowhere else.
//
//   auto plan = plan::plan_graph(*graph);
//   exec::Executable executable(*graph, std::move(plan));
//   executable.run(inputs, outputs);        // any number of threads, an arena each
#pragma once

#include <atomic>
#include <memory>

#include "tidemark/exec/arena_pool.h"
#include "tidemark/exec/stretch.h"
#include "tidemark/plan/graph_plan.h"

namespace tidemark::exec {

/// Keeps no node alive.
class TIDEMARK_API Executable {
 public:
  /// `is_bounded`: a run may not take more than the plan says, be it idle anyway.
  Executable(const graph::Graph& graph, const plan::GraphPlan& plan, bool is_bounded = false);
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  /// Inputs are in the order of the graph; those that the caller moves in may be written over.
  /// Tensors that the outputs hold give their memory to the results where nobody else has them.
  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const;

  int64_t arena_bytes() const { return need_.bytes(); }
  size_t num_steps() const { return steps_.size(); }
  /// How often it has work that devices recorded.
  size_t num_recordings() const;
  /// What it keeps for its runs.
  const std::vector<Tensor>& constants() const { return constants_; }
  /// Beside the arena.
  size_t bytes() const;

 private:
  using Kind = plan::PlannedStep::Kind;

  /// An output that has a buffer of its own, or is a view.
  struct Made {
    uint32_t slot = 0;
    DType dtype = DType::invalid;
    Shape shape;
    int32_t base = kNoBase;  // an operand whose bytes it shows or takes over
    int64_t offset = 0;      // into it
    int32_t output = -1;     // of the run: its memory leaves with that one
    int32_t donor = -1;      // an input that is done with: it may have its memory
    Device device;
    uint64_t writable = 0;         // inputs that die with the step and may be written over
    memory::Site* site = nullptr;  // then: the line and the op that write the output
    const char* op = nullptr;
  };
  static constexpr int32_t kNoBase = std::numeric_limits<int32_t>::max();

  struct Step {
    Kind kind = Kind::special;
    bool is_long = false;
    bool does_nothing = false;  // no elements
    bool settles = false;       // its outputs are brought to where the plan has them
    uint8_t arena = 0;          // where its workspace lies: the host's, or one of the devices'
    Device device;              // of what is queued: whose stream computes it
    OptionalDevice wish;        // of what runs by calls: where those are asked to run
    const OpDef* op = nullptr;
    const char* name = "";  // of the op or the special, in static storage
    KernelRun kernel = nullptr;
    std::shared_ptr<const graph::Special> special;
    const graph::VariableUpdates* updates = nullptr;  // that the special is; null: it is none
    int32_t recordings = -1;                          // of updates on a device
    uint32_t first_input = 0, num_inputs = 0;
    uint32_t first_output = 0, num_outputs = 0;
    uint32_t first_made = 0, num_made = 0;
    uint32_t first_dead = 0, num_dead = 0;
    uint64_t dying = 0;    // bit i: nobody needs input i after this step, and it is not the arena's
    uint64_t on_host = 0;  // bit i: input i lies on the host, though a device computes
    uint64_t write_protected = 0;  // of a special: inputs whose bytes the plan will use again
    int64_t workspace = -1;
    int64_t inner_bytes = 0;  // of a special: the workspace is for the runs inside of it
    std::vector<Attr> attrs;
    std::vector<graph::OutputInfo> infos;  // of specials, and where it settles
    memory::Site* site = nullptr;          // pinned
  };

  /// A value that lies in an arena.
  struct InArena {
    uint32_t slot = 0;
    uint8_t arena = 0;
    Device device;
    int64_t offset = 0;
    DType dtype = DType::invalid;
    Shape shape;
  };

  /// A part of the arena.
  struct Bytes {
    int64_t offset = 0, count = 0;
    DType dtype = DType::invalid;
  };
  /// What a step gives a meaning to, and what loses it with the step.
  struct Lifetimes {
    std::vector<Bytes> born, dead;
  };

  class Builder;
  class DeviceArenas;
  struct Frame;
  class Run;

  void settle(const Step* until) const noexcept;
  std::unique_ptr<Frame> take_frame() const;
  void give_back(std::unique_ptr<Frame> frame) const;

  size_t num_inputs_ = 0;
  size_t most_inputs_ = 0;  // of one step
  uint32_t num_slots_ = 0;
  std::vector<Step> steps_;
  std::vector<Stretch> stretches_;  // in their order, apart from each other
  std::vector<std::unique_ptr<Recordings>> update_recordings_;
  std::vector<int32_t> operands_;  // slots, or ~constant
  std::vector<Made> made_;
  std::vector<uint32_t> dead_;
  std::vector<InArena> in_arena_;
  std::vector<Lifetimes> lifetimes_;  // by step; empty: nobody looks for reads of the dead
  std::vector<Tensor> constants_;
  std::vector<int32_t> outputs_;
  std::vector<uint32_t> unused_inputs_;
  ArenaNeed need_;
  std::vector<std::unique_ptr<ArenaNeed>> device_needs_;
  bool is_bounded_;
  mutable std::atomic<bool> has_run_{false};
  static constexpr int kFrames = 4;  // kept for as many runs at once
  mutable std::atomic<Frame*> kept_[kFrames] = {};
};

}  // namespace tidemark::exec
