#include "tidemark/kernels/cpu/epilogue.h"

#include <algorithm>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/convolution/convolution.h"
#include "tidemark/kernels/cpu/matmul/matmul_problem.h"

namespace tidemark::cpu {

void Epilogue::apply_to(const void*, int64_t, int64_t, int64_t, int64_t, int64_t) const {
  fail<InternalError>("an epilogue of a whole result was given a part of one that is not there");
}

void apply_to_all(const Epilogue& epilogue, int64_t rows, int64_t columns) {
  const int64_t grain = std::max<int64_t>(1, (16 << 10) / std::max<int64_t>(1, columns));
  parallel_for(rows, grain,
               [&](int64_t begin, int64_t end) { epilogue.apply(begin, end - begin, 0, columns); });
}

const ProductKernel* product_kernel(std::string_view op, DType dtype) {
  if (!is_floating(dtype)) return nullptr;
  if (op == "matmul") return &kMatmulProduct;
  if (op == "convolution") return &kConvolutionProduct;
  if (op == "convolution_input_grad") return &kConvolutionInputGradProduct;
  return nullptr;
}

}  // namespace tidemark::cpu
