#include "tidemark/ops/gradients.h"

namespace tidemark {

namespace {

template <class T>
Tensor scalar_of(T value, DType dtype) {
  Tensor t = Tensor::uninitialized(dtype, {});
  *static_cast<T*>(t.mutable_raw_data()) = value;
  return t;
}

}  // namespace

Tensor scalar(double value, DType dtype) {
  switch (dtype) {
    case DType::float16:
      return scalar_of(Half(static_cast<float>(value)), dtype);
    case DType::bfloat16:
      return scalar_of(BFloat16(static_cast<float>(value)), dtype);
    case DType::float32:
      return scalar_of(static_cast<float>(value), dtype);
    case DType::float64:
      return scalar_of(value, dtype);
    case DType::complex64:
      return scalar_of(std::complex<float>(static_cast<float>(value), 0), dtype);
    case DType::complex128:
      return scalar_of(std::complex<double>(value, 0), dtype);
    default:
      return cast_to(Tensor(value), dtype);
  }
}

Tensor cast_to(const Tensor& t, DType dtype) {
  return t.dtype() == dtype ? t : call("cast", {t}, {{"dtype", dtype}});
}

Tensor conjugate(const Tensor& t) { return is_complex(t.dtype()) ? call("conj", {t}) : t; }

Tensor zero_unless(const Tensor& condition, const Tensor& x) {
  return call("select", {condition, x, scalar_like(0, x)});
}

Tensor zero_if(const Tensor& condition, const Tensor& x) {
  return call("select", {condition, scalar_like(0, x), x});
}

}  // namespace tidemark
