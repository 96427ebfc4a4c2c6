#include <unordered_map>

#include "tidemark/graph/graph.h"

namespace tidemark::graph {

namespace {

constexpr int64_t kShownElements = 8;

class Numbers {
 public:
  explicit Numbers(const std::vector<Node*>& nodes) {
    for (const Node* node : nodes) numbers_.emplace(node, numbers_.size());
  }
  std::string of(const Tensor& t) const {
    if (!t.is_symbolic()) return constant(t);
    const auto found = numbers_.find(&node_of(t));
    if (found == numbers_.end()) return "%?";
    const Node& node = *found->first;
    return node.outputs.size() == 1 ? message("%", found->second)
                                    : message("%", found->second, ":", symbolic(t).index);
  }

 private:
  static std::string constant(const Tensor& t) {
    if (t.num_elements() <= kShownElements && t.dtype() != DType::string) return t.to_string();
    return message("<", name_of(t.dtype()), " ", t.shape(), ">");
  }
  std::unordered_map<const Node*, size_t> numbers_;
};

std::string arguments(const Node& node, const Numbers& numbers) {
  std::string out;
  for (const Tensor& t : node.inputs) out += message(out.empty() ? "" : ", ", numbers.of(t));
  return out;
}

std::string results(const Node& node) {
  std::string out;
  for (const OutputInfo& info : node.outputs) {
    out += message(out.empty() ? "" : ", ", name_of(info.dtype), " ", info.shape);
  }
  return out;
}

std::string attributes(const Node& node) {
  std::string out;
  for (const Attr& attr : node.attrs) {
    if (!attr.is_none()) out += message(out.empty() ? "" : ", ", attr);
  }
  return out.empty() ? out : message(" [", out, "]");
}

std::string line_of(const Node& node, const Numbers& numbers, size_t number) {
  const std::string what =
      node.op ? std::string(kind_of(node)) : std::string(node.special->describe());
  std::string line = message("%", number, " = ", what, "(", arguments(node, numbers), ")",
                             attributes(node), " : ", results(node));
  if (node.site) line += message("    ", memory::describe(*node.site));
  return line;
}

std::string quoted(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string Graph::to_string() const {
  const std::vector<Node*> all = nodes();
  const Numbers numbers(all);
  std::string out = message("graph ", name_, "\n");
  for (size_t i = 0; i < all.size(); ++i) {
    out += message("  ", line_of(*all[i], numbers, i), "\n");
  }
  out += "  return ";
  for (size_t i = 0; i < outputs_.size(); ++i) {
    out += message(i ? ", " : "", numbers.of(outputs_[i]));
  }
  return out + "\n";
}

std::string Graph::to_dot() const {
  const std::vector<Node*> all = nodes();
  std::unordered_map<const Node*, size_t> position;
  std::string out = message("digraph \"", quoted(name_), "\" {\n  rankdir=TB; node [shape=box];\n");
  for (size_t i = 0; i < all.size(); ++i) {
    position.emplace(all[i], i);
    std::string text = message(kind_of(*all[i]), "\\n", quoted(results(*all[i])));
    if (all[i]->site) text += message("\\n", quoted(memory::describe(*all[i]->site)));
    out += message("  n", i, " [label=\"", text, "\"];\n");
    for (const Tensor& t : all[i]->inputs) {
      if (t.is_symbolic()) out += message("  n", position.at(&node_of(t)), " -> n", i, ";\n");
    }
  }
  return out + "}\n";
}

}  // namespace tidemark::graph
