#include "tidemark/exec/placement.h"

#include <tidemark/error.h>

#include <atomic>
#include <cstdio>
#include <utility>

#include "tidemark/base/settings.h"

namespace tidemark::exec {

namespace {

constinit std::atomic<bool> is_soft{true};

/// Opened with the library, where nobody could catch an error: a name that is none is told on the
/// standard error, and the CPU computes.
Device device_of_setting() noexcept {
  try {
    return Device::named(settings::text(settings::kDevice));
  } catch (const Error& error) {
    std::fprintf(stderr, "tidemark: %s is ignored: %s\n", settings::kDevice.name, error.what());
    return {};
  }
}

const Device default_device = device_of_setting();

constexpr int64_t kMostSmallIntegers = 64;

constexpr uint8_t kNoScope = 255;
thread_local constinit uint8_t innermost __attribute__((tls_model("initial-exec"))) = kNoScope;

}  // namespace

Device placement() noexcept {
  return innermost == kNoScope ? default_device : Device::numbered(innermost);
}

PlacementScope::PlacementScope(Device device) noexcept
    : outer_(std::exchange(innermost, device.number())) {}

PlacementScope::~PlacementScope() { innermost = outer_; }

Device place(Device device) noexcept {
  const Device before = placement();
  innermost = device.number();
  return before;
}

bool stays_on_host(DType dtype, int64_t elements) noexcept {
  const bool counts = dtype == DType::int32 || dtype == DType::int64;
  return dtype == DType::string || (counts && elements <= kMostSmallIntegers);
}

Tensor placed(const Tensor& value) {
  if (value.is_symbolic() || !value.device().is_cpu()) return value;
  return stays_on_host(value.dtype(), value.num_elements()) ? value : value.to(placement());
}

bool set_soft_placement(bool soft) noexcept { return is_soft.exchange(soft); }
bool soft_placement() noexcept { return is_soft.load(std::memory_order_relaxed); }

}  // namespace tidemark::exec
