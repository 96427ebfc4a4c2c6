#include <tidemark/bytes.h>
#include <tidemark/handler.h>
#include <tidemark/module.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <ostream>

namespace tidemark::nn {

namespace {

struct Member {
  std::string name;
  Module module;
};

}  // namespace

struct Module::State {
  std::string kind;
  std::vector<NamedVariable> variables;
  std::vector<Member> members;
  std::atomic<bool> is_training = true;
  std::atomic<bool> is_built = true;
  std::mutex building;
};

Module::Module(std::string kind) : state_(std::make_shared<State>()) {
  state_->kind = std::move(kind);
}

const std::string& Module::kind() const { return state_->kind; }

namespace {

template <class Named>
void check_new_name(const std::vector<Named>& all, const std::string& kind,
                    const std::string& name) {
  const bool taken =
      std::any_of(all.begin(), all.end(), [&](const Named& one) { return one.name == name; });
  if (name.empty() || name.find('.') != std::string::npos || taken) {
    fail<InvalidArgumentError>("[", kind, "] a member needs a name of its own, without a dot. ",
                               "Received: \"", name, "\"", taken ? ", which is taken" : "");
  }
}

}  // namespace

void Module::add_member(std::string name, const Module& member) const {
  check_new_name(state_->members, state_->kind, name);
  check_new_name(state_->variables, state_->kind, name);
  state_->members.push_back({std::move(name), member});
}

Variable Module::add(std::string name, const Tensor& initial, bool trainable) const {
  check_new_name(state_->members, state_->kind, name);
  check_new_name(state_->variables, state_->kind, name);
  Variable made(initial, {.name = name, .trainable = trainable});
  state_->variables.push_back({std::move(name), made});
  return made;
}

void Module::will_build() const { state_->is_built = false; }

bool Module::is_built() const { return state_->is_built.load(std::memory_order_acquire); }

void Module::build(void (*make)(void*), void* made_by) const {
  const std::lock_guard hold(state_->building);
  if (is_built()) return;
  const NoHandlers now;
  try {
    make(made_by);
  } catch (...) {
    state_->variables.clear();
    throw;
  }
  state_->is_built.store(true, std::memory_order_release);
}

const Variable& Module::weight(size_t i) const { return state_->variables[i].variable; }

void Module::collect_variables(const Module& from, const std::string& before,
                               std::vector<NamedVariable>& out) {
  if (!from.is_built()) {
    fail<FailedPreconditionError>(
        "[", before.empty() ? from.kind() : before, "] this ", from.kind(),
        " has no weights yet: it makes them when it is first called, for inputs of that size. "
        "Call the model once, on zeros of the right shape, then ask for its weights");
  }
  const std::string start = before.empty() ? "" : before + ".";
  for (const auto& [name, variable] : from.state_->variables) {
    out.push_back({start + name, variable});
  }
  for (const auto& [name, module] : from.state_->members)
    collect_variables(module, start + name, out);
}

std::vector<NamedVariable> Module::named_variables() const {
  std::vector<NamedVariable> out;
  collect_variables(*this, "", out);
  return out;
}

std::vector<Variable> Module::parameters() const {
  std::vector<Variable> out;
  for (NamedVariable& one : named_variables()) {
    if (one.variable.trainable()) out.push_back(std::move(one.variable));
  }
  return out;
}

Variable Module::variable(std::string_view name) const {
  std::string names;
  for (const NamedVariable& one : named_variables()) {
    if (one.name == name) return one.variable;
    names += (names.empty() ? "" : ", ") + one.name;
  }
  fail<NotFoundError>("[", kind(), "] there is no weight \"", name, "\"; there are: ", names);
}

void Module::train(bool on) const {
  state_->is_training = on;
  for (const auto& [name, module] : state_->members) module.train(on);
}

bool Module::is_training() const { return state_->is_training; }

void Module::collect_training(const Module& from, std::vector<Module>& out) {
  if (from.is_training()) out.push_back(from);
  for (const auto& [name, module] : from.state_->members) collect_training(module, out);
}

EvalScope::EvalScope(const Module& module) {
  Module::collect_training(module, training_);
  module.eval();
}

EvalScope::~EvalScope() {
  for (const Module& module : training_) module.state_->is_training = true;
}

namespace {

struct Row {
  std::string name, what, shape, bytes;
};

/// Columns as wide as their widest entry; the last one to the right.
std::string table(const std::vector<Row>& rows) {
  Row widest;
  const auto widen = [](std::string& to, const std::string& text) {
    if (text.size() > to.size()) to = text;
  };
  for (const Row& row : rows) {
    widen(widest.name, row.name);
    widen(widest.what, row.what);
    widen(widest.shape, row.shape);
    widen(widest.bytes, row.bytes);
  }
  const auto padded = [](const std::string& text, const std::string& to) {
    return text + std::string(to.size() - text.size() + 2, ' ');
  };
  std::string out;
  for (const Row& row : rows) {
    out += padded(row.name, widest.name) + padded(row.what, widest.what) +
           padded(row.shape, widest.shape) +
           std::string(widest.bytes.size() - row.bytes.size(), ' ') + row.bytes + "\n";
  }
  return out;
}

}  // namespace

std::string Module::to_string() const {
  const std::vector<NamedVariable> all = named_variables();
  std::vector<Row> rows = {{kind(), "dtype", "shape", "bytes"}};
  int64_t trained = 0, kept = 0;
  for (const auto& [name, variable] : all) {
    const int64_t bytes =
        variable.shape().num_elements() * static_cast<int64_t>(size_of(variable.dtype()));
    (variable.trainable() ? trained : kept) += bytes;
    rows.push_back({name, std::string(name_of(variable.dtype())), variable.shape().to_string(),
                    format_bytes(bytes)});
  }
  std::string out = table(rows) + format_bytes(trained + kept) + " of weights";
  if (kept > 0) out += ", " + format_bytes(kept) + " of them not trained";
  return out + "\n";
}

std::ostream& operator<<(std::ostream& out, const Module& module) {
  return out << module.to_string();
}

}  // namespace tidemark::nn
