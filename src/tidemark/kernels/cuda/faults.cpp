#include "tidemark/kernels/cuda/faults.h"

#include <algorithm>
#include <atomic>

namespace tidemark::cuda {

namespace {

constexpr uint64_t kKinds = 16;

[[noreturn]] void fail_as(const OpDef& op, FaultKind kind, int64_t value, int64_t limit) {
  const auto refuse = [&](const auto&... words) {
    fail<InvalidArgumentError>("[", op.name(), "] ", words..., " (found on a GPU)");
  };
  switch (kind) {
    case FaultKind::division_by_zero:
      refuse("Integer division by zero: 'y' holds a 0; use tf.math.divide_no_nan or floats");
      break;
    case FaultKind::negative_power:
      refuse("Integers to negative integer powers are not allowed: 'y' holds ", value);
      break;
    case FaultKind::index:
      refuse("indices hold ", value, ", which is not in [0, ", limit, ")");
      break;
    case FaultKind::segment:
      refuse("segment_ids hold ", value, ", which is out of range [0, ", limit, ")");
      break;
    case FaultKind::label:
      refuse("Received a label value of ", value, " which is outside the valid range of [0, ",
             limit, ")");
      break;
    case FaultKind::not_positive:
      refuse("Cholesky decomposition was not successful. The input might not be valid: matrix ",
             value, " is not positive definite");
      break;
    case FaultKind::singular:
      refuse("Input is not invertible. Matrix ", value, " is singular");
      break;
    case FaultKind::zero_diagonal:
      refuse("Input matrix is not invertible.");
      break;
    case FaultKind::length:
      refuse("lengths must be from 0 to ", limit, "; one is ", value);
      break;
  }
  fail<InternalError>("[", op.name(), "] has a fault of no kind");
}

}  // namespace

Faults::~Faults() {
  if (!found_ || context_.driver().push_context(context_.handle()) != kDone) return;
  context_.driver().unpin(found_);
  context_.driver().pop_context();
}

Faults::Word Faults::word(const OpDef& op, FaultKind kind) {
  const std::lock_guard hold(mutex_);
  if (!found_) {
    void* memory = nullptr;
    context_.check(context_.driver().pin(&memory, sizeof(Found)), "cuMemAllocHost");
    found_ = new (memory) Found{};
  }
  auto known = std::find(ops_.begin(), ops_.end(), &op);
  if (known == ops_.end()) known = ops_.insert(ops_.end(), &op);
  const auto number = static_cast<uint64_t>(known - ops_.begin());
  return {reinterpret_cast<uint64_t>(found_), number * kKinds + static_cast<uint64_t>(kind) + 1};
}

void Faults::check() {
  const std::lock_guard hold(mutex_);
  if (!found_) return;
  // Written by the GPU before the event that was waited for.
  std::atomic_ref<uint64_t> code(found_->code);
  const uint64_t seen = code.load(std::memory_order_acquire);
  if (seen == 0) return;
  const int64_t value = found_->value, limit = found_->limit;
  code.store(0, std::memory_order_release);
  fail_as(*ops_[(seen - 1) / kKinds], static_cast<FaultKind>((seen - 1) % kKinds), value, limit);
}

}  // namespace tidemark::cuda
