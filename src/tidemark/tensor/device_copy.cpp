// Copies between devices.

#include <tidemark/error.h>
#include <tidemark/tensor.h>

#include <cstring>

#include "tidemark/base/attached.h"
#include "tidemark/base/backend.h"
#include "tidemark/memory/context.h"
#include "tidemark/memory/device_memory.h"
#include "tidemark/tensor/storage.h"

namespace tidemark {

namespace {

/// Bytes whose copy to a device takes long enough for others to want the front end's lock.
constexpr size_t kLongCopy = 64 << 10;

/// Beside what the device computes meanwhile: after the last use of what lay there before, and
/// before whatever is enqueued next.
void upload(const Tensor& from, const Tensor& to) {
  Accelerator& accelerator = accelerator_of(to.device());
  Stream& uploads = accelerator.upload_stream();
  const LockGivenAway meanwhile(from.nbytes() >= kLongCopy);
  uploads.follow(memory::memory_of(to.device()).free_since(*to.impl()->buffer));
  uploads.copy_in(to.mutable_raw_data(), from.raw_data(), from.nbytes());
  accelerator.stream().follow(uploads.now());
}

/// Waits for whatever computes the elements.
void download(const Tensor& from, const Tensor& to) {
  const LockGivenAway meanwhile;
  accelerator_of(from.device())
      .stream()
      .copy_out(to.mutable_raw_data(), from.raw_data(), from.nbytes());
}

}  // namespace

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
    download(*this, copy);
  } else {
    upload(*this, copy);
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
      accelerator_of(target).stream().copy(to.mutable_raw_data(), from.raw_data(), to.nbytes());
    }
  } else if (source.is_cpu()) {
    accelerator_of(target).stream().copy_in(to.mutable_raw_data(), from.raw_data(), to.nbytes());
  } else if (target.is_cpu()) {
    download(from, to);
  } else {
    copy_elements(from.to(Device()), to);
  }
}

}  // namespace tidemark
