#include <tidemark/function.h>

#include <algorithm>
#include <mutex>
#include <ostream>

#include "tidemark/exec/program.h"
#include "tidemark/explain/plan_report.h"
#include "tidemark/trace/builder.h"
#include "tidemark/trace/infer.h"
#include "tidemark/trace/shared_graphs.h"
#include "tidemark/trace/trace_cache.h"

namespace tidemark {

std::ostream& operator<<(std::ostream& out, const TraceInfo& info) {
  return out << info.signature << ": " << info.reason << "; " << info.bytes << " bytes, "
             << info.calls << " calls";
}

namespace detail {

namespace {

struct Argument {
  DType dtype = DType::invalid;
  Shape shape;
  bool accepts(const Argument& other) const {
    return dtype == other.dtype && trace::is_within(other.shape, shape);
  }
};

std::string to_text(const Argument& a) { return message(name_of(a.dtype), " ", a.shape); }

using Signature = std::vector<Argument>;

Signature signature_of(std::span<const Tensor> inputs) {
  Signature out;
  for (const Tensor& t : inputs) out.push_back({t.dtype(), t.shape()});
  return out;
}

bool accepts(const Signature& wanted, const Signature& given) {
  return std::equal(wanted.begin(), wanted.end(), given.begin(), given.end(),
                    [](const Argument& a, const Argument& b) { return a.accepts(b); });
}

bool accepts(const Signature& wanted, std::span<const Tensor> given) {
  return std::equal(wanted.begin(), wanted.end(), given.begin(), given.end(),
                    [](const Argument& a, const Tensor& t) {
                      return a.dtype == t.dtype() && trace::is_within(t.shape(), a.shape);
                    });
}

/// The signature for which both fit; empty: they differ in more than sizes.
Signature joined(const Signature& a, const Signature& b) {
  if (a.size() != b.size()) return {};
  Signature out;
  for (size_t i = 0; i < a.size(); ++i) {
    const Shape both = trace::common_shape(a[i].shape, b[i].shape);
    if (a[i].dtype != b[i].dtype || !both.has_rank()) return {};
    out.push_back({a[i].dtype, both});
  }
  return out;
}

struct Trace {
  Signature signature;
  std::string reason;
  std::shared_ptr<graph::Graph> graph;
  std::shared_ptr<const exec::Program> program;
  std::vector<Tensor> captures;  // of the graph being built around the call
  std::atomic<uint64_t> calls{0};
  uint64_t key = 0;
  size_t bytes() const { return sizeof(Trace) + graph->bytes() + program->bytes(); }
};

}  // namespace

struct FunctionTraces::State : std::enable_shared_from_this<State> {
  std::string name;
  // Held while code is traced: threads that call at once share one trace. Code may call itself.
  std::recursive_mutex tracing;
  // Guards the list and is never held while anything else is called, so that any thread may drop
  // the traces of any function.
  mutable std::mutex mutex;
  std::vector<std::shared_ptr<Trace>> all;
  bool needs_sizes = false;  // the code could not be traced for any size

  ~State() {
    for (const auto& trace : all) trace::TraceCache::instance().remove(trace->key);
  }

  std::vector<std::shared_ptr<Trace>> kept() const {
    const std::lock_guard lock(mutex);
    return all;
  }

  std::shared_ptr<Trace> find(std::span<const Tensor> inputs) const {
    const std::lock_guard lock(mutex);
    for (size_t i = all.size(); i-- > 0;) {
      if (accepts(all[i]->signature, inputs)) return all[i];
    }
    return {};
  }

  std::string reason_for(const Signature& given) const {
    const auto known = kept();
    if (known.empty()) return "first call";
    const Signature& last = known.back()->signature;
    if (last.size() != given.size()) {
      return message("the number of arguments: ", last.size(), " -> ", given.size());
    }
    std::string out;
    for (size_t i = 0; i < given.size(); ++i) {
      if (last[i].accepts(given[i])) continue;
      if (!out.empty()) out += "; ";
      out += message("argument ", i, ": ", to_text(last[i]), " -> ", to_text(given[i]));
    }
    return out;
  }

  Signature to_trace_for(const Signature& given) const {
    const auto known = kept();
    for (size_t i = known.size(); i-- > 0 && !needs_sizes;) {
      Signature both = joined(known[i]->signature, given);
      if (!both.empty()) return both;
    }
    return given;
  }

  std::shared_ptr<Trace> trace_code(const Signature& signature, const Code& code) const {
    trace::GraphBuilder builder(name);
    std::vector<Tensor> inputs;
    for (const Argument& a : signature) inputs.push_back(builder.add_input(a.dtype, a.shape));
    std::vector<Tensor> outputs;
    {
      const trace::TraceScope scope(builder);
      outputs = code(inputs);
    }
    auto out = std::make_shared<Trace>();
    out->signature = signature;
    trace::Ready ready = trace::shared(builder.finish(outputs), exec::Compile::at_once);
    out->graph = std::move(ready.graph);
    out->program = std::move(ready.program);
    out->captures = builder.captures();
    return out;
  }

