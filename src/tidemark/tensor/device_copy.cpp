// Copies between devices.

#include <tidemark/error.h>
#include <tidemark/tensor.h>

#include <cstring>

#include "tidemark/base/backend.h"
#include "tidemark/memory/context.h"
#include "tidemark/tensor/storage.h"

namespace tidemark {

Tensor Tensor::to(Device device) const {
  if (impl_->device == device) return *this;
  if (impl_->is_symbolic) detail::fail_symbolic(*impl_);
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  if (dtype() == DType::string) {
    fail<InvalidArgumentError>("Strings stay on the CPU; a tensor of shape ", shape(),
                               " was asked for on ", device.name());
  }
  if (!impl_->device.is_cpu() && !device.is_cpu()) return to(Device()).to(device);
  Tensor copy = new_tensor(dtype(), shape(), memory::Holder::value, 0, device);
  if (nbytes() == 0) return copy;
  if (device.is_cpu()) {
    backend_of(impl_->device).stream().copy_out(copy.mutable_raw_data(), raw_data(), nbytes());
  } else {
    backend_of(device).stream().copy_in(copy.mutable_raw_data(), raw_data(), nbytes());
  }
  return copy;
}

void copy_elements(const Tensor& from, const Tensor& to) {
  if (to.nbytes() == 0) return;
  const Device source = from.device(), target = to.device();
  if (source == target) {
    if (target.is_cpu()) {
      std::memmove(to.mutable_raw_data(), from.raw_data(), to.nbytes());
    } else {
      backend_of(target).stream().copy(to.mutable_raw_data(), from.raw_data(), to.nbytes());
    }
  } else if (source.is_cpu()) {
    backend_of(target).stream().copy_in(to.mutable_raw_data(), from.raw_data(), to.nbytes());
  } else if (target.is_cpu()) {
    backend_of(source).stream().copy_out(to.mutable_raw_data(), from.raw_data(), to.nbytes());
  } else {
    copy_elements(from.to(Device()), to);
  }
}

}  // namespace tidemark
