#include "tidemark/compile/pass.h"

#include <tidemark/op.h>

#include <cstdio>
#include <unordered_set>

#include "tidemark/base/settings.h"

namespace tidemark::compile {

namespace {

struct NamedPass {
  const char* name;
  Pass run;  // null: repeat_cheap, which has more to tell
};

double most_time_for_repeating() {
  return static_cast<double>(settings::integer(settings::kPlanRepeat)) / 100;
}

/// In the order in which they run.
constexpr NamedPass kPasses[] = {
    {"fold", fold},
    {"simplify", simplify},
    {"eliminate_casts", eliminate_casts},
    {"eliminate_transposes", eliminate_transposes},
    {"choose_layout", choose_layout},
    {"share_equal", share_equal},
    {"mask_pooled", mask_pooled},
    {"repeat_cheap", nullptr},
    {"reserve_draws", reserve_draws},
    {"expand", expand},
    {"forward_updates", forward_updates},
    {"fuse", fuse},
    {"begin_early", begin_early},
};

bool dumps_passes() {
  static const bool on = settings::text(settings::kDump) == "passes";
  return on;
}

void dump(const graph::Graph& graph, const char* after) {
  std::fprintf(stderr, "--- %s after %s\n%s", graph.name().c_str(), after,
               graph.to_string().c_str());
}

void verify_node(const graph::Graph& graph, const graph::Node& node,
                 const std::unordered_set<const graph::Node*>& made) {
  if (!node.op && !node.special) fail<InternalError>("a node of '", graph.name(), "' does nothing");
  if (node.op && node.attrs.size() != node.op->attrs().size()) {
    fail<InternalError>("[", node.op->name(), "] has ", node.op->attrs().size(), " attributes; ",
                        node.attrs.size(), " are given");
  }
  for (const Tensor& t : node.inputs) {
    if (!t.is_symbolic()) continue;
    const graph::Node& from = graph::node_of(t);
    if (from.graph_id != graph.id() || !made.contains(&from)) {
      fail<InternalError>("'", graph::kind_of(node), "' uses ", graph::describe(t),
                          from.graph_id == graph.id() ? " before it is made" : " of another graph");
    }
    if (graph::symbolic(t).index >= from.outputs.size()) {
      fail<InternalError>("'", graph::kind_of(node), "' uses an output that '",
                          graph::kind_of(from), "' does not have");
    }
  }
}

/// A pass must not change what callers see.
void verify_same_outputs(const graph::Graph& before, const graph::Graph& after, const char* pass) {
  bool same = before.outputs().size() == after.outputs().size() &&
              before.inputs().size() == after.inputs().size();
  for (size_t i = 0; same && i < before.outputs().size(); ++i) {
    const Tensor &a = before.outputs()[i], &b = after.outputs()[i];
    same = a.dtype() == b.dtype() && a.shape() == b.shape();
  }
  if (!same) fail<InternalError>("the pass '", pass, "' changed what '", before.name(), "' gives");
}

}  // namespace

void verify(const graph::Graph& graph) {
  std::unordered_set<const graph::Node*> inputs, made;
  for (const Tensor& t : graph.inputs()) inputs.insert(&graph::node_of(t));
  made = inputs;
  for (const graph::Node* node : graph.nodes()) {
    if (inputs.contains(node)) continue;
    if (graph::is_placeholder(*node)) {
      fail<InternalError>("a placeholder of '", graph.name(), "' is no input of it");
    }
    verify_node(graph, *node, made);
    made.insert(node);
  }
}

std::shared_ptr<graph::Graph> run_passes(std::shared_ptr<graph::Graph> graph,
                                         std::shared_ptr<graph::Graph>* unfused,
                                         Repetitions* repetitions, OptionalDevice usual) {
  if (dumps_passes()) dump(*graph, "tracing");
  const auto go_on_with = [&](std::shared_ptr<graph::Graph> next, const char* pass) {
    if (next == graph) return;
    verify(*next);
    verify_same_outputs(*graph, *next, pass);
    graph = std::move(next);
    if (dumps_passes()) dump(*graph, pass);
  };
  for (const NamedPass& pass : kPasses) {
    // From here on passes write what a device has code for.
    if (usual && pass.run == expand) go_on_with(place(graph, usual.value_or({})), "place");
    if (unfused && pass.run == fuse) *unfused = graph;
    go_on_with(
        pass.run ? pass.run(graph) : repeat_cheap(graph, most_time_for_repeating(), repetitions),
        pass.name);
  }
  return graph;
}

}  // namespace tidemark::compile
