#include <tidemark/call.h>

#include "tidemark/session/current.h"
#include "tidemark/tensor/storage.h"
#include "tidemark/trace/specials.h"

namespace tidemark::session {

namespace {

thread_local constinit Values* current __attribute__((tls_model("initial-exec"))) = nullptr;

Variable initialized(const GraphVariable& variable) {
  Variable found = current_values().find(variable.id);
  if (!found) {
    fail<FailedPreconditionError>(
        "Attempting to use uninitialized value ", variable.name,
        ". Run its initializer first: sess.run(tf.global_variables_initializer())");
  }
  return found;
}

/// The value under a header of its own: the session's variable goes on changing. `id`: who it is to
/// tapes; 0: nobody they know.
Tensor shown(const Variable& variable, uint64_t id) {
  const Tensor value = variable.operand();
  Tensor out = view_of(value, value.mutable_raw_data(), value.dtype(), value.shape());
  out.impl()->id.store(id, std::memory_order_relaxed);
  return out;
}

/// They ask the session whose run it is, so that nobody can tell what they depend on.
class OfGraphVariable : public graph::Special {
 public:
  explicit OfGraphVariable(GraphVariable variable) : variable_(std::move(variable)) {}
  virtual VariableUse use() const = 0;

 protected:
  GraphVariable variable_;
};

class Read final : public OfGraphVariable {
 public:
  using OfGraphVariable::OfGraphVariable;
  std::string_view name() const override { return "read_variable"; }
  std::string describe() const override { return message("read_variable '", variable_.name, "'"); }
  void run(std::span<Tensor>, std::span<Tensor> outputs) const override {
    outputs[0] = shown(initialized(variable_), variable_.id);
  }
  VariableUse use() const override { return {&variable_}; }
};

class IsInitialized final : public OfGraphVariable {
 public:
  using OfGraphVariable::OfGraphVariable;
  std::string_view name() const override { return "is_variable_initialized"; }
  void run(std::span<Tensor>, std::span<Tensor> outputs) const override {
    outputs[0] = Tensor(static_cast<bool>(current_values().find(variable_.id)));
  }
  VariableUse use() const override { return {&variable_, VariableUse::Kind::is_initialized}; }
};

class Update final : public OfGraphVariable {
 public:
  Update(GraphVariable variable, const OpDef* op, std::vector<Attr> attrs)
      : OfGraphVariable(std::move(variable)), op_(op), attrs_(std::move(attrs)) {}
  std::string_view name() const override { return "update_variable"; }
  std::string describe() const override {
    return message("update_variable '", variable_.name, "' by ", graph::name_of_update(op_));
  }
  graph::Effects effects() const override { return {.is_barrier = true, .must_run = true}; }
  VariableUse use() const override { return {&variable_, VariableUse::Kind::update, op_, attrs_}; }

  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const override {
    Variable found = current_values().find(variable_.id);
    if (!found && !op_) {
      found = Variable(inputs[0], {variable_.name, variable_.trainable, variable_.shape});
      current_values().set(variable_.id, found);
    } else {
      found = initialized(variable_);
      found.apply(op_, inputs, attrs_);
    }
    outputs[0] = shown(found, 0);
  }

 private:
  const OpDef* op_;  // null: assigns
  std::vector<Attr> attrs_;
};

bool depends_on_constants(const graph::Node& node) {
  if (node.op) return true;
  return node.special == trace::constant_special();
}

}  // namespace

CurrentValues::CurrentValues(std::shared_ptr<Values> values)
    : mine_(std::move(values)), outer_(std::exchange(current, mine_.get())) {}
CurrentValues::~CurrentValues() { current = outer_; }

Values& current_values() {
  if (!current) {
    fail<FailedPreconditionError>("a variable of a graph has a value in a session's run only");
  }
  return *current;
}

std::shared_ptr<const graph::Special> read_special(GraphVariable variable) {
  return std::make_shared<Read>(std::move(variable));
}

std::shared_ptr<const graph::Special> is_initialized_special(GraphVariable variable) {
  return std::make_shared<IsInitialized>(std::move(variable));
}

std::shared_ptr<const graph::Special> update_special(GraphVariable variable, const OpDef* op,
                                                     std::vector<Attr> attrs) {
  return std::make_shared<Update>(std::move(variable), op, std::move(attrs));
}

VariableUse variable_use(const graph::Special* special) {
  const auto* of_variable = dynamic_cast<const OfGraphVariable*>(special);
  return of_variable ? of_variable->use() : VariableUse{};
}

bool is_constant(const Tensor& t) {
  for (const graph::Node* node : graph::nodes_for({&t, 1}, {})) {
    if (!depends_on_constants(*node) || !node->before.empty()) return false;
    if (node->op && node->op->is_stateful()) return false;
  }
  return true;
}

bool may_forget_past(const Tensor& t) {
  constexpr size_t kMostRemembered = 32;
  const std::vector<graph::Node*> past = graph::nodes_for({&t, 1}, {});
  if (past.size() > kMostRemembered) return true;
  std::map<const detail::TensorImpl*, uint32_t> handles;  // and how many the past itself has
  std::map<const graph::Node*, uint32_t> outputs;
  for (const graph::Node* node : past) {
    for (const Tensor& input : node->inputs) {
      if (input.is_symbolic() && handles[input.impl()]++ == 0) ++outputs[&graph::node_of(input)];
    }
  }
  for (const auto& [impl, count] : handles) {
    if (impl->refs.load(std::memory_order_relaxed) > count) return false;
  }
  for (const auto& [node, count] : outputs) {
    if (node->refs.load(std::memory_order_relaxed) > count) return false;
  }
  return true;
}

bool fold(const Tensor& t, const Tensor& value) {
  graph::Node& node = graph::node_of(t);
  if (node.outputs.size() != 1 || node.special == trace::constant_special()) return false;
  std::vector<Tensor> past{value};
  node.op = nullptr;
  node.special = trace::constant_special();
  node.attrs.clear();
  node.inputs.swap(past);
  return true;
}

}  // namespace tidemark::session
