// One node of a foreign graph on its way: what it is given, its attributes, what it makes.
//
// Readers (readers.h) turn it into calls of our ops. They run whether the ops compute now (what
// fills variables and tables when a model is loaded) or build a graph (what a signature does).
#pragma once

#include <tidemark/tensor.h>
#include <tidemark/variable.h>

#include <functional>
#include <memory>

#include "tidemark/io/tensorflow/attr_values.h"
#include "tidemark/io/tensorflow/messages.h"
#include "tidemark/tables/hash_table.h"

namespace tidemark::io::tensorflow {

/// What flows along an edge.
struct TIDEMARK_API Value {
  enum class Kind : uint8_t {
    nothing,   // an edge that only orders
    tensor,    //
    variable,  // a resource, or a variable of TensorFlow's first kind
    table,     // a resource
    list,      // of tensors: one array of them (decision 0010)
    stored,    // a tensor of the checkpoint that nobody has read yet
  };
  Kind kind = Kind::nothing;
  Tensor tensor;  // tensor, list
  Variable variable;
  std::shared_ptr<HashTable> table;
  Shape element;    // list: what is known of its elements
  std::string key;  // stored

  Value() = default;
  Value(Tensor t) : kind(Kind::tensor), tensor(std::move(t)) {}  // as a tensor is given
  static Value of(const Variable& variable);
  static Value of(std::shared_ptr<HashTable> table);
  static Value list_of(Tensor array, const Shape& element);
};
using Values = std::vector<Value>;

class Importer;

class NodeCall {
 public:
  NodeCall(Importer& importer, const NodeMessage& node, Values inputs)
      : importer(importer), node(node), inputs(std::move(inputs)) {}

  Importer& importer;
  const NodeMessage& node;
  Values inputs;
  Values outputs;

  /// The input as a tensor; a variable is read.
  Tensor in(size_t i) const;
  std::vector<Tensor> tensors(size_t first = 0) const;
  /// The elements of an input that no run can change. Throws UnimplementedError where one can.
  Ints known(size_t i) const;
  int64_t known_number(size_t i) const;
  const Variable& variable(size_t i) const;
  const std::shared_ptr<HashTable>& table(size_t i) const;
  const Value& list(size_t i) const;
  void give(Tensor output) { outputs.emplace_back(std::move(output)); }
  void give_all(std::vector<Tensor> all) {
    for (Tensor& t : all) give(std::move(t));
  }

  /// The node's attribute, or the default that the file says; none where neither is there.
  AttrValue attr(std::string_view name) const;
  int64_t number(std::string_view name, int64_t unless_given) const;
  bool flag(std::string_view name, bool unless_given = false) const;
  double real(std::string_view name, double unless_given) const;
  std::string text(std::string_view name, std::string_view unless_given) const;
  Ints numbers(std::string_view name) const;
  DType dtype(std::string_view name) const;
  Shape shape(std::string_view name) const;
  std::string_view function(std::string_view name) const;

  /// Throws InvalidArgumentError that names the node.
  template <class... Pieces>
  [[noreturn]] void fail(const Pieces&... pieces) const {
    tidemark::fail("node '", node.name, "' (", node.op, "): ", pieces...);
  }
  /// Throws UnimplementedError that names the node.
  template <class... Pieces>
  [[noreturn]] void fail_unsupported(const Pieces&... pieces) const {
    tidemark::fail<UnimplementedError>("node '", node.name, "' (", node.op, "): ", pieces...);
  }

 private:
  const Value& input(size_t i) const;
};

using NodeReader = void (*)(NodeCall&);
struct NamedReader {
  std::string_view op;
  NodeReader read;
};

/// Null: no function of its own reads it; a rule in an op's definition may.
NodeReader find_reader(std::string_view op);
/// By the definition that says it is this op of TensorFlow's.
void read_by_rule(NodeCall& call);
/// The op of ours that a call of a function stands for, in models that we wrote; null: it is a
/// call. The function says the same in TensorFlow's ops, for those who have no such op.
const OpDef* our_op_of(const NodeMessage& node);
void read_as_ours(NodeCall& call, const OpDef& op);

// Their readers, by what they are about.
std::span<const NamedReader> array_readers();
std::span<const NamedReader> control_readers();
std::span<const NamedReader> image_readers();
std::span<const NamedReader> list_readers();
std::span<const NamedReader> math_readers();
std::span<const NamedReader> signal_readers();
std::span<const NamedReader> resource_readers();
std::span<const NamedReader> text_readers();

}  // namespace tidemark::io::tensorflow
