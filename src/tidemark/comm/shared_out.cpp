#include "tidemark/comm/shared_out.h"

#include <tidemark/call.h>
#include <tidemark/op.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tidemark/tensor/handlers.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::comm {

namespace {

thread_local constinit const SharedOutScope* innermost = nullptr;
thread_local constinit bool shows_parts = false;

/// The builder below the innermost tape, where there are others on top of that; null: there are
/// none.
Handler* recorded_builder() noexcept {
  bool is_inside = false;
  Handler* handler = top_handler();
  while (handler && handler->is_last()) {
    is_inside = true;
    handler = handler->below();
  }
  if (!is_inside || !handler) return nullptr;
  while (handler && !handler->is_last()) handler = handler->below();
  return handler;
}

/// This thread's calls go to another handler until the end of the scope; null: to the same as
/// before.
class Moved {
 public:
  explicit Moved(Handler* to) noexcept : top_(detail::topmost) {
    if (to) detail::topmost = to;
  }
  ~Moved() { detail::topmost = top_; }
  Moved(const Moved&) = delete;

 private:
  Handler* const top_;
};

Tensor vector_of(std::span<const int64_t> values) {
  Tensor out = new_tensor(DType::int64, Shape({static_cast<int64_t>(values.size())}));
  std::copy(values.begin(), values.end(), static_cast<int64_t*>(out.mutable_raw_data()));
  return out;
}

Tensor flat(const Tensor& t) { return call("reshape", {t, vector_of(std::array{int64_t{-1}})}); }

}  // namespace

SharedOut::SharedOut(Told told) : told_(std::move(told)) {
  const auto rank = static_cast<size_t>(told_.group->rank());
  if (told_.parts.size() != static_cast<size_t>(told_.group->size()) + 1 ||
      told_.part.shape() != Shape({told_.parts[rank + 1] - told_.parts[rank]})) {
    fail("[gather] worker ", rank, " has a part of ", told_.shape, " of shape ", told_.part.shape(),
         ", which is not what the bounds of the parts say");
  }
}

bool SharedOut::is_whole() const {
  return told_.part.shape().num_elements() == told_.shape.num_elements();
}

Tensor SharedOut::value() const {
  if (shows_parts) {
    const Tensor own = told_.part.value();
    return is_whole() ? call("reshape", {own, vector_of({told_.shape.begin(),
                                                         static_cast<size_t>(told_.shape.rank())})})
                      : own;
  }
  const Moved moved(recorded_builder());
  // The part alone is nothing that anybody takes gradients by.
  const Tensor own = call("stop_gradient", {told_.part.value()});
  return gather(told_.group, {&own, 1}, {told_.parts}, {told_.shape}, told_.name, told_.id)[0];
}

Tensor SharedOut::part_of(const Tensor& whole) const {
  const auto rank = static_cast<size_t>(told_.group->rank());
  const int64_t begin = told_.parts[rank], count = told_.parts[rank + 1] - begin;
  return call("slice", {flat(whole), vector_of({&begin, 1}), vector_of({&count, 1})});
}

void SharedOut::update(const OpDef* op, std::span<const Tensor> rest,
                       std::span<const Attr> attrs) const {
  Variable part = told_.part;
  if (shows_parts) {
    std::vector<Tensor> own(rest.begin(), rest.end());
    for (Tensor& t : own) {
      if (is_whole() && t.shape() == told_.shape) t = flat(t);
    }
    return part.apply(op, own, attrs);
  }
  const bool is_alike = rest.size() == 1 && rest[0].shape() == told_.shape;
  if (is_alike && (!op || op->works_on_elements())) {
    const Tensor own = part_of(rest[0]);
    return part.apply(op, {&own, 1}, attrs);
  }
  if (!op) {
    fail("a variable of shape ", told_.shape, " is assigned a value of shape ", rest[0].shape());
  }
  std::vector<Tensor> inputs{value()};
  inputs.insert(inputs.end(), rest.begin(), rest.end());
  const Tensor own = part_of(call(*op, inputs, attrs));
  part.apply(nullptr, {&own, 1}, {});
}

PartsShown::PartsShown() : outer_(std::exchange(shows_parts, true)) {}

PartsShown::~PartsShown() { shows_parts = outer_; }

SharedOutScope::SharedOutScope(std::vector<std::shared_ptr<SharedOut>> variables)
    : variables_(std::move(variables)), outer_(std::exchange(innermost, this)) {}

SharedOutScope::~SharedOutScope() { innermost = outer_; }

const SharedOut* SharedOutScope::find(const Variable& variable) noexcept {
  if (!innermost) return nullptr;
  for (const auto& one : innermost->variables_) {
    if (one->id() == variable.id()) return one.get();
  }
  return nullptr;
}

}  // namespace tidemark::comm
