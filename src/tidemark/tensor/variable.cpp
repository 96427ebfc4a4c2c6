#include <tidemark/variable.h>

#include <cstring>
#include <mutex>

#include "tidemark/base/attached.h"
#include "tidemark/base/backend.h"
#include "tidemark/base/interrupt.h"
#include "tidemark/tensor/handlers.h"
#include "tidemark/tensor/placed.h"
#include "tidemark/tensor/storage.h"
#include "tidemark/tensor/trainable.h"
#include "tidemark/tensor/variable_wait.h"

namespace tidemark {

struct Variable::State {
  std::string name;
  DType dtype = DType::invalid;
  Shape shape;
  uint64_t id = 0;
  mutable std::mutex mutex;
  /// A header of the variable's own, with the variable's id, over a buffer that others may share.
  Tensor value;

  ~State() {
    forget_trainable(id);
    if (value) memory::set_holder(value.impl()->buffer, memory::Holder::value);
  }
};

namespace {

using Lock = WaitingLock;

/// Of a tensor of a graph sizes may be unknown: those are looked at when the graph runs.
bool is_allowed(const Shape& declared, const Shape& given) {
  if (!declared.has_rank() || !given.has_rank()) return true;
  if (declared.rank() != given.rank()) return false;
  for (int i = 0; i < given.rank(); ++i) {
    if (declared[i] >= 0 && given[i] >= 0 && declared[i] != given[i]) return false;
  }
  return true;
}

/// Bytes of another owner may change under us, and a small part would keep a large whole.
bool can_share(const Tensor& t) {
  const memory::Buffer& buffer = *t.impl()->buffer;
  return buffer.holder != memory::Holder::borrowed && buffer.holder != memory::Holder::arena &&
         !t.impl()->read_only && buffer.bytes <= 2 * t.nbytes() + 64;
}

Tensor copy_of(const Tensor& t) {
  if (t.dtype() == DType::string) {
    std::vector<std::string_view> texts;
    for (int64_t i = 0; i < t.num_elements(); ++i) texts.push_back(t.string_at(i));
    return Tensor::of_strings(texts, t.shape());
  }
  Tensor out = new_tensor(t.dtype(), t.shape(), memory::Holder::variable, 0, t.device());
  copy_elements(t, out);
  return out;
}

/// The value under a header that only the variable has.
Tensor own_header(const Tensor& t, uint64_t id) {
  Tensor out = can_share(t) || t.dtype() == DType::string
                   ? view_of(t, t.mutable_raw_data(), t.dtype(), t.shape())
                   : copy_of(t);
  out.impl()->id.store(id, std::memory_order_relaxed);
  memory::set_holder(out.impl()->buffer, memory::Holder::variable);
  return out;
}

}  // namespace

namespace {

/// Writes the elements into the buffer the variable has, where nobody else looks at that.
bool copy_into(Variable::State& state, const Tensor& value) {
  if (value.dtype() == DType::string) return false;
  const Lock lock(state.mutex);
  if (!(state.value.shape() == value.shape()) || !state.value.is_unique()) return false;
  copy_elements(value, state.value);
  return true;
}

thread_local constinit bool may_not_wait = false;

}  // namespace

NoWaiting::NoWaiting() noexcept : outer_(std::exchange(may_not_wait, true)) {}
NoWaiting::~NoWaiting() { may_not_wait = outer_; }

WaitingLock::WaitingLock(std::mutex& mutex) : mutex_(mutex) {
  if (mutex.try_lock()) return;
  if (may_not_wait) fail<FailedPreconditionError>("another thread is at it right now");
  const LockGivenAway meanwhile;
  mutex.lock();
}

Variable::Variable(const Tensor& initial, VariableOptions options) {
  if (!initial) fail("a variable needs an initial value");
  if (initial.is_symbolic()) {
    fail("the initial value of variable '", options.name,
         "' must have elements; it is a tensor of a graph that is being built");
  }
  const Shape declared = options.shape ? *options.shape : initial.shape();
  if (!is_allowed(declared, initial.shape())) {
    fail("the initial value of variable '", options.name, "' has shape ", initial.shape(),
         "; the variable allows ", declared);
  }
  state_ = std::make_shared<State>();
  state_->name = std::move(options.name);
  state_->dtype = initial.dtype();
  state_->shape = declared;
  state_->id = new_tensor_id() | (options.trainable ? kTrainableIds : 0);
  state_->value = own_header(placed(initial), state_->id);  // there it stays, whoever changes it
}

const std::string& Variable::name() const { return state_->name; }
bool Variable::trainable() const { return is_trainable(state_->id); }
DType Variable::dtype() const { return state_->dtype; }
const Shape& Variable::shape() const { return state_->shape; }
uint64_t Variable::id() const { return state_->id; }

Tensor Variable::operand() const {
  if (LastHandler* answers = last_handler()) return answers->read(*this);
  const Lock lock(state_->mutex);
  return state_->value;
}

void Variable::assign(const Tensor& value) {
  if (value.dtype() != state_->dtype) {
    fail("variable '", state_->name, "' holds ", name_of(state_->dtype), "; a value of ",
         name_of(value.dtype()), " was given. Convert it with tf.cast");
  }
  if (!is_allowed(state_->shape, value.shape())) {
    fail("variable '", state_->name, "' allows shape ", state_->shape, "; a value of shape ",
         value.shape(), " was given");
  }
  if (LastHandler* answers = last_handler()) {
    return answers->update(*this, nullptr, std::span(&value, 1), {});
  }
  if (value.is_symbolic()) {
    fail("variable '", state_->name, "' was given a value of a graph that is not being built now");
  }
  if (open_device_count.load(std::memory_order_relaxed) > 1) [[unlikely]] {
    const Device home = operand().device();
    if (value.device() != home) return assign(value.to(home));
  }
  if (!can_share(value) && copy_into(*state_, value)) return;
  Tensor next = own_header(value, state_->id);
  const Lock lock(state_->mutex);
  std::swap(state_->value, next);
  // What readers still hold of the old value is theirs alone from now on.
  if (next.impl()->buffer != state_->value.impl()->buffer) {
    memory::set_holder(next.impl()->buffer, memory::Holder::value);
  }
}

void Variable::transform(const std::function<Tensor(Tensor&)>& change) {
  if (last_handler()) {
    fail<UnimplementedError>("variable '", state_->name,
                             "' cannot be changed by C++ code while a graph is being built");
  }
  const Lock lock(state_->mutex);
  const UninterruptedScope whole;  // a value written in place is the old one or the new one
  Tensor& value = state_->value;
  Tensor next = change(value);
  const bool in_place = next.impl() == value.impl();
  if (in_place) {
    next.impl()->id.store(state_->id, std::memory_order_relaxed);
    return;
  }
  if (value && value.device() != next.device()) next = next.to(value.device());
  if (value && value.impl()->buffer != next.impl()->buffer) {
    memory::set_holder(value.impl()->buffer, memory::Holder::value);
  }
  value = own_header(next, state_->id);
}

}  // namespace tidemark
