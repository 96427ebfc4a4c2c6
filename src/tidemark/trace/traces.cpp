#include "tidemark/trace/traces.h"

#include <algorithm>

#include "tidemark/graph/compare.h"
#include "tidemark/trace/trace_cache.h"

namespace tidemark::trace {

namespace {

constexpr int kTooManyFromOnePlace = 5;
constexpr size_t kMostPlaces = 256;

/// How a leaf that no trace fits differs from what there was.
std::string_view kind_of_difference(const Argument& given) {
  if (given.kind() == Argument::Kind::tensor) return "shape";
  const bool is_object = given.kind() == Argument::Kind::value && given.value().is_object();
  return is_object ? "identity" : "value";
}

bool have_same_graph(const Trace& a, const Trace& b) {
  return std::ranges::equal(a.program->donated(), b.program->donated()) &&
         graph::are_same(*a.graph, *b.graph);
}

/// Arguments that make no difference share a graph.
void share_graph(Trace& made, const std::vector<TracePtr>& known) {
  const auto twin = std::ranges::find_if(
      known, [&](const TracePtr& other) { return have_same_graph(*other, made); });
  if (twin != known.end()) made.take_graph_of(**twin);
}

}  // namespace

Trace::~Trace() {
  if (cache_key) TraceCache::instance().remove(cache_key);
}

size_t Trace::bytes() const {
  return sizeof(Trace) + signature.args.size() * sizeof(Argument) + graph->bytes() +
         program->bytes();
}

void Trace::take_graph_of(const Trace& twin) {
  graph = twin.graph;
  program = twin.program;
}

void Trace::touch() {
  if (cache_key) TraceCache::instance().touch(cache_key);
}

std::vector<TracePtr> Traces::kept() const {
  std::vector<TracePtr> out;
  lock_->run_alone([&] { out = all_; });
  return out;
}

std::vector<TracePtr> Traces::clear() {
  std::vector<TracePtr> out;
  lock_->run_alone([&] { out.swap(all_); });
  return out;
}

TracePtr Traces::find_kept(const Signature& call) const {
  const std::vector<TracePtr> known = kept();
  const auto found = std::find_if(known.rbegin(), known.rend(), [&](const TracePtr& trace) {
    return trace->signature.accepts(call);
  });
  return found == known.rend() ? nullptr : *found;
}

Traces::Answer Traces::get(const Signature& call, Tracer& tracer) {
  if (TracePtr known = find_kept(call)) return {std::move(known)};
  lock_->wait_for(tracing_);
  const std::lock_guard tracing(tracing_, std::adopt_lock);
  if (TracePtr known = find_kept(call)) return {std::move(known)};  // another thread was faster
  Answer answer{make(call, tracer), true};
  if (!answer.trace->is_for_one_call) answer.too_many = too_many_from(answer.trace->place);
  return answer;
}

TracePtr Traces::get_exactly(const Signature& call, Tracer& tracer, std::string_view reason) {
  lock_->wait_for(tracing_);
  const std::lock_guard tracing(tracing_, std::adopt_lock);
  const std::vector<TracePtr> known = kept();
  for (const TracePtr& trace : known) {
    if (trace->signature == call) return trace;
  }
  TracePtr made = tracer.trace(call);
  made->reason = reason;
  made_ += made->code_runs;
  share_graph(*made, known);
  if (!made->is_for_one_call) keep(made);
  return made;
}

TracePtr Traces::make(const Signature& call, Tracer& tracer) {
  const std::vector<TracePtr> known = kept();
  Why why = explain(known, call, tracer);
  Signature wanted{call.structure, to_trace_for(known, call)};
  TracePtr made;
  if (declared_.empty() && wanted.args != call.args) {
    made = tracer.try_trace(wanted);
    for (size_t i = 0; !made && i < call.args.size(); ++i) {
      if (wanted.args[i] != call.args[i]) needed_.insert(i);
    }
  }
  if (!made) made = tracer.trace(declared_.empty() ? call : wanted);
  made->reason = std::move(why.reason);
  made->differed = std::move(why.differed);
  made_ += made->code_runs;
  share_graph(*made, known);
  if (made->is_for_one_call) return made;
  for (const TracePtr& old : known) {
    if (made->signature.accepts(old->signature)) drop(*old);
  }
  keep(made);
  return made;
}

Traces::Why Traces::explain(const std::vector<TracePtr>& known, const Signature& call,
                            const Tracer& tracer) const {
  if (known.empty()) return {made_ ? "the earlier trace was dropped" : "first call", {}};
  const Signature& last = known.back()->signature;
  if (!last.is_like(call)) return {"the structure of the arguments differs", {"structure"}};
  Why why;
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (last.args[i].accepts(call.args[i])) continue;
    why.differed.insert(kind_of_difference(call.args[i]));
    if (!why.reason.empty()) why.reason += "; ";
    why.reason += message(tracer.name_of(i), ": ", tracer.text_of(last.args[i]), " -> ",
                          tracer.text_of(call.args[i]));
  }
  if (why.reason.empty()) why.reason = "an object that was an argument has gone";
  return why;
}

std::vector<Argument> Traces::to_trace_for(const std::vector<TracePtr>& known,
                                           const Signature& call) const {
  if (!declared_.empty()) {
    std::vector<Argument> out = declared_;
    for (size_t i = out.size(); i < call.args.size(); ++i) out.push_back(call.args[i]);
    return out;
  }
  for (size_t i = known.size(); i-- > 0;) {
    if (auto both = joined(known[i]->signature, call)) return *std::move(both);
  }
  return call.args;
}

/// What fits both; nothing: they differ in more than sizes and numbers, or in what the code needs.
std::optional<std::vector<Argument>> Traces::joined(const Signature& known,
                                                    const Signature& call) const {
  if (!known.is_like(call)) return {};
  std::vector<Argument> out;
  for (size_t i = 0; i < call.args.size(); ++i) {
    std::optional<Argument> both;
    if (known.args[i].accepts(call.args[i])) {
      both = known.args[i];
    } else if (!needed_.contains(i)) {
      both = known.args[i].joined(call.args[i]);
    }
    if (!both) return {};
    out.push_back(*std::move(both));
  }
  return out;
}

void Traces::keep(const TracePtr& made) {
  lock_->run_alone([&] { all_.push_back(made); });
  made->cache_key =
      TraceCache::instance().add(static_cast<int64_t>(made->bytes()),
                                 [self = weak_from_this(), gone = std::weak_ptr<Trace>(made)] {
                                   const auto traces = self.lock();
                                   const auto trace = gone.lock();
                                   if (traces && trace) traces->drop(*trace);
                                 });
}

void Traces::drop(const Trace& trace) {
  TracePtr gone;  // destroyed without the lock
  lock_->run_alone([&] {
    const auto at =
        std::ranges::find_if(all_, [&](const TracePtr& t) { return t.get() == &trace; });
    if (at == all_.end()) return;
    gone = std::move(*at);
    all_.erase(at);
  });
}

int Traces::too_many_from(const std::string& place) {
  if (place.empty()) return 0;
  const int count = ++by_place_[place];
  if (by_place_.size() > kMostPlaces) by_place_.clear();
  return count == kTooManyFromOnePlace ? count : 0;
}

}  // namespace tidemark::trace
