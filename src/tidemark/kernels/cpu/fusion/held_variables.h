// Several variables changed as one, each written where it lies.
#pragma once

#include <tidemark/variable.h>

#include <vector>

namespace tidemark::fusion {

class HeldVariables {
 public:
  /// Puts them in an order that is everybody's, so that nobody waits for another in a circle.
  /// `places`: where each of the given went.
  HeldVariables(std::vector<Variable> variables, std::vector<int>& places);

  const std::vector<Variable>& all() const { return variables_; }

  /// Where the variables lie while nobody else can reach them.
  struct Memory {
    std::vector<const void*> from;
    std::vector<void*> to;  // the same place, or another one where somebody holds the old value
  };
  /// Calls `compute` with all of them in hand. None is changed when something is wrong with one.
  void change(const std::function<void(const Memory&)>& compute) const;

 private:
  struct Frame;
  void take(Frame& frame, size_t next) const;

  std::vector<Variable> variables_;  // by id
};

}  // namespace tidemark::fusion
