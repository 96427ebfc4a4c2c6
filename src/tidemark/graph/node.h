// Node: one step of a computation that has not run, and the tensors that stand for its outputs.
//
// A tensor keeps its node alive, a node its inputs, and nothing keeps what nobody can reach: a
// graph built in a loop forgets its past. What a graph must do whether or not somebody looks at the
// result (an update, a print) it keeps itself; see graph.h.
#pragma once

#include <tidemark/attr.h>
#include <tidemark/tensor.h>

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "tidemark/base/placement.h"
#include "tidemark/graph/effects.h"
#include "tidemark/memory/site.h"

namespace tidemark {

/// A value was asked for that only a run can tell.
class TIDEMARK_API ValueUnknownError : public FailedPreconditionError {
 public:
  using FailedPreconditionError::FailedPreconditionError;
};

/// A tensor of a graph was used where that graph is not being built.
class TIDEMARK_API OutOfScopeError : public InvalidArgumentError {
 public:
  using InvalidArgumentError::InvalidArgumentError;
};

}  // namespace tidemark

namespace tidemark::graph {

class DifferentiableSpecial;
class Graph;
class RecordingSpecial;
class VariableUpdates;
struct Node;

/// What is known of a symbolic tensor whose shape is not: its shape, and if it is small and made of
/// integers its elements, in imagined runs in which all unknown sizes differ. What agrees in all of
/// them is known for certain; computing on with each answers `reshape(x, [shape(x)[0], -1])`
/// without a rule for unknown sizes in any op. The last world's sizes are small, to tell a size
/// from a limit
/// (`x[:100]`); an op may be impossible there, and then nothing is known of that world.
inline constexpr int kWorlds = 3;

struct Imagined {
  Shape shape[kWorlds];   // the last may have no rank
  Tensor value[kWorlds];  // empty: not known
};

/// Stands for one output of a node.
struct SymbolicImpl final : detail::TensorImpl {
  Node* node = nullptr;  // counted
  uint32_t index = 0;
  std::unique_ptr<Imagined> imagined;  // null: the shape is fully known, the value is not
};

class Special;

/// A step that begins and one that waits for it. The first has the outputs of both, and behind them
/// what goes from step to step: a ticket, and scratch memory, in which one follows the other. An
/// input behind its own is scratch memory that it may go on in. The second takes all of these
/// outputs, and gives the first ones.
struct TwoSteps {
  std::shared_ptr<const Special> begin, end;
  size_t scratch = 0;  // bytes
};

/// What a node does when it is not an op of the library: it reads a variable, branches, loops, asks
/// Python. Shared by all copies of the node, never changed. What others need to know of it, it
/// answers; unless it does, the worst is taken for granted.
class TIDEMARK_API Special {
 public:
  virtual ~Special() = default;
  virtual std::string_view name() const = 0;
  virtual std::string describe() const { return std::string(name()); }
  /// Bytes kept beside the node itself.
  virtual size_t bytes() const { return 0; }
  /// Whether it does the same as the other.
  bool is_same(const Special& other) const;

  /// Computes now, by ops called on this thread, so that tapes see what happens inside.
  virtual void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const = 0;
  virtual Effects effects() const { return {.is_barrier = true}; }

  /// False: after the run nobody refers to its inputs and no output shares their bytes, so that
  /// they may lie in memory that is used again.
  virtual bool keeps_inputs() const { return true; }
  /// Whether the output may take over the bytes of the input where that dies with the step.
  virtual bool may_write_into(size_t /*output*/, size_t /*input*/) const { return false; }

  /// True: `compute` does what `run` does as a kernel would, into outputs that are given,
  /// allocating nothing for them. Shapes of inputs and outputs are those of its node.
  virtual bool computes() const { return false; }
  /// Bytes needed while it computes.
  virtual size_t workspace() const { return 0; }
  virtual void compute(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                       void* workspace) const;
  virtual HeavyWork heavy_work() const { return {}; }
  /// The same in two steps, so that others may run between them; nothing: it is one.
  virtual std::optional<TwoSteps> in_two_steps() const { return {}; }
  /// Whether what `compute` begins goes on beside the steps that follow, in the memory of its
  /// outputs, until what takes those has run.
  virtual bool goes_on() const { return false; }
  /// After a run that failed: waits until nothing of it goes on.
  virtual void settle() const noexcept {}
  /// True: it is code of the device on which its outputs lie, whose stream computes it. False: the
  /// host does, wherever they lie.
  virtual bool is_device_code() const { return false; }

  /// The variable in whose memory its only output lies: it gives that and does nothing else.
  virtual const Variable* shown_variable() const { return nullptr; }
  /// The update that it is, by its inputs: it does nothing else and has no outputs.
  virtual const VariableUpdate* update() const { return nullptr; }
  /// Itself, where it computes new values of variables in memory that is given; null: it does
  /// something else.
  virtual const VariableUpdates* variable_updates() const { return nullptr; }

