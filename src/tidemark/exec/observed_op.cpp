#include "tidemark/exec/observed_op.h"

#include <time.h>

namespace tidemark::exec {

uint64_t time_now() noexcept {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

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
