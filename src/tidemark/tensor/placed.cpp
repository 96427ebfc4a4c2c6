#include "tidemark/tensor/placed.h"

#include "tidemark/base/backend.h"
#include "tidemark/base/host_values.h"
#include "tidemark/base/placement.h"

namespace tidemark {

Tensor placed(const Tensor& value) {
  if (open_device_count.load(std::memory_order_relaxed) == 1) [[likely]]
    return value;
  if (value.is_symbolic() || !value.device().is_cpu()) return value;
  return belongs_on_host(value.dtype(), value.num_elements()) ? value : value.to(placement());
}

}  // namespace tidemark
