#include "tidemark/exec/observed_op.h"

namespace tidemark::exec {

void tell_called(const OpDef& op) {
  for_each_observer([&](Observer& observer) { observer.op_called(op); });
}

void tell_placed(const OpDef& op, Device device) noexcept {
  for_each_observer([&](Observer& observer) { observer.op_placed(op, device); });
}

void tell_ended(const char* op, uint64_t began) noexcept {
  for_each_observer([&](Observer& observer) { observer.op_ended(op, began); });
}

}  // namespace tidemark::exec
