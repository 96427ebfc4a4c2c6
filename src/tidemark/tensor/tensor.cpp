#include <tidemark/tensor.h>

#include <cstring>

#include "tidemark/memory/context.h"
#include "tidemark/tensor/storage.h"

/// Buffers made in this function belong to the line that called it.
#define TIDEMARK_SITE_OF_CALLER() \
  const memory::ScopedSite site_of_caller(memory::site_of_address(__builtin_return_address(0)))

namespace tidemark {

namespace {

template <class T>
Tensor scalar(T value) {
  Tensor t = new_tensor(dtype_of<T>(), Shape{});
  *static_cast<T*>(t.mutable_raw_data()) = value;
  return t;
}

template <class T>
void widen(const Tensor& t, std::vector<int64_t>& out) {
  for (T value : t.values<T>()) out.push_back(static_cast<int64_t>(value));
}

}  // namespace

#define TIDEMARK_SCALAR_CONSTRUCTOR(type) \
  Tensor::Tensor(type value) {            \
    TIDEMARK_SITE_OF_CALLER();            \
    *this = scalar(value);                \
  }
TIDEMARK_SCALAR_CONSTRUCTOR(float)
TIDEMARK_SCALAR_CONSTRUCTOR(double)
TIDEMARK_SCALAR_CONSTRUCTOR(int32_t)
TIDEMARK_SCALAR_CONSTRUCTOR(int64_t)
TIDEMARK_SCALAR_CONSTRUCTOR(bool)
#undef TIDEMARK_SCALAR_CONSTRUCTOR

Tensor::Tensor(const char* text) {
  TIDEMARK_SITE_OF_CALLER();
  const std::string_view all[] = {text};
  *this = of_strings(all, {});
}

Tensor Tensor::uninitialized(DType dtype, const Shape& shape) {
  TIDEMARK_SITE_OF_CALLER();
  return new_tensor(dtype, shape);
}

Tensor Tensor::copy_of(DType dtype, const void* values, int64_t count, const Shape& shape,
                       const void* caller) {
  const memory::ScopedSite here(memory::site_of_address(caller));
  if (shape.num_elements() != count) {
    fail("shape ", shape.to_string(), " has ", shape.num_elements(), " elements; ", count,
         " values were given");
  }
  Tensor t = new_tensor(dtype, shape);
  if (count > 0) std::memcpy(t.mutable_raw_data(), values, t.nbytes());
  return t;
}

Tensor Tensor::of_strings(std::span<const std::string_view> values, const Shape& shape) {
  TIDEMARK_SITE_OF_CALLER();
  const auto count = static_cast<int64_t>(values.size());
  if (shape.num_elements() != count) {
    fail("shape ", shape.to_string(), " has ", shape.num_elements(), " elements; ", count,
         " strings were given");
  }
  int64_t characters = 0;
  for (std::string_view value : values) characters += static_cast<int64_t>(value.size());
  Tensor t = new_tensor(DType::string, shape, memory::Holder::value, characters);
  auto* refs = static_cast<StringRef*>(t.mutable_raw_data());
  uint64_t offset = t.nbytes();
  char* base = static_cast<char*>(t.impl()->buffer->data);
  for (std::string_view value : values) {
    *refs++ = {offset, value.size()};
    if (!value.empty()) std::memcpy(base + offset, value.data(), value.size());
    offset += value.size();
  }
  return t;
}

std::string_view Tensor::string_at(int64_t index) const {
  const StringRef ref = data<StringRef>()[index];
  return {static_cast<const char*>(impl_->buffer->data) + ref.offset, ref.length};
}

std::vector<int64_t> Tensor::to_ints() const {
  if (is_symbolic()) return detail::known_ints(*impl_);
  if (!device().is_cpu()) return to(Device()).to_ints();
  std::vector<int64_t> out;
  out.reserve(static_cast<size_t>(num_elements()));
  switch (dtype()) {
    case DType::int32:
      widen<int32_t>(*this, out);
      break;
    case DType::int64:
      widen<int64_t>(*this, out);
      break;
    case DType::int16:
      widen<int16_t>(*this, out);
      break;
    case DType::int8:
      widen<int8_t>(*this, out);
      break;
    case DType::uint8:
      widen<uint8_t>(*this, out);
      break;
    case DType::uint16:
      widen<uint16_t>(*this, out);
      break;
    case DType::uint32:
      widen<uint32_t>(*this, out);
      break;
    case DType::uint64:
      widen<uint64_t>(*this, out);
      break;
    case DType::bool_:
      widen<bool>(*this, out);
      break;
    default:
      fail("integers are needed here; given a tensor of ", name_of(dtype()));
  }
  return out;
}

Tensor Tensor::reshaped(const Shape& shape) const {
  if (shape.num_elements() != num_elements()) {
    fail("shape ", shape.to_string(), " has ", shape.num_elements(), " elements; the tensor has ",
         num_elements());
  }
  return view_of(*this, impl_->data, impl_->dtype, shape);
}

Tensor Tensor::rows(int64_t begin, int64_t count) const {
  if (rank() == 0) fail("a scalar has no rows");
  if (begin < 0 || count < 0 || begin > dim(0) - count) {
    fail("rows [", begin, ", ", begin + count, ") are outside of the ", dim(0), " rows there are");
  }
  Shape shape = this->shape();
  shape[0] = count;
  const size_t row_bytes = dim(0) > 0 ? nbytes() / static_cast<size_t>(dim(0)) : 0;
  char* data = static_cast<char*>(impl_->data) + row_bytes * static_cast<size_t>(begin);
  return view_of(*this, data, impl_->dtype, std::move(shape));
}

bool Tensor::is_unique() const noexcept {
  return impl_->refs.load(std::memory_order_acquire) == 1 && !impl_->read_only &&
         impl_->buffer->refs.load(std::memory_order_acquire) == 1 &&
         (impl_->buffer->holder == memory::Holder::value ||
          impl_->buffer->holder == memory::Holder::variable);
}

void Tensor::fail_dtype(DType wanted) const {
  fail("elements of dtype ", name_of(wanted), " were asked of a tensor of dtype ", name_of(dtype()),
       "; cast it first");
}

void Tensor::check_single() const {
  if (num_elements() != 1) {
    fail("one element was asked of a tensor of shape ", shape().to_string(), " with ",
         num_elements(), " elements");
  }
}

}  // namespace tidemark
