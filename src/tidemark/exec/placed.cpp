#include "tidemark/exec/placed.h"

#include "tidemark/base/host_values.h"
#include "tidemark/base/placement.h"

namespace tidemark::exec {

Tensor placed(const Tensor& value) {
  if (value.is_symbolic() || !value.device().is_cpu()) return value;
  return belongs_on_host(value.dtype(), value.num_elements()) ? value : value.to(placement());
}

}  // namespace tidemark::exec
