// Call: one node with its inputs, as a builder sees it, and the table of builders.
//
//   Tensor hard_sigmoid(const Call& c) {
//     const Tensor& x = c.in(0);
//     return clip(x * number(c.real("alpha", 0.2), x) + number(c.real("beta", 0.5), x), 0, 1);
//   }
//   const Entry kEntries[] = {{"HardSigmoid", hard_sigmoid}};
//
// Builders call our ops; whether that computes now or makes nodes is the thread's stack of
// handlers.
#pragma once

#include <tidemark/op.h>

#include <functional>
#include <optional>

#include "tidemark/io/onnx/value.h"

namespace tidemark::io::onnx {

class Interpreter;
class Scope;

using Values = std::vector<Value>;
using Attributes = std::map<std::string_view, const Attribute*>;

/// What holds for all nodes of a function, or of the model's own graph.
struct Frame {
  const Opsets* opsets = nullptr;
  const Attributes* attributes = nullptr;  // of the call of the function
  int depth = 0;
};

class Call {
 public:
  Call(const Node& node, int64_t version, Values inputs, const Frame& frame, const Scope& scope,
       Interpreter& interpreter)
      : node(node),
        version(version),
        inputs(std::move(inputs)),
        frame(frame),
        scope(scope),
        interpreter(interpreter) {}

  size_t num_inputs() const { return inputs.size(); }
  size_t num_outputs() const { return node.outputs.size(); }
  bool wants(size_t output) const {
    return output < node.outputs.size() && !node.outputs[output].empty();
  }
  bool has(size_t i) const { return i < inputs.size() && inputs[i].kind != Value::Kind::none; }
  /// Throws InvalidArgumentError where the input is left out or is no tensor.
  const Tensor& in(size_t i) const;
  const Value& value(size_t i) const;
  std::vector<Tensor> tensors(size_t from = 0) const;
  /// The elements of an integer input; throws ValueUnknownError where only a run can tell.
  Ints ints(size_t i) const;
  /// Throws InvalidArgumentError where the reader itself would have to list so many numbers, or
  /// less than none. `count` is a double, for products that no integer holds.
  void check_listed(double count) const;
  /// The one element of an integer input.
  int64_t known_integer(size_t i) const;
  double known_real(size_t i) const;

  /// Null: not given. What a function's caller gave is put in its place.
  const Attribute* attr(std::string_view name) const;
  int64_t integer(std::string_view name, int64_t unless_given) const;
  int64_t integer(std::string_view name) const;
  double real(std::string_view name, double unless_given) const;
  std::string text(std::string_view name, std::string_view unless_given) const;
  std::optional<Ints> integers(std::string_view name) const;
  Ints integers(std::string_view name, Ints unless_given) const;
  const Graph& graph(std::string_view name) const;
  Element element(std::string_view name, Element unless_given) const;

  template <class... Pieces>
  [[noreturn, gnu::cold]] void fail(const Pieces&... pieces) const {
    tidemark::fail<InvalidArgumentError>("[", title(), "] ", pieces...);
  }
  /// "Conv 'block1/conv'"
  std::string title() const;

  const Node& node;
  const int64_t version;
  const Values inputs;
  const Frame& frame;
  const Scope& scope;  // what graphs in attributes may refer to
  Interpreter& interpreter;
};

using BuildOne = Tensor (*)(const Call&);
using BuildAll = Values (*)(const Call&);

/// How one op of ONNX is made.
struct Entry {
  std::string_view op;
  BuildOne one = nullptr;
  BuildAll all = nullptr;
  std::string_view domain = "";
  /// Draws, or depends on what is around it: never computed ahead of a run.
  bool is_random = false;

  constexpr Entry(std::string_view op, BuildOne build, std::string_view domain = "")
      : op(op), one(build), domain(domain) {}
  constexpr Entry(std::string_view op, BuildAll build, std::string_view domain = "")
      : op(op), all(build), domain(domain) {}
  constexpr Entry drawn() const {
    Entry out = *this;
    out.is_random = true;
    return out;
  }
};

std::span<const Entry> math_entries();
std::span<const Entry> reduce_entries();
std::span<const Entry> array_entries();
std::span<const Entry> index_entries();
std::span<const Entry> cast_entries();
std::span<const Entry> window_entries();
std::span<const Entry> pool_entries();
std::span<const Entry> norm_entries();
std::span<const Entry> recurrent_entries();
std::span<const Entry> attention_entries();
std::span<const Entry> quantised_entries();
std::span<const Entry> control_entries();
std::span<const Entry> sequence_entries();
std::span<const Entry> image_entries();
std::span<const Entry> resize_entries();
std::span<const Entry> loss_entries();
std::span<const Entry> signal_entries();
std::span<const Entry> text_entries();
std::span<const Entry> random_entries();
std::span<const Entry> learned_entries();
std::span<const Entry> training_entries();

/// Null: there is none.
const Entry* find_entry(std::string_view domain, std::string_view op);
/// Every op that is read, in order; by an entry or as one op of ours.
TIDEMARK_API std::vector<std::pair<std::string_view, std::string_view>> readable_ops();

/// By the op of ours that does just the same.
Values build_one_to_one(const OpDef& op, const Call& call);

}  // namespace tidemark::io::onnx
