// Who needs which values of a graph when, in the order of the program.
#pragma once

#include "tidemark/graph/graph.h"

namespace tidemark::compile {

/// Bytes that a node makes, with all that shows them in other shapes.
struct Life {
  const graph::Node* maker = nullptr;
  uint32_t output = 0;
  int64_t bytes = 0;
  int made = 0;                           // the maker's place in the program
  std::vector<int> uses;                  // places, in order
  std::vector<const graph::Node*> views;  // in order
  bool is_external = false;               // an argument, a constant, the value of a variable
  bool is_variable = false;
  bool is_kept = false;  // leaves with the results
  /// Made and used within one chain of elementwise ops: fusion leaves it in registers.
  bool is_passing = false;
  /// When it lies in memory: [first, last], ascending. More than one where it is made again.
  std::vector<std::pair<int, int>> spans;

  bool is_alive(int at) const;
};

class Lives {
 public:
  explicit Lives(const graph::Graph& graph);

  std::vector<graph::Node*> nodes;
  std::vector<Life> all;
  /// The life of what the tensor shows; -1: it holds elements itself.
  int of(const Tensor& t) const;
  int place_of(const graph::Node& node) const { return place_.at(&node); }
  /// Bytes alive at each place.
  std::vector<int64_t> loads() const;

 private:
  void add_node(int place);
  int viewed_input(const graph::Node& node) const;
  void find_passing();

  std::unordered_map<const graph::Node*, int> place_;
  std::vector<std::vector<int>> of_output_;  // by place
};

}  // namespace tidemark::compile
