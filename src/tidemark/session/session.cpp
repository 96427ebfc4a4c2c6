#include "tidemark/session/session.h"

#include <limits>

#include "tidemark/base/interrupt.h"
#include "tidemark/exec/failed_step.h"
#include "tidemark/memory/runs.h"
#include "tidemark/session/current.h"
#include "tidemark/session/naming_error.h"
#include "tidemark/trace/builder.h"
#include "tidemark/trace/specials.h"

namespace tidemark::session {

namespace {

constexpr size_t kMostPlanBytes = 16 << 20;
constexpr size_t kMostPlans = 256;

uint64_t number_of(const Tensor& t) {
  return graph::node_of(t).sequence << 8 | (graph::symbolic(t).index & 255u);
}

std::vector<uint64_t> key_of(const Request& request) {
  std::vector<uint64_t> key;
  for (const Tensor& t : request.fetches) key.push_back(number_of(t));
  key.push_back(0);
  for (const graph::NodeRef& node : request.operations) key.push_back(node->sequence);
  key.push_back(0);
  for (const auto& [what, value] : request.feeds) key.push_back(number_of(what));
  return key;
}

}  // namespace

Variable Values::find(uint64_t id) const {
  const std::lock_guard hold(mutex_);
  const auto found = variables_.find(id);
  return found == variables_.end() ? Variable() : found->second;
}

void Values::set(uint64_t id, const Variable& variable) {
  const std::lock_guard hold(mutex_);
  variables_[id] = variable;
}

std::vector<Variable> Values::all() const {
  std::vector<Variable> out;
  const std::lock_guard hold(mutex_);
  for (const auto& [id, variable] : variables_) out.push_back(variable);
  return out;
}

void Values::clear() {
  std::map<uint64_t, Variable> gone;
  const std::lock_guard hold(mutex_);
  gone.swap(variables_);
}

Session::Session(int64_t limit) : values_(std::make_shared<Values>()) {
  if (limit > 0) budget_.reset(memory::Budget::create(limit, "session", nullptr));
}
Session::~Session() { close(); }

void Session::close() {
  is_cancelled_.store(true, std::memory_order_relaxed);
  std::map<Key, Plan> gone;
  {
    const std::lock_guard hold(mutex_);
    is_closed_ = true;
    gone.swap(plans_);
    order_.clear();
    bytes_ = 0;
  }
  values_->clear();
}

bool Session::is_closed() const {
  const std::lock_guard hold(mutex_);
  return is_closed_;
}

size_t Session::num_plans() const {
  const std::lock_guard hold(mutex_);
  return plans_.size();
}

size_t Session::plan_bytes() const {
  const std::lock_guard hold(mutex_);
  return bytes_;
}

memory::CacheUse Session::use() const {
  const std::lock_guard hold(mutex_);
  memory::CacheUse use;
  use.name = "plans of a session";
  use.entries = static_cast<int64_t>(plans_.size());
  use.bytes = static_cast<int64_t>(bytes_);
  use.capacity = static_cast<int64_t>(kMostPlanBytes);
  use.hits = hits_;
  use.misses = misses_;
  use.evictions = evictions_;
  return use;
}

std::shared_ptr<const exec::Program> Session::known_plan(const Key& key) {
  const std::lock_guard hold(mutex_);
  if (is_closed_) fail<InternalError>("Attempted to use a closed Session.");
  const auto known = plans_.find(key);
  if (known == plans_.end()) return {};
  ++hits_;
  order_.splice(order_.end(), order_, known->second.used);
  return known->second.program;
}

std::shared_ptr<const exec::Program> Session::new_plan(const Request& request, const Key& key) {
  std::vector<Tensor> given;
  for (const auto& [what, value] : request.feeds) given.push_back(what);
  Plan plan;
  plan.program = exec::Program::build(given, request.fetches, request.operations);
  plan.bytes = plan.program->bytes() + plan.program->graph().node_bytes() + key.size() * 16 + 128;
  const auto program = plan.program;
  const std::lock_guard hold(mutex_);
  ++misses_;
  if (plans_.contains(key) || is_closed_) return program;
  while (!order_.empty() && (bytes_ + plan.bytes > kMostPlanBytes || plans_.size() >= kMostPlans)) {
    const auto oldest = plans_.find(order_.front());
    bytes_ -= oldest->second.bytes;
    plans_.erase(oldest);
    order_.pop_front();
    ++evictions_;
  }
  bytes_ += plan.bytes;
  plan.used = order_.insert(order_.end(), key);
  plans_.emplace(key, std::move(plan));
  return program;
}

std::vector<std::shared_ptr<const exec::Program>> Session::programs() const {
  const std::unique_lock hold(mutex_, std::try_to_lock);
  std::vector<std::shared_ptr<const exec::Program>> out;
  if (!hold) return out;
  for (const auto& [key, plan] : plans_) out.push_back(plan.program);
  return out;
}

std::vector<Tensor> Session::run(const Request& request) {
  exec::failed_step = {};
  try {
    return run_open(request);
  } catch (const Error& error) {
    if (!exec::failed_step.is_set) throw;
    throw_naming_node(error, request);
  }
}

std::vector<Tensor> Session::run_open(const Request& request) {
  const memory::ScopedRun run("a session's run");
  const NoHandlers now;
  const CurrentValues scope(values_);
  const memory::BudgetScope budget(budget_ ? budget_.get() : memory::thread_context.budget);
  Interrupt interrupt{.is_cancelled = &is_cancelled_, .breathe = request.breathe};
  if (request.timeout_ms > 0) {
    interrupt.milliseconds = request.timeout_ms;
    interrupt.deadline = Interrupt::Clock::now() + std::chrono::milliseconds(request.timeout_ms);
  }
  const InterruptScope stoppable(interrupt);
  const Key key = key_of(request);
  auto program = known_plan(key);
  if (!program) {
    // Building a plan looks at nodes, and folding changes them.
    static std::mutex nodes;
    const std::lock_guard hold(nodes);
    const bool is_plain = request.feeds.empty() && request.operations.empty() && !request.trace;
    if (is_plain && request.fetches.size() == 1 && is_constant(request.fetches[0])) {
      std::vector<Tensor> out(1);
      exec::Program::build({}, request.fetches, {}, exec::Compile::never)->run({}, out);
      if (may_forget_past(request.fetches[0])) fold(request.fetches[0], out[0]);
      return out;
    }
    program = new_plan(request, key);
  }
  std::vector<Tensor> inputs, outputs(request.fetches.size());
  for (const auto& [what, value] : request.feeds) inputs.push_back(value);
  if (request.trace) return run_traced(request, *program, inputs);
  program->run(inputs, outputs);
  return outputs;
}

std::vector<Tensor> Session::run_traced(const Request& request, const exec::Program& program,
                                        std::span<Tensor> inputs) {
  using Wall = std::chrono::system_clock;
  std::vector<Tensor> given, outputs(request.fetches.size());
  for (const auto& [what, value] : request.feeds) given.push_back(what);
  const auto nodes = graph::nodes_for(request.fetches, request.operations, given);
  const auto microseconds = [](auto d) {
    return std::chrono::duration_cast<std::chrono::microseconds>(d).count();
  };
  const std::unique_ptr<memory::Budget, DropBudget> whole(memory::Budget::create(
      std::numeric_limits<int64_t>::max() / 2, "a traced run", memory::thread_context.budget));
  const Wall::time_point start = Wall::now();
  request.trace->started_us = microseconds(start.time_since_epoch());
  {
    const memory::BudgetScope scope(whole.get());
    Tracer tracer(*request.trace, nodes);
    const HandlerScope calls(tracer);
    program.run(inputs, outputs);
  }
  request.trace->duration_us = microseconds(Wall::now() - start);
  request.trace->peak_bytes = memory::peak_of(whole.get());
  return outputs;
}

}  // namespace tidemark::session
