#include "tidemark/base/precision.h"

#include <atomic>

namespace tidemark {

namespace {

constinit std::atomic<bool> allows_tensor_float_32 = false;

}  // namespace

bool set_tensor_float_32(bool is_allowed) noexcept {
  return allows_tensor_float_32.exchange(is_allowed);
}
bool tensor_float_32() noexcept { return allows_tensor_float_32.load(std::memory_order_relaxed); }

}  // namespace tidemark
