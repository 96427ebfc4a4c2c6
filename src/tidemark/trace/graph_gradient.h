// Gradients between tensors of a graph, without a tape that watched how they came to be.
#pragma once

#include <tidemark/call.h>

#include "tidemark/autodiff/tape.h"
#include "tidemark/graph/node.h"

namespace tidemark::trace {

/// Stands on a tape for a step it cannot look into: asking throws ValueUnknownError, and the
/// question is left to the run.
TIDEMARK_API const std::shared_ptr<autodiff::CustomBackward>& opaque_backward();

/// What the graphs inside a step read: variables (all readings of one are the same to tapes), and
/// tensors that had values before the graphs were made.
std::vector<Tensor> readings_inside(const graph::Special& special);

/// Records on the tape what the tensors came from: the nodes of their graph. No gradient goes past
/// the nodes that make the `stops`.
void note_steps(autodiff::Tape& tape, std::span<const Tensor> tensors,
                std::span<const Tensor> stops = {});

/// A gradient that only the run can tell becomes a step of the graph being built: one adjoint each
/// source.
std::vector<autodiff::Adjoint> defer_gradient(const autodiff::Question& question);

/// Nodes for the gradients of the sum of the `ys`, weighted with `seeds` (or none), by the `xs`;
/// one each, empty where nothing connects. No gradient goes past the nodes that make the `stops`,
/// also where one of those is among the `xs`. The builder of the graph is in charge of this thread;
/// what it uses of graphs around its own is followed there.
TIDEMARK_API std::vector<autodiff::Adjoint> gradients(std::span<const Tensor> ys,
                                                      std::span<const Tensor> xs,
                                                      std::span<const Tensor> seeds,
                                                      std::span<const Tensor> stops = {});

}  // namespace tidemark::trace
