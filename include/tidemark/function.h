// function: C++ code traced once into a graph, then run without it.
//
//   td::Variable w(td::ones({3}));
//   auto step = td::function([&](td::Tensor x, td::Tensor rate) {
//     w.assign_sub(rate * x);
//     return td::sum(w * x);
//   });
//   td::Tensor y = step(x, 0.1f);          // traces
//   y = step(x, 0.2f);                     // runs the graph
//   std::cout << step.traces()[0];         // what it was traced for, why, bytes, calls
//
// Arguments are tensors, or what converts to one. The result is a Tensor, a std::vector,
// std::array, std::pair or std::tuple of them, or nothing. A call of another dtype or rank is
// traced anew; a dimension seen with two sizes is traced once more, for any size. Variables are
// read and updated by every run. What all traces of the process keep is bounded by
// TIDEMARK_TRACE_CACHE; the one used longest ago goes first. A function may be called by several
// threads at once.
//
// What is moved in is given up: a result may be written into its memory. `call_into` uses the
// memory of an earlier result again. A call that has both allocates nothing.
//
//   state = next(std::move(state));
//   next.call_into(y, x);
//
// A function with a budget is planned to take no more than that, by computing some things twice or
// in parts: td::function(code, {.memory_budget = td::MiB(20)}).
#pragma once

#include <tidemark/call.h>
#include <tidemark/plan.h>

#include <array>
#include <functional>
#include <memory>
#include <tuple>

namespace tidemark {

/// What `traces()` tells of one trace.
struct TIDEMARK_API TraceInfo {
  std::string signature;  // "step(float32 (None, 3), float32 ())"
  std::string reason;     // "first call", or which argument differed, from what to what
  size_t bytes = 0;
  uint64_t calls = 0;
};
TIDEMARK_API std::ostream& operator<<(std::ostream& out, const TraceInfo& info);

struct FunctionOptions {
  std::string name = "function";  // in plans, traces and errors
  /// Bytes that a call may take beside its arguments; 0: as many as it takes. A call that does not
  /// fit throws ResourceExhaustedError with the least that was found.
  int64_t memory_budget = 0;
};

/// A graph to look at.
struct TracedGraph {
  std::string text, dot;
  /// One line a node.
  const std::string& to_string() const { return text; }
  /// In Graphviz's language.
  const std::string& to_dot() const { return dot; }
};

namespace detail {

/// The traces of one function; knows its code only while it is called.
class TIDEMARK_API FunctionTraces {
 public:
  using Code = std::function<std::vector<Tensor>(std::span<const Tensor>)>;
  explicit FunctionTraces(FunctionOptions options);
  ~FunctionTraces();
  FunctionTraces(const FunctionTraces&) = delete;
  FunctionTraces& operator=(const FunctionTraces&) = delete;

  std::vector<Tensor> call(std::span<Tensor> inputs, const Code& code);
  /// Tensors that the outputs hold give their memory to the results where nobody else has them.
  /// Throws InvalidArgumentError unless there are as many as results.
  void call_into(std::span<Tensor> inputs, std::span<Tensor> outputs, const Code& code);
  TracedGraph graph(std::span<const Tensor> inputs, const Code& code);
  PlanReport plan(std::span<const Tensor> inputs, const Code& code);
  std::vector<TraceInfo> traces() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// A result taken apart into tensors, and put together again.
template <class Result>
struct Flat;
template <>
struct Flat<Tensor> {
  static constexpr size_t kCount = 1;
  static void move_out(Tensor& from, Tensor* to) { *to = std::move(from); }
  static Tensor together(std::span<Tensor> all) { return std::move(all[0]); }
  static std::vector<Tensor> apart(Tensor t) { return {std::move(t)}; }
  static Tensor together(std::vector<Tensor>&& all) { return std::move(all[0]); }
};
template <>
struct Flat<std::vector<Tensor>> {
  static constexpr size_t kCount = 0;  // the run tells
  static std::vector<Tensor> apart(std::vector<Tensor> all) { return all; }
  static std::vector<Tensor> together(std::vector<Tensor>&& all) { return std::move(all); }
};
template <class Result>
struct Flat {
  static constexpr size_t kCount = std::tuple_size_v<Result>;
  static void move_out(Result& from, Tensor* to) {
    std::apply([&](auto&... part) { ((*to++ = std::move(part)), ...); }, from);
  }
  static Result together(std::span<Tensor> all) {
    return [&]<size_t... i>(std::index_sequence<i...>) { return Result{std::move(all[i])...}; }
    (std::make_index_sequence<kCount>());
  }
  static std::vector<Tensor> apart(Result result) {
    return std::apply([](auto&&... part) { return std::vector<Tensor>{Tensor(part)...}; }, result);
  }
  static Result together(std::vector<Tensor>&& all) {
    return [&]<size_t... i>(std::index_sequence<i...>) { return Result{std::move(all[i])...}; }
    (std::make_index_sequence<std::tuple_size_v<Result>>());
  }
};

}  // namespace detail

/// Made by `function`; copies share the traces.
template <class Fn>
class Function {
 public:
  Function(Fn fn, FunctionOptions options)
      : fn_(std::move(fn)), traces_(std::make_shared<detail::FunctionTraces>(std::move(options))) {}

