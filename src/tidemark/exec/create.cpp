#include <tidemark/call.h>
#include <tidemark/create.h>

#include "tidemark/memory/context.h"

namespace tidemark {

namespace {

Tensor filled(const Shape& shape, const Tensor& value) {
  const Tensor dims = Tensor::of<int64_t>(shape.dims(), Shape{shape.rank()});
  return call("fill", {dims, value});
}

Tensor scalar_of(float value, DType dtype) {
  return call("cast", {Tensor(value)}, {{"dtype", dtype}});
}

}  // namespace

Tensor zeros(const Shape& shape, DType dtype) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  return filled(shape, scalar_of(0.f, dtype));
}

Tensor ones(const Shape& shape, DType dtype) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  return filled(shape, scalar_of(1.f, dtype));
}

Tensor full(const Shape& shape, const Tensor& value) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  return filled(shape, value);
}

Tensor arange(int32_t start, int32_t stop, int32_t step) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  return call("range", {Tensor(start), Tensor(stop), Tensor(step)});
}

Tensor arange(int32_t stop) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  return call("range", {Tensor(0), Tensor(stop), Tensor(1)});
}

}  // namespace tidemark
