#include "tidemark/memory/budget.h"

#include "tidemark/memory/context.h"
#include "tidemark/memory/core.h"

#include <tidemark/error.h>
#include <tidemark/memory.h>

#include <mutex>

namespace tidemark::memory {

Budget* Budget::create(int64_t limit, std::string name, Budget* parent) {
  if (limit < 0) {
    fail<InvalidArgumentError>("A memory limit of ", limit, " bytes was given for \"", name,
                               "\"; it must be zero or more.");
  }
  auto* budget = new Budget(limit, std::move(name), parent);
  if (parent != nullptr) {
    std::lock_guard hold(core.lock);
    ++parent->references_;
  }
  return budget;
}

void Budget::drop(Budget* budget) noexcept {
  Budget* unused = nullptr;
  {
    std::lock_guard hold(core.lock);
    if (--budget->references_ == 0) unused = budget->unlink();
  }
  destroy(unused);
}

Budget* Budget::unlink() noexcept {
  Budget* last = this;
  while (last->parent_ != nullptr && --last->parent_->references_ == 0) last = last->parent_;
  last->parent_ = nullptr;
  return this;
}

void Budget::destroy(Budget* chain) noexcept {
  while (chain != nullptr) delete std::exchange(chain, chain->parent_);
}

int64_t used_of(const Budget* budget) noexcept {
  std::lock_guard hold(core.lock);
  return budget->used();
}

int64_t peak_of(const Budget* budget) noexcept {
  std::lock_guard hold(core.lock);
  return budget->peak();
}

int64_t set_limit_of(Budget* budget, int64_t bytes) {
  int64_t used = 0;
  {
    std::lock_guard hold(core.lock);
    used = budget->used();
    if (bytes >= used) return budget->exchange_limit(bytes);
  }
  fail<InvalidArgumentError>("Cannot set the limit of \"", budget->name(), "\" to ",
                             format_bytes(bytes), ": ", format_bytes(used), " are in use.");
}

LimitScope::LimitScope(int64_t bytes, std::string name)
    : outer_(thread_context.budget),
      budget_(Budget::create(bytes, std::move(name), thread_context.budget)) {
  thread_context.budget = static_cast<Budget*>(budget_);
}

LimitScope::~LimitScope() {
  thread_context.budget = static_cast<Budget*>(outer_);
  Budget::drop(static_cast<Budget*>(budget_));
}

int64_t LimitScope::used() const { return used_of(static_cast<Budget*>(budget_)); }

}  // namespace tidemark::memory
