// What a step of a graph does beside computing its outputs from its inputs.
//
//   const graph::Effects effects = graph::effects_of(*node);
//   if (effects.is_pure()) …                 // may be shared, repeated, moved and left out
//
//   graph::EffectOrder order;                // over the steps, as the program has them
//   for (int i = 0; i < count; ++i) after[i] = order.add(i, graph::effects_of(*nodes[i]));
//
// Passes, planner, budgets and executors ask this and what else a Special answers (node.h), never
// which class a step is of: a new kind of step is added by answering, and nobody else changes.
#pragma once

#include <tidemark/attr.h>
#include <tidemark/variable.h>

#include <string>
#include <unordered_map>
#include <vector>

namespace tidemark {

class OpDef;

}  // namespace tidemark

namespace tidemark::graph {

class Graph;
struct Node;

/// The spans are the step's own, and last as long as it does.
struct TIDEMARK_API Effects {
  /// Looks at these variables by itself; values that come in by its inputs do not count.
  std::span<const Variable> reads{};
  /// Changes these. What it reads of them comes before.
  std::span<const Variable> writes{};
  /// Draws on state that is no variable: random numbers, tables, files. All such steps stay in the
  /// order of the program.
  bool draws = false;
  /// May read, draw, print, and with `must_run` change anything: no other effect moves across it.
  bool is_barrier = false;
  /// Steps with the same token stay in the order of the program, as the calls of one group of
  /// processes have to; 0: none.
  uint64_t token = 0;
  /// Done even if nobody looks at the outputs.
  bool must_run = false;
  /// Its outputs depend on how its inputs came about: what runs before it is recorded, and nothing
  /// may be put in another order.
  bool needs_record = false;

  /// A function of its inputs and nothing else.
  bool is_pure() const noexcept { return !is_ordered() && !must_run && !needs_record; }
  /// There may be steps that it has to stay before or behind, though it needs none of their values.
  bool is_ordered() const noexcept { return touches_variables() || draws || token != 0; }
  bool touches_variables() const noexcept {
    return is_barrier || !reads.empty() || !writes.empty();
  }
  bool may_change_variables() const noexcept { return !writes.empty() || (is_barrier && must_run); }
  bool changes(const Variable& variable) const;
};

TIDEMARK_API Effects effects_of(const Node& node);

/// How a variable is changed: it becomes the only input, or op(its value, the inputs…).
struct VariableUpdate {
  Variable variable;
  const OpDef* op = nullptr;  // null: assigned
  std::vector<Attr> attrs;

  bool is_assignment() const noexcept { return op == nullptr; }
  bool operator==(const VariableUpdate& other) const = default;
};
/// "assign", or the op's name.
TIDEMARK_API std::string_view name_of_update(const OpDef* op);

/// The variable whose value the node gives, in the variable's own memory; null: it does something
/// else.
TIDEMARK_API const Variable* shown_variable(const Node& node);
/// The one update that the node is; null: it does something else, or more.
TIDEMARK_API const VariableUpdate* update_of(const Node& node);

/// Where the variable lies, for as long as it lives.
TIDEMARK_API Device device_of(const Variable& variable);
/// Where the node computes, in graphs that a plan is made of: where its outputs lie, or what it
/// updates.
TIDEMARK_API Device device_of(const Node& node);

/// Work that costs much more than passing over the inputs and outputs once: a product of the first
/// inputs.
struct HeavyWork {
  size_t operands = 0;
  const Shape* result = nullptr;  // of the product; null: there is no such work
  explicit operator bool() const noexcept { return result != nullptr; }
};

/// A graph that a step runs: its own inputs first, then what it captured.
struct InnerGraph {
  enum class Role : uint8_t {
    choice,     ///< runs if input 0 has its number
    condition,  ///< tells whether there is another round
    round,      ///< gives the first inputs of the next round
  };
  Role role = Role::choice;
  const Graph* graph = nullptr;
  /// Where among the step's inputs each captured value lies.
  std::span<const uint32_t> captured{};

  size_t num_own_inputs() const;
};

/// A program of its own that a step runs, for those who show it: its instructions in order, loads
/// and constants left out.
struct InnerProgram {
  struct Member {
    std::string op;
    std::vector<int> args;  // other members
    bool is_result = false;
  };
  int times = 1;  // a sweep runs one over many variables
  std::vector<Member> members;
};

/// What a step takes while it runs, beside inputs, outputs and workspace: for the graphs in it.
struct InnerNeed {
  int64_t arena = 0;    ///< the largest of its parts: reserved in the arena of the graph around it
  int64_t outside = 0;  ///< beside it
  /// On a device other than the CPU, arenas and all.
  struct OnDevice {
    Device device;
    int64_t bytes = 0;
  };
  std::vector<OnDevice> on_devices{};
  std::vector<Device> outputs{};  ///< where they lie; none: only the run can tell
};

/// Which steps must not change places though no value flows between them. The only place where
/// this is worked out. Steps are added in the order of the program, with numbers that grow.
class TIDEMARK_API EffectOrder {
 public:
  static constexpr int kNone = -1;

  /// The step uses a value that lies in the variable's memory: whoever changes the variable waits
  /// for it. Said before the step itself is added, if it is added at all.
  void use(uint64_t variable, int step) { variables_[variable].users.push_back(step); }
  /// The steps that this one comes after, ascending, as far as they do not come after each other.
  std::vector<int> add(int step, const Effects& effects);
  /// The last step that changed the variable, or may have; kNone: no step did.
  int last_change(uint64_t variable) const;

 private:
  struct Uses {
    int last_update = kNone;
    std::vector<int> users;  // since then
  };
  std::vector<int> all_since_barrier(int step) const;

  // Since the last barrier.
  std::unordered_map<uint64_t, Uses> variables_;
  std::unordered_map<uint64_t, int> tokens_;
  int last_draw_ = kNone;
  int last_barrier_ = kNone;
};

}  // namespace tidemark::graph
