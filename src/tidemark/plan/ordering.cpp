#include "tidemark/plan/lowering.h"

namespace tidemark::plan {

std::vector<int> Ordering::after_barrier() const {
  return last_barrier_ == kNone ? std::vector<int>() : std::vector{last_barrier_};
}

std::vector<int> Ordering::read(uint64_t variable, int op) {
  std::vector<int> after = after_barrier();
  Uses& uses = variables_[variable];
  if (uses.last_update != kNone) after.push_back(uses.last_update);
  uses.users.push_back(op);
  note(op);
  return after;
}

std::vector<int> Ordering::update(uint64_t variable, int op) {
  std::vector<int> after = after_barrier();
  Uses& uses = variables_[variable];
  if (uses.last_update != kNone) after.push_back(uses.last_update);
  for (const int user : uses.users) {
    if (user != op) after.push_back(user);
  }
  uses = {op, {}};
  note(op);
  return after;
}

std::vector<int> Ordering::draw(int op) {
  std::vector<int> after = after_barrier();
  if (last_draw_ != kNone) after.push_back(last_draw_);
  last_draw_ = op;
  note(op);
  return after;
}

std::vector<int> Ordering::barrier(int op) {
  std::vector<int> after = after_barrier();
  after.insert(after.end(), since_barrier_.begin(), since_barrier_.end());
  since_barrier_.clear();
  last_barrier_ = op;
  return after;
}

}  // namespace tidemark::plan
