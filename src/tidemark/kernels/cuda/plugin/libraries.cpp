#include "tidemark/kernels/cuda/plugin/libraries.h"

const tidemark::cuda::Libraries* tidemark_cuda_libraries() {
  static constexpr tidemark::cuda::Libraries kLibraries = {
      .driver = tidemark::cuda::driver,
      .compiler = tidemark::cuda::source_compiler,
      .products = tidemark::cuda::product_library,
      .convolutions = tidemark::cuda::convolution_library,
      .transforms = tidemark::cuda::transform_library,
  };
  return &kLibraries;
}
