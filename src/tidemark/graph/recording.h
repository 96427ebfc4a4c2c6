// Gradients that only the run of a graph can tell, and how a run is recorded for them.
#pragma once

#include <tidemark/handler.h>

#include "tidemark/graph/node.h"

namespace tidemark::graph {

/// Asked by a step whose inputs are the tensors to differentiate by, those that no gradient goes
/// past, the targets, then a seed for each target that has one.
struct GradientQuestion {
  std::vector<Variable> sources;  // empty ones: the next of the tensors
  std::vector<bool> has_seed;     // one each target
  size_t num_stops = 0;
};

/// Sees what happens between the first use of some values and a step that asks about them.
class TIDEMARK_API Recorder {
 public:
  virtual ~Recorder() = default;
  virtual Handler& handler() = 0;
  /// `input`: which of those that the special watches.
  virtual void watch(const Tensor& value, size_t input) = 0;
  virtual void set_recording(bool on) = 0;
  /// The step itself, in place of the special's run.
  virtual void finish(std::span<Tensor> inputs, std::span<Tensor> outputs) = 0;
};

/// A special whose outputs depend on how some of its inputs came from others: it says that it needs
/// a record.
class TIDEMARK_API RecordingSpecial : public Special {
 public:
  const RecordingSpecial* recording() const final { return this; }
  virtual const GradientQuestion& question() const = 0;
  virtual std::unique_ptr<Recorder> start() const = 0;
  /// Inputs [0, num_watched) are watched from where they are made.
  virtual size_t num_watched() const = 0;
  /// Inputs [num_watched, num_seen) are what the question is about: steps they do not need are not
  /// recorded.
  virtual size_t num_seen() const = 0;
  /// Outputs as nodes of the graph that is being built on this thread, to which the inputs belong:
  /// its nodes are the record. Where sizes on the way are unknown, the node asks again.
  virtual void expand(std::span<Tensor> inputs, std::span<Tensor> outputs) const = 0;
  /// Throws: it runs as a step of a program that records.
  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const override;
};

/// A special across which gradients are steps of the graph that it is in. What it does is in graphs
/// of its own, of which both answers are made; the builder of its graph is in charge of this
/// thread.
class TIDEMARK_API DifferentiableSpecial : public Special {
 public:
  const DifferentiableSpecial* differentiable() const final { return this; }
  /// The same step for inputs of these sizes, with what it reads of variables as further inputs,
  /// which are added, and its outputs as far as they are known now. Null: it has to stay as it is,
  /// and only a run can tell gradients across it.
  virtual std::shared_ptr<const Special> opened(std::vector<Tensor>& inputs,
                                                std::vector<OutputInfo>& outputs) const = 0;
  /// Of a step that was opened: one gradient each input, empty where none is wanted or flows, for
  /// one each output. The node, which is one of this special, is made to give what the way back
  /// needs. Throws ValueUnknownError where only a run can tell.
  virtual std::vector<Tensor> add_gradient(Node& node, std::span<const Tensor> dy,
                                           const std::vector<bool>& wanted) const = 0;
};

/// Whether the output holds a value of every round.
TIDEMARK_API bool is_round_record(const Node& node, size_t output);
/// What the node's records take more with every round, where only a run can tell how many there
/// are; nothing: all of it is known.
TIDEMARK_API std::optional<int64_t> growing_bytes(const Node& node);

}  // namespace tidemark::graph