  /// Where among its inputs those begin that its outputs are; nothing: they are others. Tapes see
  /// more of it, nobody else does.
  virtual std::optional<size_t> passed_inputs_at() const { return {}; }
  /// The Python that it runs: the library's function that could not be traced, or "" for the user's
  /// own code; nothing: it runs none.
  virtual std::optional<std::string_view> python_function() const { return {}; }
  /// Where the memory went of the tensor that it stands for; null: it stands for a computation.
  virtual const std::string* donated_to() const { return nullptr; }
  /// Itself, where its outputs depend on how its inputs came about; null: they do not.
  virtual const RecordingSpecial* recording() const { return nullptr; }
  /// Itself, where gradients across it are steps of the same graph; null: only a run can tell them.
  virtual const DifferentiableSpecial* differentiable() const { return nullptr; }
  /// Where among its outputs those begin that the way back needs: the number of rounds, then what
  /// some values were in each of them. Nothing: it keeps no record.
  virtual std::optional<size_t> round_records_at() const { return {}; }

  virtual std::vector<InnerGraph> inner_graphs() const { return {}; }
  virtual std::vector<InnerProgram> inner_programs() const { return {}; }
  /// What inner graphs take for inputs of these shapes; nothing where only the run can tell.
  virtual InnerNeed inner_need(std::span<const Tensor> /*inputs*/) const { return {}; }
  /// Plans the inner graphs for inputs of these shapes, so that none runs unplanned, not even once.
  virtual void prepare(std::span<const Tensor> /*inputs*/) const {}

 protected:
  /// `other` is another object of the very same class.
  virtual bool equals(const Special& /*other*/) const { return false; }
};

struct OutputInfo {
  DType dtype = DType::invalid;
  Shape shape;
  /// Who this value is to tapes: all handles on the output share it. 0 until the first is made.
  uint64_t id = 0;
  /// Where its elements will lie, in graphs that a plan is made of; the CPU in all others.
  Device device{};
};

/// A counted reference.
class TIDEMARK_API NodeRef {
 public:
  NodeRef() noexcept = default;
  /// Takes over the caller's reference.
  static NodeRef adopt(Node* node) noexcept;
  static NodeRef share(Node* node) noexcept;
  NodeRef(const NodeRef& other) noexcept : NodeRef(share(other.node_)) {}
  NodeRef(NodeRef&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  NodeRef& operator=(NodeRef other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~NodeRef();
  Node* get() const noexcept { return node_; }
  Node* operator->() const noexcept { return node_; }
  Node& operator*() const noexcept { return *node_; }
  explicit operator bool() const noexcept { return node_ != nullptr; }

 private:
  Node* node_ = nullptr;
};

struct Node {
  std::atomic<uint32_t> refs{1};
  uint64_t sequence = 0;      // grows with the order of the program, within and across graphs
  const OpDef* op = nullptr;  // null: special
  std::shared_ptr<const Special> special;
  std::vector<Attr> attrs;
  std::vector<Tensor> inputs;   // symbolic ones of the same graph, or constants
  std::vector<NodeRef> before;  // run before this one, whether or not it looks at their outputs
  std::vector<OutputInfo> outputs;
  memory::Site* site = nullptr;  // pinned
  OptionalDevice wish;           // the scope it was made in; none: it runs where its caller does
  std::weak_ptr<Graph> graph;
  uint64_t graph_id = 0;  // tells graphs apart, also those that are gone
  std::string label;      // its name, once it has one
  bool is_found = false;  // the graph finds it by its name

  Node() = default;
  Node(const Node&) = delete;
  TIDEMARK_API ~Node();
};

inline SymbolicImpl& symbolic(const Tensor& t) { return *static_cast<SymbolicImpl*>(t.impl()); }
inline Node& node_of(const Tensor& t) { return *symbolic(t).node; }

/// The last handle went.
void destroy_symbolic(detail::TensorImpl* impl) noexcept;
/// The elements that the tensor will have in every run; throws ValueUnknownError where they differ.
std::vector<int64_t> known_ints(const detail::TensorImpl& impl);

/// A tensor that stands for output `index` of the node, as the node's OutputInfo says.
TIDEMARK_API Tensor output_of(Node& node, uint32_t index, std::unique_ptr<Imagined> imagined = {});

/// The elements a symbolic tensor will have in every run; empty: not known.
TIDEMARK_API Tensor known_value(const Tensor& t);

/// "add:0 of shape (2, None) made at train.py:12": for messages.
TIDEMARK_API std::string describe(const Tensor& t);
/// The op's name or the special's.
TIDEMARK_API std::string_view kind_of(const Node& node);

/// The node's name, made up where it has none: "add", "add_1", … within its graph.
TIDEMARK_API const std::string& name_of(Node& node);
/// More is known of the shape than the op tells.
TIDEMARK_API void set_shape(const Tensor& t, const Shape& shape,
                            std::unique_ptr<Imagined> imagined);

}  // namespace tidemark::graph
