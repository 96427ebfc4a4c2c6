// Session: runs parts of a graph that goes on growing, as TensorFlow 1 did.
//
//   session::Session s;
//   s.run({.fetches = {y}, .feeds = {{x, value}}}, outputs);
//
// One plan a set of fetches and feeds, in a cache bounded in bytes. A plan keeps no node alive.
// What depends on constants alone is computed once and keeps its value instead of its past.
#pragma once

#include <tidemark/variable.h>

#include <list>
#include <map>
#include <mutex>

#include "tidemark/base/random_state.h"
#include "tidemark/exec/program.h"
#include "tidemark/memory/budget.h"
#include "tidemark/memory/cache_registry.h"
#include "tidemark/session/run_trace.h"

namespace tidemark::session {

/// The values of the variables of a graph, in one session. Any number of threads.
class TIDEMARK_API Values {
 public:
  /// Empty: not initialised.
  Variable find(uint64_t id) const;
  void set(uint64_t id, const Variable& variable);
  void clear();
  std::vector<Variable> all() const;

 private:
  mutable std::mutex mutex_;
  std::map<uint64_t, Variable> variables_;
};

struct Request {
  std::vector<Tensor> fetches;                   // symbolic
  std::vector<graph::NodeRef> operations;        // run for their effect
  std::vector<std::pair<Tensor, Tensor>> feeds;  // what stands for what
  int64_t timeout_ms = 0;                        // 0: as long as it takes
  RunTrace* trace = nullptr;                     // null: nobody wants to know
  void (*breathe)(void*) = nullptr;              // called now and then in a long run
};

class TIDEMARK_API Session {
 public:
  /// `limit`: bytes that its runs and variables may hold at a time; 0: as many as the process.
  explicit Session(int64_t limit = 0);
  ~Session();
  Session(const Session&) = delete;

  /// One tensor each fetch. Any number of threads at once.
  std::vector<Tensor> run(const Request& request);
  /// Releases variables and plans. Runs under way stop with a CancelledError, later ones throw.
  void close();
  bool is_closed() const;
  size_t num_plans() const;
  size_t plan_bytes() const;
  /// What its runs and variables hold now, where it has a limit; else 0.
  int64_t used_bytes() const { return budget_ ? memory::used_of(budget_.get()) : 0; }
  /// The programs of its plans; none where another thread is at them right now.
  std::vector<std::shared_ptr<const exec::Program>> programs() const;
  /// Those that have a value here.
  std::vector<Variable> variables() const { return values_->all(); }

 private:
  using Key = std::vector<uint64_t>;
  struct Plan {
    std::shared_ptr<const exec::Program> program;
    std::list<Key>::iterator used;
    size_t bytes = 0;
  };

  std::shared_ptr<const exec::Program> known_plan(const Key& key);
  std::shared_ptr<const exec::Program> new_plan(const Request& request, const Key& key);
  memory::CacheUse use() const;
  std::vector<Tensor> run_open(const Request& request);
  std::vector<Tensor> run_traced(const Request& request, const exec::Program& program,
                                 std::span<Tensor> inputs);

  struct DropBudget {
    void operator()(memory::Budget* budget) const noexcept { memory::Budget::drop(budget); }
  };
  std::unique_ptr<memory::Budget, DropBudget> budget_;  // null: the process's
  std::atomic<bool> is_cancelled_{false};
  mutable std::mutex mutex_;
  bool is_closed_ = false;
  std::map<Key, Plan> plans_;
  std::list<Key> order_;  // the one used longest ago first
  size_t bytes_ = 0;
  int64_t hits_ = 0, misses_ = 0, evictions_ = 0;
  std::shared_ptr<Values> values_;
  random_state::Positions draws_;
  memory::CacheRegistration listed_{[this] { return use(); }};
};

/// A variable of a graph: each session has a value of its own.
struct TIDEMARK_API GraphVariable {
  uint64_t id = 0;  // what all readings are to tapes: new_tensor_id(), with kTrainableIds if so
  std::string name;
  DType dtype = DType::invalid;
  Shape shape;
  bool trainable = true;
};

/// Reads the session's value; throws FailedPreconditionError while it has none.
TIDEMARK_API std::shared_ptr<const graph::Special> read_special(GraphVariable variable);
/// Input 0: whether the session has a value. No inputs, a bool output.
TIDEMARK_API std::shared_ptr<const graph::Special> is_initialized_special(GraphVariable variable);
/// Updates the session's value by an op, or assigns it (null), and gives the new value.
TIDEMARK_API std::shared_ptr<const graph::Special> update_special(GraphVariable variable,
                                                                  const OpDef* op,
                                                                  std::vector<Attr> attrs);

/// What a node has to do with a variable of a graph.
struct VariableUse {
  enum class Kind : uint8_t { read, is_initialized, update };
  const GraphVariable* variable = nullptr;  // null: nothing
  Kind kind = Kind::read;
  const OpDef* op = nullptr;  // by which it is updated; null: assigned
  std::span<const Attr> attrs{};
};
TIDEMARK_API VariableUse variable_use(const graph::Special* special);

/// Makes a node a constant of this value; what it was made of is let go. True: it was done. Nobody
/// else may look at the node meanwhile.
TIDEMARK_API bool fold(const Tensor& t, const Tensor& value);
/// Whether the tensor depends on nothing but constants.
TIDEMARK_API bool is_constant(const Tensor& t);
/// Whether what a constant was made of is of no more use: nobody else holds any of it and could
/// feed it, or it has grown long.
TIDEMARK_API bool may_forget_past(const Tensor& t);

}  // namespace tidemark::session
