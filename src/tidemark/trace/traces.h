// The traces of one function: which one a call gets, what a new one is made for, which are kept.
//
//   auto traces = std::make_shared<Traces>(std::make_unique<MutexLock>());
//   Traces::Answer answer = traces->get(signature_of_the_call, tracer);
//   answer.trace->reason;                    // "first call", or what differed, from what to what
//
// This is the whole policy, for functions of C++ and of Python. The newest trace that fits is used.
// Where an earlier trace differs in sizes or in a number alone, the new one is made for any size or
// number; code that needs them after all is traced for each. A trace replaces those it covers.
// Traces with equal graphs share one. What all functions of the process keep is bounded in bytes
// (trace_cache.h).
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <set>
#include <string_view>
#include <unordered_map>

#include "tidemark/exec/program.h"
#include "tidemark/graph/graph.h"
#include "tidemark/trace/signature.h"

namespace tidemark::trace {

/// A function's code run once; front ends add what they need for a call.
struct TIDEMARK_API Trace {
  Trace() = default;
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  virtual ~Trace();

  size_t bytes() const;
  /// Arguments that made no difference: the other trace's graph is used from now on.
  virtual void take_graph_of(const Trace& twin);
  /// True in the first calls, then after 32, 64, 128, …: what need not be looked at each time is
  /// looked at then.
  bool count_call() {
    const uint64_t now = calls.fetch_add(1, std::memory_order_relaxed) + 1;
    if (now > kCallsLookedAt && (now & (now - 1)) != 0) [[likely]]
      return false;
    touch();
    return true;
  }

  Signature signature;
  std::string reason;                   // why it was made, in words
  std::set<std::string_view> differed;  // shape, value, identity, structure: from the one before
  std::string place;                    // the line whose call made it; may be empty
  std::shared_ptr<graph::Graph> graph;
  std::shared_ptr<const exec::Program> program;
  std::vector<Tensor> captures;  // of a graph being built around the call
  bool is_for_one_call = false;  // it refers to tensors or steps of such a graph
  uint64_t code_runs = 1;        // how often the code ran to make it
  std::atomic<uint64_t> calls{0};
  std::atomic<uint64_t> cache_key{0};  // 0: the cache does not count it

 private:
  static constexpr uint64_t kCallsLookedAt = 16;
  void touch();
};

using TracePtr = std::shared_ptr<Trace>;

/// A call that may have to be traced: its function's code, and the words for its arguments.
class Tracer {
 public:
  virtual ~Tracer() = default;
  /// Runs the code for arguments like these. Fills in all but why it was made.
  virtual TracePtr trace(const Signature& wanted) = 0;
  /// The same for more than the call itself asks for; null where the code fails, which may need to
  /// know the sizes and numbers that this leaves open.
  virtual TracePtr try_trace(const Signature& wanted) = 0;
  virtual std::string name_of(size_t leaf) const = 0;
  virtual std::string text_of(const Argument& arg) const = 0;
};

/// How the threads that use a function's traces are kept apart.
class TraceLock {
 public:
  virtual ~TraceLock() = default;
  /// Runs `work`, which calls nobody else's code, while no other thread uses the list of traces.
  virtual void run_alone(const std::function<void()>& work) = 0;
  /// Waits until no other thread traces the function.
  virtual void wait_for(std::recursive_mutex& tracing) { tracing.lock(); }
};

class TIDEMARK_API Traces : public std::enable_shared_from_this<Traces> {
 public:
  explicit Traces(std::unique_ptr<TraceLock> lock) : lock_(std::move(lock)) {}
  Traces(const Traces&) = delete;
  Traces& operator=(const Traces&) = delete;

  /// Whatever calls give, traces are made for these; leaves beyond them are the call's own.
  void declare(std::vector<Argument> args) { declared_ = std::move(args); }

  /// The trace that a call gets, or a null pointer. The caller holds the lock, or what it stands
  /// for; comparing runs nobody's code. The answer holds as long as the list stays as it is.
  template <class Given>
  const TracePtr& find(const Structure* structure, size_t count, const Given& given) const {
    for (size_t i = all_.size(); i-- > 0;) {
      if (all_[i]->signature.accepts(structure, count, given)) return all_[i];
    }
    return none_;
  }

  struct Answer {
    TracePtr trace;
    bool is_new = false;
    int too_many = 0;  // the traces that the same line made, once they are worth a word; else 0
  };
  /// The trace that a call gets, made where there is none. One that refers to a graph being built
  /// is for this call alone.
  Answer get(const Signature& call, Tracer& tracer);
  /// The trace for just these arguments, whatever else fits; `reason`: why it is made if it is.
  TracePtr get_exactly(const Signature& call, Tracer& tracer, std::string_view reason);

  /// The newest last.
  std::vector<TracePtr> kept() const;
  /// How often the code ran and came to its end.
  uint64_t made() const { return made_; }
  /// Without the lock: for who holds what it stands for.
  const std::vector<TracePtr>& unlocked() const { return all_; }
  std::vector<TracePtr> clear();

 private:
  TracePtr find_kept(const Signature& call) const;
  TracePtr make(const Signature& call, Tracer& tracer);
  struct Why {
    std::string reason;
    std::set<std::string_view> differed;
  };
  Why explain(const std::vector<TracePtr>& known, const Signature& call,
              const Tracer& tracer) const;
  std::vector<Argument> to_trace_for(const std::vector<TracePtr>& known,
                                     const Signature& call) const;
  std::optional<std::vector<Argument>> joined(const Signature& known, const Signature& call) const;
  void keep(const TracePtr& made);
  void drop(const Trace& trace);
  int too_many_from(const std::string& place);

  const TracePtr none_;
  const std::unique_ptr<TraceLock> lock_;
  std::vector<TracePtr> all_;  // under the lock
  // Held while code is traced: threads that call at once share one trace. Code may call itself.
  std::recursive_mutex tracing_;
  // The rest belongs to who traces.
  std::vector<Argument> declared_;
  std::set<size_t> needed_;  // leaves of which the code needs the sizes or the number
  std::unordered_map<std::string, int> by_place_;
  std::atomic<uint64_t> made_{0};
};

}  // namespace tidemark::trace
