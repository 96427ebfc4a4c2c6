// Updates of variables that run ops.
#include <tidemark/call.h>
#include <tidemark/variable.h>

#include "tidemark/exec/eager.h"
#include "tidemark/graph/specials.h"
#include "tidemark/tensor/handlers.h"

namespace tidemark {

namespace {

void check_delta(const Variable& v, const Tensor& delta, const Tensor& value, const char* what) {
  if (delta.dtype() != v.dtype()) {
    fail("[", what, "] variable '", v.name(), "' holds ", name_of(v.dtype()), "; a value of ",
         name_of(delta.dtype()), " was given. Convert it with tf.cast");
  }
  if (delta.shape() != value.shape()) {
    fail("[", what, "] variable '", v.name(), "' has shape ", value.shape(), "; a value of shape ",
         delta.shape(), " was given");
  }
}

/// Where a graph is being built: the update becomes a step of it.
void trace_delta(LastHandler& answers, const Variable& v, const OpDef& op, const Tensor& delta) {
  if (delta.dtype() != v.dtype()) {
    fail("[assign_", op.name(), "] variable '", v.name(), "' holds ", name_of(v.dtype()),
         "; a value of ", name_of(delta.dtype()), " was given. Convert it with tf.cast");
  }
  answers.update(v, &op, std::span(&delta, 1), {});
}

/// What dispatch would check; nothing is converted here.
void check_rest(const OpDef& op, DType dtype, std::span<const Tensor> rest) {
  if (rest.size() + 1 != op.inputs().size()) {
    fail("[", op.name(), "] takes ", op.inputs().size() - 1, " tensors beside the variable; ",
         rest.size(), " were given");
  }
  const char own = op.input_param(0).type_var;
  for (size_t i = 0; i < rest.size(); ++i) {
    const Param& param = op.input_param(static_cast<int>(i) + 1);
    const DType given = rest[i].dtype();
    if (!param.dtypes.contains(given) || (param.type_var == own && given != dtype)) {
      fail("[", op.name(), "] '", param.name, "' has dtype ", name_of(given),
           "; the variable holds ", name_of(dtype));
    }
  }
  if (!op.input_param(0).dtypes.contains(dtype)) {
    fail("[", op.name(), "] cannot update a variable of ", name_of(dtype));
  }
}

/// op(value, rest…), in place where nobody shares the value.
Tensor run_on(const OpDef& op, Tensor& value, std::span<const Tensor> rest,
              std::span<const Attr> given = {}) {
  std::vector<Tensor> inputs;
  inputs.reserve(rest.size() + 1);
  // The only handle on the value moves into the call; it comes back if the call fails.
  inputs.push_back(std::move(value));
  inputs.insert(inputs.end(), rest.begin(), rest.end());
  std::vector<Attr> attrs(given.begin(), given.end());
  for (size_t i = attrs.size(); i < op.attrs().size(); ++i) {
    attrs.push_back(op.params()[static_cast<size_t>(op.attrs()[i])].fallback);
  }
  Tensor out;
  try {
    exec::run_eager({op, inputs, attrs, 1}, {&out, 1});
  } catch (...) {
    value = std::move(inputs[0]);
    throw;
  }
  value = std::move(inputs[0]);
  return out;
}

const OpDef& registered(const char* name) { return OpRegistry::instance().get(name); }
const OpDef& add_op() {
  static const OpDef& add = registered("add");
  return add;
}
const OpDef& subtract_op() {
  static const OpDef& subtract = registered("subtract");
  return subtract;
}

void update_by(Variable& variable, const OpDef& op, std::span<const Tensor> rest,
               std::span<const Attr> attrs) {
  check_rest(op, variable.dtype(), rest);
  if (LastHandler* answers = last_handler()) {
    return answers->update(variable, &op, rest, attrs);
  }
  variable.transform([&](Tensor& value) {
    Tensor out = run_on(op, value, rest, attrs);
    if (out.dtype() != variable.dtype()) {
      fail("[", op.name(), "] gives ", name_of(out.dtype()), "; variable '", variable.name(),
           "' holds ", name_of(variable.dtype()));
    }
    return out;
  });
}

}  // namespace

Tensor Variable::value() const {
  static const OpDef& identity = registered("identity");
  const Tensor now = operand();
  return call(identity, Borrowed<1>(now).span());
}

void Variable::update(std::string_view op, std::span<const Tensor> rest) { update(op, rest, {}); }

void Variable::update(std::string_view op, std::span<const Tensor> rest,
                      std::span<const Attr> attrs) {
  update_by(*this, OpRegistry::instance().get(op), rest, attrs);
}

void Variable::apply(const OpDef* op, std::span<const Tensor> rest, std::span<const Attr> attrs) {
  if (!op) return assign(rest[0]);
  if (op == &add_op()) return assign_add(rest[0]);
  if (op == &subtract_op()) return assign_sub(rest[0]);
  update_by(*this, *op, rest, attrs);
}

void Variable::assign_add(const Tensor& delta) {
  if (LastHandler* answers = last_handler()) {
    return trace_delta(*answers, *this, add_op(), delta);
  }
  transform([&](Tensor& value) {
    check_delta(*this, delta, value, "assign_add");
    return run_on(add_op(), value, Borrowed<1>(delta).span());
  });
}

void Variable::assign_sub(const Tensor& delta) {
  if (LastHandler* answers = last_handler()) {
    return trace_delta(*answers, *this, subtract_op(), delta);
  }
  transform([&](Tensor& value) {
    check_delta(*this, delta, value, "assign_sub");
    return run_on(subtract_op(), value, Borrowed<1>(delta).span());
  });
}

std::string graph::UpdateVariable::describe() const {
  return message("update_variable '", update_.variable.name(), "' by ", name_of_update(update_.op));
}

bool graph::UpdateVariable::equals(const Special& other) const {
  return static_cast<const UpdateVariable&>(other).update_ == update_;
}

void graph::UpdateVariable::run(std::span<Tensor> inputs, std::span<Tensor>) const {
  Variable variable = update_.variable;
  variable.apply(update_.op, inputs, update_.attrs);
}

}  // namespace tidemark