  std::shared_ptr<Trace> new_trace(const Signature& given, const Code& code) {
    std::string reason = reason_for(given);
    const Signature general = to_trace_for(given);
    std::shared_ptr<Trace> made;
    if (!accepts(given, general)) {
      try {
        made = trace_code(general, code);
      } catch (const Error&) {
        needs_sizes = true;  // it looks at sizes: traced for each
      }
    }
    if (!made) made = trace_code(given, code);
    made->reason = std::move(reason);
    if (made->captures.empty()) keep(made);
    return made;
  }

  void keep(const std::shared_ptr<Trace>& made) {
    for (const auto& old : kept()) {
      if (!accepts(made->signature, old->signature)) continue;
      trace::TraceCache::instance().remove(old->key);
      drop(*old);
    }
    made->key = trace::TraceCache::instance().add(
        static_cast<int64_t>(made->bytes()),
        [self = weak_from_this(), gone = std::weak_ptr<Trace>(made)] {
          const auto state = self.lock();
          const auto trace = gone.lock();
          if (state && trace) state->drop(*trace);
        });
    const std::lock_guard lock(mutex);
    all.push_back(made);
  }

  void drop(const Trace& trace) {
    std::shared_ptr<Trace> gone;  // destroyed without the lock
    const std::lock_guard lock(mutex);
    const auto at = std::find_if(
        all.begin(), all.end(), [&](const std::shared_ptr<Trace>& t) { return t.get() == &trace; });
    if (at == all.end()) return;
    gone = std::move(*at);
    all.erase(at);
  }

  std::shared_ptr<Trace> get(std::span<const Tensor> inputs, const Code& code) {
    if (std::shared_ptr<Trace> known = find(inputs)) return known;
    const std::lock_guard lock(tracing);
    if (std::shared_ptr<Trace> known = find(inputs)) return known;  // another thread was faster
    return new_trace(signature_of(inputs), code);
  }
};

FunctionTraces::FunctionTraces(std::string name) : state_(std::make_shared<State>()) {
  state_->name = std::move(name);
}
FunctionTraces::~FunctionTraces() = default;

namespace {

void run(Trace& trace, std::span<Tensor> inputs, std::span<Tensor> outputs) {
  const uint64_t calls = trace.calls.fetch_add(1, std::memory_order_relaxed) + 1;
  if ((calls & (calls - 1)) == 0 && trace.key) trace::TraceCache::instance().touch(trace.key);
  if (trace.captures.empty()) return trace.program->run(inputs, outputs);
  std::vector<Tensor> given(std::make_move_iterator(inputs.begin()),
                            std::make_move_iterator(inputs.end()));
  given.insert(given.end(), trace.captures.begin(), trace.captures.end());
  trace.program->run(given, outputs);
}

}  // namespace

std::vector<Tensor> FunctionTraces::call(std::span<Tensor> inputs, const Code& code) {
  const std::shared_ptr<Trace> trace = state_->get(inputs, code);
  std::vector<Tensor> outputs(trace->program->num_outputs());
  run(*trace, inputs, outputs);
  return outputs;
}

void FunctionTraces::call_into(std::span<Tensor> inputs, std::span<Tensor> outputs,
                               const Code& code) {
  const std::shared_ptr<Trace> trace = state_->get(inputs, code);
  if (outputs.size() != trace->program->num_outputs()) {
    fail("[", state_->name, "] returns ", trace->program->num_outputs(), " tensors; room for ",
         outputs.size(), " was given");
  }
  run(*trace, inputs, outputs);
}

TracedGraph FunctionTraces::graph(std::span<const Tensor> inputs, const Code& code) {
  const std::shared_ptr<Trace> trace = state_->get(inputs, code);
  return {trace->graph->to_string(), trace->graph->to_dot()};
}

PlanReport FunctionTraces::plan(std::span<const Tensor> inputs, const Code& code) {
  const std::shared_ptr<Trace> trace = state_->get(inputs, code);
  return explain::plan_report(*trace->program, inputs, state_->name);
}

std::vector<TraceInfo> FunctionTraces::traces() const {
  std::vector<TraceInfo> out;
  for (const auto& trace : state_->kept()) {
    std::string signature = state_->name + "(";
    for (size_t i = 0; i < trace->signature.size(); ++i) {
      signature += (i ? ", " : "") + to_text(trace->signature[i]);
    }
    out.push_back({signature + ")", trace->reason, trace->bytes(),
                   trace->calls.load(std::memory_order_relaxed)});
  }
  return out;
}

}  // namespace detail

}  // namespace tidemark
