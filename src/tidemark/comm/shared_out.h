// A variable whose elements are shared out among workers: each has a part of them, and programs see
// the whole.
//
//   SharedOut v({.group = group, .part = mine, .parts = {0, 5, 10}, .shape = {2, 5}});
//   Tensor y = matmul(x, v.value());              // gathered from all, which all have to read
//   v.update(nullptr, {whole}, {});               // each takes its part; nothing is sent
//
// To tapes the value is the variable, so that gradients by it are whole and each worker's own.
#pragma once

#include <tidemark/variable.h>

#include "tidemark/comm/steps.h"

namespace tidemark::comm {

class TIDEMARK_API SharedOut {
 public:
  struct Told {
    GroupPtr group;
    Variable part;  ///< a vector: this worker's part
    Parts parts;
    Shape shape;  ///< of the whole
    std::string name;
    uint64_t id = 0;  ///< of the variable that programs see
  };
  explicit SharedOut(Told told);

  uint64_t id() const { return told_.id; }
  /// In the graph that the innermost tape records, even if a loop's or a branch's inside of it is
  /// being built: once for all rounds, and by all workers whichever branch they take.
  Tensor value() const;
  /// This worker's part of a tensor like the whole.
  Tensor part_of(const Tensor& whole) const;
  /// As Variable::apply, for values of all elements.
  void update(const OpDef* op, std::span<const Tensor> rest, std::span<const Attr> attrs) const;

 private:
  bool is_whole() const;

  Told told_;
};

/// While it lives, variables on this thread show this worker's part only and are updated by that:
/// in the whole's shape where all of it is here, else as a vector.
class TIDEMARK_API PartsShown {
 public:
  PartsShown();
  ~PartsShown();
  PartsShown(const PartsShown&) = delete;
  PartsShown& operator=(const PartsShown&) = delete;

 private:
  const bool outer_;
};

/// While it lives, what this thread's graphs read and update of the variables with these ids is
/// shared out.
class TIDEMARK_API SharedOutScope {
 public:
  explicit SharedOutScope(std::vector<std::shared_ptr<SharedOut>> variables);
  ~SharedOutScope();
  SharedOutScope(const SharedOutScope&) = delete;
  SharedOutScope& operator=(const SharedOutScope&) = delete;

  /// Null: the variable is as it seems.
  static const SharedOut* find(const Variable& variable) noexcept;

 private:
  const std::vector<std::shared_ptr<SharedOut>> variables_;
  const SharedOutScope* const outer_;
};

}  // namespace tidemark::comm
