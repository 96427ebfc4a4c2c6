#include <tidemark/function.h>

#include <mutex>
#include <ostream>

#include "tidemark/exec/program.h"
#include "tidemark/explain/plan_report.h"
#include "tidemark/trace/builder.h"
#include "tidemark/trace/shared_graphs.h"
#include "tidemark/trace/traces.h"

namespace tidemark {

std::ostream& operator<<(std::ostream& out, const TraceInfo& info) {
  return out << info.signature << ": " << info.reason << "; " << info.bytes << " bytes, "
             << info.calls << " calls";
}

namespace detail {

namespace {

using trace::Argument;
using trace::Signature;
using trace::TracePtr;

std::string text_of(const Argument& arg) { return message(name_of(arg.dtype()), " ", arg.shape()); }

class Mutex final : public trace::TraceLock {
 public:
  void run_alone(const std::function<void()>& work) override {
    const std::lock_guard lock(mutex);
    work();
  }
  std::mutex mutex;
};

class CodeTracer final : public trace::Tracer {
 public:
  CodeTracer(const FunctionOptions& options, const FunctionTraces::Code& code)
      : options_(options), code_(code) {}

  TracePtr trace(const Signature& wanted) override {
    trace::GraphBuilder builder(options_.name);
    std::vector<Tensor> inputs;
    for (const Argument& a : wanted.args) inputs.push_back(builder.add_input(a.dtype(), a.shape()));
    std::vector<Tensor> outputs;
    {
      const trace::TraceScope scope(builder);
      outputs = code_(inputs);
    }
    auto out = std::make_shared<trace::Trace>();
    out->signature = wanted;
    trace::Ready ready =
        trace::shared(builder.finish(outputs), exec::Compile::at_once, options_.memory_budget);
    out->graph = std::move(ready.graph);
    out->program = std::move(ready.program);
    out->captures = builder.captures();
    out->is_for_one_call = !out->captures.empty();
    return out;
  }
  TracePtr try_trace(const Signature& wanted) override {
    try {
      return trace(wanted);
    } catch (const Error&) {
      return {};
    }
  }
  std::string name_of(size_t leaf) const override { return message("argument ", leaf); }
  std::string text_of(const Argument& arg) const override { return detail::text_of(arg); }

 private:
  const FunctionOptions& options_;
  const FunctionTraces::Code& code_;
};

}  // namespace

struct FunctionTraces::State {
  explicit State(FunctionOptions given) : State(std::move(given), std::make_unique<Mutex>()) {}

  TracePtr get(std::span<const Tensor> inputs, const Code& code) {
    {
      const std::lock_guard lock(mutex);
      const TracePtr& known = traces->find(nullptr, inputs.size(),
                                           [&](size_t i) { return trace::GivenTensor{inputs[i]}; });
      if (known) return known;
    }
    Signature call;
    for (const Tensor& t : inputs) call.args.push_back(Argument::any_tensor(t.dtype(), t.shape()));
    CodeTracer tracer(options, code);
    return traces->get(call, tracer).trace;
  }

  const FunctionOptions options;
  std::mutex& mutex;  // of the traces, which outlive this where a thread is about to drop one
  const std::shared_ptr<trace::Traces> traces;

 private:
  State(FunctionOptions given, std::unique_ptr<Mutex> lock)
      : options(std::move(given)),
        mutex(lock->mutex),
        traces(std::make_shared<trace::Traces>(std::move(lock))) {}
};

FunctionTraces::FunctionTraces(FunctionOptions options)
    : state_(std::make_shared<State>(std::move(options))) {
  if (const int64_t budget = state_->options.memory_budget; budget < 0) {
    fail("[", state_->options.name, "] `memory_budget` is in bytes, 0 for any. Received: ", budget);
  }
}
FunctionTraces::~FunctionTraces() = default;

namespace {

void run(trace::Trace& trace, std::span<Tensor> inputs, std::span<Tensor> outputs) {
  trace.count_call();
  if (trace.captures.empty()) return trace.program->run(inputs, outputs);
  std::vector<Tensor> given(std::make_move_iterator(inputs.begin()),
                            std::make_move_iterator(inputs.end()));
  given.insert(given.end(), trace.captures.begin(), trace.captures.end());
  trace.program->run(given, outputs);
}

}  // namespace

std::vector<Tensor> FunctionTraces::call(std::span<Tensor> inputs, const Code& code) {
  const TracePtr trace = state_->get(inputs, code);
  std::vector<Tensor> outputs(trace->program->num_outputs());
  run(*trace, inputs, outputs);
  return outputs;
}

void FunctionTraces::call_into(std::span<Tensor> inputs, std::span<Tensor> outputs,
                               const Code& code) {
  const TracePtr trace = state_->get(inputs, code);
  if (outputs.size() != trace->program->num_outputs()) {
    fail("[", state_->options.name, "] returns ", trace->program->num_outputs(),
         " tensors; room for ", outputs.size(), " was given");
  }
  run(*trace, inputs, outputs);
}

TracedGraph FunctionTraces::graph(std::span<const Tensor> inputs, const Code& code) {
  const TracePtr trace = state_->get(inputs, code);
  return {trace->graph->to_string(), trace->graph->to_dot()};
}

PlanReport FunctionTraces::plan(std::span<const Tensor> inputs, const Code& code) {
  const TracePtr trace = state_->get(inputs, code);
  return explain::plan_report(*trace->program, inputs, state_->options.name,
                              state_->options.memory_budget);
}

std::vector<TraceInfo> FunctionTraces::traces() const {
  std::vector<TraceInfo> out;
  for (const TracePtr& trace : state_->traces->kept()) {
    std::string signature = state_->options.name + "(";
    for (size_t i = 0; i < trace->signature.args.size(); ++i) {
      signature += (i ? ", " : "") + text_of(trace->signature.args[i]);
    }
    out.push_back({signature + ")", trace->reason, trace->bytes(),
                   trace->calls.load(std::memory_order_relaxed)});
  }
  return out;
}

}  // namespace detail

}  // namespace tidemark