  template <class... Args>
  requires std::is_invocable_v<Fn&, decltype(Tensor(std::declval<Args>()))...>
  auto operator()(Args&&... args) {
    using Result = ResultOf<Args...>;
    Tensor inputs[sizeof...(Args) + 1] = {Tensor(std::forward<Args>(args))...};
    const std::span<Tensor> given(inputs, sizeof...(Args));
    if constexpr (std::is_void_v<Result>) {
      traces_->call(given, code<sizeof...(Args)>());
    } else if constexpr (detail::Flat<Result>::kCount == 0) {
      return detail::Flat<Result>::together(traces_->call(given, code<sizeof...(Args)>()));
    } else {
      Tensor outputs[detail::Flat<Result>::kCount];
      traces_->call_into(given, outputs, code<sizeof...(Args)>());
      return detail::Flat<Result>::together(outputs);
    }
  }

  /// As a call. What `result` held is used again for the new result where nobody else has it, so
  /// that nothing is allocated. When the call fails it holds what is left of the old one.
  template <class Result, class... Args>
  void call_into(Result& result, Args&&... args) {
    static_assert(std::is_same_v<Result, ResultOf<Args...>>, "not what the function returns");
    Tensor inputs[sizeof...(Args) + 1] = {Tensor(std::forward<Args>(args))...};
    const std::span<Tensor> given(inputs, sizeof...(Args));
    if constexpr (detail::Flat<Result>::kCount == 0) {
      traces_->call_into(given, result, code<sizeof...(Args)>());
    } else {
      Tensor outputs[detail::Flat<Result>::kCount];
      detail::Flat<Result>::move_out(result, outputs);
      try {
        traces_->call_into(given, outputs, code<sizeof...(Args)>());
      } catch (...) {
        result = detail::Flat<Result>::together(outputs);
        throw;
      }
      result = detail::Flat<Result>::together(outputs);
    }
  }

  /// The graph for arguments like these, traced if need be.
  template <class... Args>
  TracedGraph graph(const Args&... args) {
    const Tensor inputs[sizeof...(Args) + 1] = {Tensor(args)...};
    return traces_->graph({inputs, sizeof...(Args)}, code<sizeof...(Args)>());
  }

  /// What a call with arguments like these will need, before anything runs.
  template <class... Args>
  PlanReport plan(const Args&... args) {
    const Tensor inputs[sizeof...(Args) + 1] = {Tensor(args)...};
    return traces_->plan({inputs, sizeof...(Args)}, code<sizeof...(Args)>());
  }

  /// One entry a trace kept, the newest last.
  std::vector<TraceInfo> traces() const { return traces_->traces(); }

 private:
  // An alias would do for g++; clang 14 drops all but the first of a pack of them.
  template <class>
  struct AsTensor {
    using type = Tensor;
  };
  template <class... Args>
  using ResultOf = std::decay_t<std::invoke_result_t<Fn&, typename AsTensor<Args>::type...>>;

  template <size_t count>
  detail::FunctionTraces::Code code() {
    return [this](std::span<const Tensor> inputs) {
      return [&]<size_t... i>(std::index_sequence<i...>)->std::vector<Tensor> {
        using Result = std::decay_t<decltype(fn_(inputs[i]...))>;
        if constexpr (std::is_void_v<Result>) {
          fn_(inputs[i]...);
          return {};
        } else {
          return detail::Flat<Result>::apart(fn_(inputs[i]...));
        }
      }
      (std::make_index_sequence<count>());
    };
  }

  Fn fn_;
  std::shared_ptr<detail::FunctionTraces> traces_;
};

template <class Fn>
Function<std::decay_t<Fn>> function(Fn&& fn, FunctionOptions options = {}) {
  return {std::forward<Fn>(fn), std::move(options)};
}
template <class Fn>
Function<std::decay_t<Fn>> function(Fn&& fn, std::string name) {
  return function(std::forward<Fn>(fn), FunctionOptions{.name = std::move(name)});
}

}  // namespace tidemark
