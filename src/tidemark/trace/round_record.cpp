#include "tidemark/trace/round_record.h"

#include <memory>

#include "tidemark/memory/buffer.h"
#include "tidemark/tensor/headers.h"

namespace tidemark::trace {

namespace {

using Values = std::vector<Tensor>;

Values& values_of(const Tensor& record) {
  return *static_cast<Values*>(record.impl()->buffer->owner);
}

void drop(void* owner) { delete static_cast<Values*>(owner); }

}  // namespace

Tensor record_of(Values&& values, DType dtype, const Shape& element, Device device) {
  Shape shape{static_cast<int64_t>(values.size())};
  for (const int64_t size : element) shape.push_back(size);
  auto owned = std::make_unique<Values>(std::move(values));
  // Its values are counted each: the record itself has no bytes.
  const memory::Request request{0, dtype, &shape, memory::Holder::borrowed};
  Values* owner = owned.release();
  memory::Buffer* buffer = memory::borrow(owner, drop, owner, request);
  detail::TensorImpl* impl = nullptr;
  try {
    impl = detail::new_header();
  } catch (...) {
    memory::release(buffer);
    throw;
  }
  impl->buffer = buffer;
  impl->data = owner;
  impl->dtype = dtype;
  impl->shape = shape;
  impl->num_elements = shape.num_elements();
  impl->device = device;
  impl->read_only = true;
  return Tensor::adopt(impl);
}

Tensor value_of_round(const Tensor& record, int64_t round) {
  return values_of(record)[static_cast<size_t>(round)];
}

Tensor take_round(const Tensor& record, int64_t round) {
  Tensor& value = values_of(record)[static_cast<size_t>(round)];
  const bool is_last_user = record.impl()->refs.load(std::memory_order_acquire) == 1 &&
                            record.impl()->buffer->refs.load(std::memory_order_acquire) == 1;
  return is_last_user ? std::move(value) : value;
}

}  // namespace tidemark::trace
