// Program: a graph made ready to run, step by step, each value released after its last use.
//
//   auto program = exec::Program::build(graph);
//   program->run(inputs, outputs);          // any number of threads
//
// Steps go straight to the eager executor, or, while a tape records or a graph is being built on
// this thread, through `dispatch` like any other call: running a program under a tape
// differentiates it, running it in a trace copies it into the new graph.
#pragma once

#include <tidemark/call.h>

#include <functional>
#include <mutex>
#include <optional>

#include "tidemark/graph/graph.h"
#include "tidemark/graph/recording.h"

namespace tidemark::exec {

class Versions;
class Executable;
struct DeviceSetting;

/// When a program is worth a plan.
enum class Compile : uint8_t {
  when_repeated,  ///< sizes that come once are run step by step
  at_once,        ///< on the first run, where the sizes of all inputs were known from the start
  always,         ///< step by step it would do things in another order than others expect
  never,          ///< run once, step by step
};

class TIDEMARK_API Program {
 public:
  Program();
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// `budget`: bytes that a run may take beside its inputs, by doing some steps twice if need be.
  /// `donated`: inputs that callers move in, as a rule; plans count on their memory.
  static std::shared_ptr<const Program> build(const graph::Graph& graph,
                                              Compile compile = Compile::when_repeated,
                                              int64_t budget = 0,
                                              std::vector<uint32_t> donated = {});
  /// Of a part of a graph, which goes on growing: the part is copied.
  static std::shared_ptr<const Program> build(std::span<const Tensor> inputs,
                                              std::span<const Tensor> outputs,
                                              std::span<const graph::NodeRef> effects = {},
                                              Compile compile = Compile::when_repeated);

  /// What it was built of.
  const graph::Graph& graph() const { return *graph_; }
  size_t num_inputs() const { return num_inputs_; }
  size_t num_outputs() const { return outputs_.size(); }
  /// Inputs that no step and no output needs.
  std::span<const uint32_t> unused_inputs() const { return unused_inputs_; }
  std::span<const uint32_t> donated() const { return donated_; }
  size_t num_steps() const { return steps_.size(); }
  size_t bytes() const;

  /// Every tensor that it keeps for its runs, those of its planned versions included.
  void each_constant(const std::function<void(const Tensor&)>& visit) const;

  /// What a run with these inputs meets beside the CPU, on this thread as it is placed; none: it
  /// meets nothing else.
  std::optional<DeviceSetting> device_setting(std::span<const Tensor> inputs) const;

  /// The planned version for inputs like these, made now if need be; null: there is none.
  const Executable* compiled_for(std::span<const Tensor> inputs) const;

  /// Inputs are in the order of the graph; those that the caller moves in may be written over.
  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const;

 private:
  struct Step {
    const OpDef* op = nullptr;
    uint32_t special = 0;  // 1 + index into specials_, where op is null
    OptionalDevice wish;   // of the scope that it was traced in
    uint32_t first_input = 0, num_inputs = 0;
    uint32_t first_output = 0, num_outputs = 0;
    uint32_t first_dead = 0, num_dead = 0;
    uint64_t dying = 0;  // bit i: nobody needs input i after this step
    std::vector<Attr> attrs;
    memory::Site* site = nullptr;  // pinned
  };
  struct SpecialStep {
    std::shared_ptr<const graph::Special> special;
    std::vector<graph::OutputInfo> infos;
    int recording = -1;
  };
  struct Recording {
    const graph::RecordingSpecial* special = nullptr;
    struct Watched {
      uint32_t step = 0;  // after which; of no meaning for inputs of the program and constants
      int32_t value = 0;  // an operand
      uint32_t input = 0;
    };
    std::vector<Watched> watch, watch_first;
    std::vector<bool> matters;  // by step
    uint32_t last = 0;          // the asking step
  };
  class Builder;
  class Frame;
  class Recorders;

  /// Whether any step, be it inside of another, reads or changes a variable on a device. Variables
  /// stay where they were made: it is asked once, when there are devices.
  bool uses_variables_elsewhere() const;
  const Executable* find_planned(std::span<const Tensor> inputs) const;
  void run_step(const Step& step, std::span<Tensor> slots, Recorders* recorders,
                bool straight) const;
  void run_special(const Step& step, std::span<Tensor> slots, Recorders* recorders) const;
  const Tensor& operand(int32_t ref, std::span<Tensor> slots) const {
    return ref >= 0 ? slots[static_cast<size_t>(ref)] : constants_[static_cast<size_t>(~ref)];
  }

  std::shared_ptr<const graph::Graph> graph_;
  size_t num_inputs_ = 0;
  size_t num_slots_ = 0;
  std::vector<Step> steps_;
  std::vector<int32_t> operands_;  // slots, or ~constant
  std::vector<uint32_t> dead_;
  std::vector<Tensor> constants_;
  std::vector<SpecialStep> specials_;
  std::vector<Recording> recordings_;
  std::vector<int32_t> outputs_;
  std::vector<uint32_t> unused_inputs_, donated_;
  bool wishes_device_ = false;  // a step, be it inside of another, was traced in a scope of one
  mutable std::once_flag has_asked_variables_;
  mutable bool uses_variables_elsewhere_ = false;
  std::unique_ptr<Versions> versions_;  // null: never compiled
};

}  // namespace tidemark::exec
