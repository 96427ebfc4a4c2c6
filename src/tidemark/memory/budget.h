// Budget: a limit for what is allocated inside a scope. Budgets nest; the outermost is the process
// limit, which the core keeps itself.
//
// A buffer stays charged to the budget it was allocated in, and to all around that one, until it
// dies, whether or not the scope has ended and on whatever thread. So budgets are reference
// counted: by their scope, by their buffers and by the budgets inside them.
//
// The caller holds the core's lock, except where said otherwise.
#pragma once

#include "tidemark/memory/context.h"

#include <tidemark/export.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace tidemark::memory {

class TIDEMARK_API Budget {
 public:
  /// A budget inside `parent` (null: directly inside the process limit), with one reference for the
  /// caller. Takes the lock.
  static Budget* create(int64_t limit, std::string name, Budget* parent);
  /// Gives up the caller's reference. Takes the lock.
  static void drop(Budget* budget) noexcept;

  /// The innermost budget that has no room for `bytes`; null when all have.
  const Budget* without_room(int64_t bytes) const noexcept {
    for (const Budget* b = this; b != nullptr; b = b->parent_) {
      if (bytes > b->limit_ - b->used_) return b;
    }
    return nullptr;
  }
  /// What this budget and all around it still have room for.
  int64_t room() const noexcept {
    int64_t least = limit_ - used_;
    for (const Budget* b = parent_; b != nullptr; b = b->parent_) {
      least = std::min(least, b->limit_ - b->used_);
    }
    return least;
  }
  void charge(int64_t bytes) noexcept {
    ++references_;
    increase(bytes);
  }
  /// A buffer became larger.
  void increase(int64_t bytes) noexcept {
    for (Budget* b = this; b != nullptr; b = b->parent_) {
      b->used_ += bytes;
      if (b->used_ > b->peak_) b->peak_ = b->used_;
    }
  }
  /// A buffer became smaller.
  void reduce(int64_t bytes) noexcept {
    for (Budget* b = this; b != nullptr; b = b->parent_) b->used_ -= bytes;
  }
  /// A buffer is gone. Returns a chain (through parent) of budgets nobody refers to any more, to be
  /// deleted with `destroy` after the lock is released; usually null.
  [[nodiscard]] Budget* discharge(int64_t bytes) noexcept {
    reduce(bytes);
    return --references_ == 0 ? unlink() : nullptr;
  }
  static void destroy(Budget* chain) noexcept;

  int64_t limit() const noexcept { return limit_; }
  int64_t used() const noexcept { return used_; }
  int64_t peak() const noexcept { return peak_; }
  const std::string& name() const noexcept { return name_; }
  Budget* parent() const noexcept { return parent_; }
  /// Returns the old limit.
  int64_t exchange_limit(int64_t limit) noexcept { return std::exchange(limit_, limit); }

 private:
  Budget(int64_t limit, std::string name, Budget* parent)
      : limit_(limit), name_(std::move(name)), parent_(parent) {}
  /// Drops the reference to the parent, and so on upwards.
  Budget* unlink() noexcept;

  int64_t limit_;
  int64_t used_ = 0;
  int64_t peak_ = 0;
  int64_t references_ = 1;
  std::string name_;
  Budget* parent_;
};

/// Charges what this thread allocates to the budget (and all around it), until the end of the
/// scope.
class BudgetScope {
 public:
  explicit BudgetScope(Budget* budget) : outer_(std::exchange(thread_context.budget, budget)) {}
  ~BudgetScope() { thread_context.budget = outer_; }
  BudgetScope(const BudgetScope&) = delete;
  BudgetScope& operator=(const BudgetScope&) = delete;

 private:
  Budget* outer_;
};

/// Readings that take the lock.
TIDEMARK_API int64_t used_of(const Budget* budget) noexcept;
TIDEMARK_API int64_t peak_of(const Budget* budget) noexcept;
/// Throws InvalidArgumentError below what is in use. Returns the old limit.
TIDEMARK_API int64_t set_limit_of(Budget* budget, int64_t bytes);

}  // namespace tidemark::memory
