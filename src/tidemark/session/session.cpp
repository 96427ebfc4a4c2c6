#include "tidemark/session/session.h"

#include "tidemark/session/current.h"
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

void Values::clear() {
  std::map<uint64_t, Variable> gone;
  const std::lock_guard hold(mutex_);
  gone.swap(variables_);
}

Session::Session() : values_(std::make_shared<Values>()) {}
Session::~Session() { close(); }

void Session::close() {
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
  plan.bytes = plan.program->bytes() + key.size() * 16 + 128;
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

std::vector<Tensor> Session::run(const Request& request) {
  const trace::EagerScope eager;
  const CurrentValues scope(values_);
  const Key key = key_of(request);
  auto program = known_plan(key);
  if (!program) {
    // Building a plan looks at nodes, and folding changes them.
    static std::mutex nodes;
    const std::lock_guard hold(nodes);
    const bool is_plain = request.feeds.empty() && request.operations.empty();
    if (is_plain && request.fetches.size() == 1 && is_constant(request.fetches[0])) {
      std::vector<Tensor> out(1);
      exec::Program::build({}, request.fetches)->run({}, out);
      if (may_forget_past(request.fetches[0])) fold(request.fetches[0], out[0]);
      return out;
    }
    program = new_plan(request, key);
  }
  std::vector<Tensor> inputs, outputs(request.fetches.size());
  for (const auto& [what, value] : request.feeds) inputs.push_back(value);
  program->run(inputs, outputs);
  return outputs;
}

}  // namespace tidemark::session
