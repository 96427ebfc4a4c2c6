#include "tidemark/kernels/cuda/products.h"

namespace tidemark::cuda {

Product::Element element_of(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return Product::float64;
    case DType::float16:
      return Product::float16;
    case DType::bfloat16:
      return Product::bfloat16;
    default:
      return Product::float32;
  }
}

size_t workspace_of(const Product& product) {
  // What cuBLASLt asks for on Hopper at most; small products are no faster for it.
  constexpr size_t kWorkspace = 32 << 20;
  constexpr int64_t kLargeProduct = 1 << 24;  // multiplications
  return product.m * product.n * product.k >= kLargeProduct ? kWorkspace : 0;
}

void Products::multiply(const Product& product, const ProductRun& run) {
  const ProductLibrary* library = library_();
  if (!library) {
    fail<FailedPreconditionError>("gpu:", context_.device(),
                                  " has no library for products of matrices: install cuBLASLt");
  }
  const auto check = [&](int status, const char* call) {
    if (status == 0) return;
    fail<InternalError>("gpu:", context_.device(), ": ", call, " answers ",
                        library->explain(status), " for matrices of ", product.m, " x ", product.k,
                        " and ", product.k, " x ", product.n);
  };
  {
    std::lock_guard hold(mutex_);
    if (handle_ == 0) {
      Handle made = 0;
      check(library->create(&made), "cublasLtCreate");
      handle_ = made;
    }
  }
  Product asked = product;
  asked.rounds = asked.element == Product::float32 && context_.rounds_float32();
  check(library->multiply(handle_, &asked, &run), "cublasLtMatmul");
}

}  // namespace tidemark::cuda
