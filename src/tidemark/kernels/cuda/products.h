// Products of matrices on one GPU, by a library that is opened with the first of them.
#pragma once

#include <tidemark/dtype.h>

#include <mutex>

#include "tidemark/kernels/cuda/context.h"

namespace tidemark::cuda {

/// Of a floating dtype.
Product::Element element_of(DType dtype);

/// What a product is given to work in.
size_t workspace_of(const Product& product);

class Products {
 public:
  /// `library`: answers null where it cannot be had.
  Products(const Context& context, const ProductLibrary* (*library)())
      : context_(context), library_(library) {}

  /// Enqueues. With the context pushed. Throws InternalError where the library refuses.
  void multiply(const Product& product, const ProductRun& run);

 private:
  const Context& context_;
  const ProductLibrary* (*library_)();
  std::mutex mutex_;
  Handle handle_ = 0;  // made with the first product
};

}  // namespace tidemark::cuda
