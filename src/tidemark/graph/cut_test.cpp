#include "tidemark/graph/cut.h"

#include <gtest/gtest.h>

#include "tidemark/graph/specials.h"

namespace tidemark::graph {
namespace {

class SpecialForTest final : public Special {
 public:
  std::string_view name() const override { return "step"; }
  void run(std::span<Tensor>, std::span<Tensor>) const override {}
};

struct Whole {
  std::shared_ptr<Graph> graph = Graph::create("whole");

  NodeRef add(std::vector<Tensor> inputs, size_t outputs) {
    NodeRef node = graph->new_node();
    node->special = std::make_shared<SpecialForTest>();
    node->inputs = std::move(inputs);
    node->outputs.resize(outputs, {DType::float32, Shape{2}});
    return node;
  }
};

std::vector<std::string_view> kinds(const Graph& graph) {
  std::vector<std::string_view> out;
  for (const Node* node : graph.nodes()) out.push_back(kind_of(*node));
  return out;
}

using Kinds = std::vector<std::string_view>;

TEST(Cut, TakesWhatOutputsNeedAndCopiesIt) {
  Whole whole;
  const Tensor x = whole.graph->add_input(DType::float32, {2});
  const Tensor y = output_of(*whole.add({x}, 1), 0);
  whole.add({y}, 1);  // nobody asks for it
  const std::shared_ptr<Graph> part = cut({&x, 1}, {&y, 1}, {});
  EXPECT_EQ(kinds(*part), (Kinds{"placeholder", "step"}));
  EXPECT_EQ(part->inputs().size(), 1u);
  for (const Node* node : part->nodes()) EXPECT_EQ(node->graph_id, part->id());
  EXPECT_EQ(node_of(y).refs.load(), 1u);  // the copy keeps nothing of the whole
}

TEST(Cut, AnyTensorMayBeGiven) {
  Whole whole;
  const NodeRef parts = whole.add({whole.graph->add_input(DType::float32, {4})}, 2);
  const Tensor left = output_of(*parts, 0), right = output_of(*parts, 1);
  const Tensor y = output_of(*whole.add({right}, 1), 0);
  // The second of two outputs is given: what makes both is left out.
  const auto of_right = cut({&right, 1}, {&y, 1}, {});
  EXPECT_EQ(kinds(*of_right), (Kinds{"placeholder", "step"}));
  EXPECT_EQ(&node_of(of_right->nodes()[1]->inputs[0]), &node_of(of_right->inputs()[0]));
  // The other one is needed: it is made all the same.
  const auto of_left = cut({&left, 1}, {&y, 1}, {});
  EXPECT_EQ(kinds(*of_left), (Kinds{"placeholder", "step", "step"}));
}

TEST(Cut, EffectsStayInOrder) {
  Whole whole;
  const Tensor x = whole.graph->add_input(DType::float32, {2});
  const NodeRef first = whole.add({x}, 0), second = whole.add({x}, 0);
  second->before.push_back(first);
  const auto part = cut({&x, 1}, {}, {&second, 1});
  EXPECT_EQ(kinds(*part), (Kinds{"placeholder", "step", "step"}));
  ASSERT_EQ(part->effects().size(), 1u);
  EXPECT_EQ(part->effects()[0]->before.size(), 1u);
  // One whose outputs are all given does nothing more.
  const NodeRef source = NodeRef::share(&node_of(x));
  EXPECT_TRUE(cut({&x, 1}, {}, {&source, 1})->effects().empty());
}

}  // namespace
}  // namespace tidemark::graph
