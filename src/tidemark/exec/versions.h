// The compiled versions of a program, one for each set of sizes it is run with.
#pragma once

#include <mutex>

#include "tidemark/compile/repeat_cheap.h"
#include "tidemark/compile/split_search.h"
#include "tidemark/exec/executable.h"
#include "tidemark/exec/program.h"

namespace tidemark::exec {

/// What a plan depends on beside sizes where a run meets devices other than the CPU.
struct DeviceSetting {
  std::vector<Device> inputs{};
  Device usual;  // where steps run that nothing else places
  bool is_soft = true;
  bool operator==(const DeviceSetting&) const = default;
};

/// A budget was given, and only a run can tell how many rounds a loop will keep values of.
class TIDEMARK_API RoundsUnknownError : public FailedPreconditionError {
 public:
  using FailedPreconditionError::FailedPreconditionError;
};

/// A program that cannot be compiled, or whose sizes keep changing, is run step by step.
class Versions {
 public:
  /// `budget`: bytes that a run may take beside its inputs; 0: any.
  explicit Versions(Compile when, int64_t budget) : when_(when), budget_(budget) {}
  ~Versions();
  Versions(const Versions&) = delete;
  Versions& operator=(const Versions&) = delete;

  /// Null: run it step by step this time. `setting`: null where the CPU does it all.
  const Executable* find(const Program& program, std::span<const Tensor> inputs,
                         const DeviceSetting* setting = nullptr);
  /// At once, whether or not such sizes were seen before. Null: it cannot be compiled.
  const Executable* compile(const Program& program, std::span<const Tensor> inputs,
                            const DeviceSetting* setting = nullptr);
  size_t bytes() const;
  void each_constant(const std::function<void(const Tensor&)>& visit) const;

 private:
  static constexpr int kMost = 8;        // versions of one program
  static constexpr int kRemembered = 8;  // sizes seen lately

  /// Never changed once others can see it, kept as long as the program.
  struct Version {
    std::vector<Shape> shapes;               // unknown: nobody looks at that input
    std::unique_ptr<Executable> executable;  // null: these sizes cannot be planned
    std::unique_ptr<const DeviceSetting> setting;
    const Version* older = nullptr;
    bool fits(std::span<const Tensor> inputs) const;
  };
  /// Versions of the CPU's alone are found without a look at devices.
  struct Known {
    std::atomic<const Version*> newest{nullptr};
    std::atomic<int> count{0};
    const Version* find(std::span<const Tensor> inputs) const;
  };

  Known& known(const DeviceSetting* setting) { return setting ? on_devices_ : on_cpu_; }
  const Version* find_known(std::span<const Tensor> inputs, const DeviceSetting* setting) const;
  bool was_seen(std::span<const Tensor> inputs, const DeviceSetting* setting);
  template <class Visit>
  void each(Visit visit) const;

  const Compile when_;
  const int64_t budget_;
  Known on_cpu_, on_devices_;
  mutable std::mutex mutex_;
  uint64_t seen_[kRemembered] = {};
  int next_seen_ = 0;
};

/// The program's graph for inputs of the given sizes, after all passes. Null: it cannot be made.
/// `unfused`, where it is given, becomes the graph as it is before fusion; `repetitions`: what is
/// computed twice. On which devices its values lie depends on those of the inputs and on this
/// thread's placement.
TIDEMARK_API std::shared_ptr<graph::Graph> specialise(
    const Program& program, std::span<const Tensor> inputs,
    std::shared_ptr<graph::Graph>* unfused = nullptr, compile::Repetitions* repetitions = nullptr);

/// A graph and its plan, within the budget where there is one.
struct PlannedGraph {
  std::shared_ptr<graph::Graph> graph;
  plan::GraphPlan plan;
  std::vector<std::pair<Device, int64_t>> unbounded{};  // peaks without the budget
  double added_time = 0;                                // estimated, as a part of the whole
  int repeated = 0;
  std::vector<compile::SplitNote> splits{};
  std::string over_limit{};  // why no run can have it: the limit of a device; empty: it fits
};
/// `unfused`: the same graph before fusion; null: nothing is split. Throws ResourceExhaustedError
/// where no plan within the budget was found: it says the lowest peak that was, and what is alive
/// at it. The limit of a device is no reason to throw: what a function would need is a question
/// that has an answer.
TIDEMARK_API PlannedGraph plan_within(std::shared_ptr<graph::Graph> graph, int64_t budget,
                                      const std::shared_ptr<graph::Graph>& unfused = nullptr,
                                      std::span<const uint32_t> donated = {});

}  // namespace tidemark::exec
