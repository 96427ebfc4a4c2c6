#include "tidemark/tensor/storage.h"

#include <tidemark/bytes.h>

#include "tidemark/base/upcalls.h"
#include "tidemark/tensor/headers.h"

namespace tidemark {

size_t bytes_for(DType dtype, int64_t count, int64_t extra) {
  int64_t bytes = 0;
  if (__builtin_mul_overflow(count, static_cast<int64_t>(size_of(dtype)), &bytes) ||
      __builtin_add_overflow(bytes, extra, &bytes)) {
    fail<ResourceExhaustedError>("a tensor of ", count, " elements of ", name_of(dtype),
                                 " would need more than 2^63 - 1 bytes");
  }
  return static_cast<size_t>(bytes);
}

namespace {

/// Takes over the caller's reference to the buffer, also when it fails.
detail::TensorImpl* header_over(memory::Buffer* buffer) {
  try {
    detail::TensorImpl* impl = detail::new_header();
    impl->buffer = buffer;
    return impl;
  } catch (...) {
    memory::release(buffer);
    throw;
  }
}

}  // namespace

Tensor new_tensor(DType dtype, const Shape& shape, memory::Holder holder, int64_t extra,
                  Device device) {
  const int64_t count = shape.num_elements();
  memory::Buffer* buffer =
      memory::allocate({bytes_for(dtype, count, extra), dtype, &shape, holder, device});
  detail::TensorImpl* impl = header_over(buffer);
  impl->dtype = dtype;
  impl->device = device;
  impl->data = buffer->data;
  impl->num_elements = count;
  impl->shape = shape;
  return Tensor::adopt(impl);
}

Tensor view_of(const Tensor& base, void* data, DType dtype, Shape shape) {
  const int64_t count = shape.num_elements();
  detail::TensorImpl* impl = detail::new_header();
  impl->dtype = dtype;
  impl->read_only = base.impl()->read_only;
  impl->device = base.impl()->device;
  impl->data = data;
  impl->num_elements = count;
  impl->shape = std::move(shape);
  impl->buffer = base.impl()->buffer;
  memory::retain(impl->buffer);
  return Tensor::adopt(impl);
}

Tensor borrowed_tensor(DType dtype, const Shape& shape, void* data, bool read_only,
                       void (*give_back)(void*), void* owner, Device device) {
  memory::Request request{0, dtype, &shape, memory::Holder::borrowed, device};
  int64_t count = 0;
  try {
    count = shape.num_elements();
    request.bytes = bytes_for(dtype, count);
  } catch (...) {
    give_back(owner);
    throw;
  }
  memory::Buffer* buffer = memory::borrow(data, give_back, owner, request);
  detail::TensorImpl* impl = header_over(buffer);
  impl->dtype = dtype;
  impl->device = device;
  impl->read_only = read_only;
  impl->data = data;
  impl->num_elements = count;
  impl->shape = shape;
  return Tensor::adopt(impl);
}

uint64_t new_tensor_id() noexcept {
  static constinit std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

uint64_t id_of(const Tensor& t) noexcept {
  std::atomic<uint64_t>& id = t.impl()->id;
  uint64_t known = id.load(std::memory_order_relaxed);
  if (known != 0) return known;
  const uint64_t fresh = new_tensor_id();
  return id.compare_exchange_strong(known, fresh, std::memory_order_relaxed) ? fresh : known;
}

Tensor shape_only(const Tensor& t) {
  detail::TensorImpl* impl = detail::new_header();
  impl->dtype = t.dtype();
  impl->num_elements = t.num_elements();
  impl->shape = t.shape();
  return Tensor::adopt(impl);
}

namespace detail {

std::vector<int64_t> known_ints(const TensorImpl& impl) { return upcalls.known_ints(impl); }

void fail_symbolic(const TensorImpl& impl) {
  fail<FailedPreconditionError>(
      "the elements of a tensor of shape ", impl.shape,
      " were asked for while the computation is being traced: they are there when it runs");
}

void fail_elsewhere(const TensorImpl& impl) {
  fail<FailedPreconditionError>("the elements of a tensor of shape ", impl.shape, " lie on ",
                                impl.device.name(),
                                ", where the host cannot read them: copy them with to(Device())");
}

void destroy(TensorImpl* impl) noexcept {
  if (impl->is_symbolic) return upcalls.destroy_symbolic(impl);
  memory::Buffer* buffer = impl->buffer;
  detail::free_header(impl);
  if (buffer) memory::release(buffer);
}

}  // namespace detail

}  // namespace tidemark
