// Passes: a graph in, a graph out that computes the same.
//
//   std::shared_ptr<graph::Graph> better = compile::run_passes(graph);
//
// TIDEMARK_DUMP=passes prints the graph after every pass that changed it.
#pragma once

#include "tidemark/compile/repeat_cheap.h"
#include "tidemark/graph/graph.h"

namespace tidemark::compile {

/// Gives the graph itself where nothing can be done.
using Pass = std::shared_ptr<graph::Graph> (*)(const std::shared_ptr<graph::Graph>&);

/// All of them, one after the other, each result verified. `unfused`, where it is given, becomes
/// the graph as it is before fusion; `repetitions`: what is computed twice. `usual`, where it is
/// given: values may lie on devices, and steps that nothing else places run on this one.
TIDEMARK_API std::shared_ptr<graph::Graph> run_passes(
    std::shared_ptr<graph::Graph> graph, std::shared_ptr<graph::Graph>* unfused = nullptr,
    Repetitions* repetitions = nullptr, OptionalDevice usual = {});

/// Throws InternalError where a graph cannot be run: a value used before it is made or that belongs
/// to another graph, a placeholder that is no input, an op without all its attributes.
TIDEMARK_API void verify(const graph::Graph& graph);

// The passes, a file each.
/// What depends on constants alone is computed once, as far as the results are small.
TIDEMARK_API std::shared_ptr<graph::Graph> fold(const std::shared_ptr<graph::Graph>& graph);
/// Steps that change nothing, or that undo the one before, are left out.
TIDEMARK_API std::shared_ptr<graph::Graph> simplify(const std::shared_ptr<graph::Graph>& graph);
/// Casts that change nothing are left out; casts of casts that lost nothing become one.
TIDEMARK_API std::shared_ptr<graph::Graph> eliminate_casts(
    const std::shared_ptr<graph::Graph>& graph);
/// Transposes of transposes become one or none, and products take their operands as they lie.
TIDEMARK_API std::shared_ptr<graph::Graph> eliminate_transposes(
    const std::shared_ptr<graph::Graph>& graph);
/// Images lie channels last from one convolution to the next, however the program holds them.
TIDEMARK_API std::shared_ptr<graph::Graph> choose_layout(
    const std::shared_ptr<graph::Graph>& graph);
/// What is computed twice is computed once.
TIDEMARK_API std::shared_ptr<graph::Graph> share_equal(const std::shared_ptr<graph::Graph>& graph);
/// The gradient of a relu below a max_pool is masked where it is smaller: in the pooled images.
TIDEMARK_API std::shared_ptr<graph::Graph> mask_pooled(const std::shared_ptr<graph::Graph>& graph);
/// Ops over rows, such as softmax and layer_norm, that stand beside something to fuse with are
/// written out in the ops that groups are made of.
TIDEMARK_API std::shared_ptr<graph::Graph> expand(const std::shared_ptr<graph::Graph>& graph);
/// Draws of random numbers become the reservation of their stream and a pure function of it.
TIDEMARK_API std::shared_ptr<graph::Graph> reserve_draws(
    const std::shared_ptr<graph::Graph>& graph);
/// Updates of variables become arithmetic and one assignment at the end.
TIDEMARK_API std::shared_ptr<graph::Graph> forward_updates(
    const std::shared_ptr<graph::Graph>& graph);
/// Says of every value where it lies, by the rule that calls follow (ops/op_device.h), and adds the
/// copies between devices. Throws InvalidArgumentError where an op has no kernel on its device and
/// soft placement is off.
TIDEMARK_API std::shared_ptr<graph::Graph> place(const std::shared_ptr<graph::Graph>& graph,
                                                 Device usual);
/// Chains of elementwise ops, with reductions over rows among them, run as one pass over memory;
/// what is assigned to variables is computed where they lie, all of them in one step. For graphs
/// whose sizes are known; the rest stays as it is.
TIDEMARK_API std::shared_ptr<graph::Graph> fuse(const std::shared_ptr<graph::Graph>& graph);
/// The same for where memory is short: no gradient waits for the updates of others.
TIDEMARK_API std::shared_ptr<graph::Graph> fuse_updates_apart(
    const std::shared_ptr<graph::Graph>& graph);
/// Steps that can go on beside others begin as soon as they have what they need, and are waited for
/// where what they give is needed, if there is something heavy to do meanwhile.
TIDEMARK_API std::shared_ptr<graph::Graph> begin_early(const std::shared_ptr<graph::Graph>& graph);

}  // namespace tidemark::compile
