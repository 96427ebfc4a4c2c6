// Gradients that only the run of a graph can tell, and how a run is recorded for them.
#pragma once

#include <tidemark/handler.h>

#include "tidemark/graph/node.h"

namespace tidemark::graph {

/// Asked by a step whose inputs are the tensors to differentiate by, the targets, then a seed for
/// each target that has one.
struct GradientQuestion {
  std::vector<Variable> sources;  // empty ones: the next of the tensors
  std::vector<bool> has_seed;     // one each target
};

/// Sees what happens between the first use of some values and a step that asks about them.
class TIDEMARK_API Recorder {
 public:
  virtual ~Recorder() = default;
  virtual Handler& handler() = 0;
  virtual void watch(const Tensor& value) = 0;
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

}  // namespace tidemark::graph
