// Images of another size, as on the CPU.

#include <gtest/gtest.h>

#include "tidemark/kernels/cuda/host_gpu_testing.h"

namespace tidemark::cuda {
namespace {

TEST(CudaImages, AreResizedAsOnTheCpu) {
  std::mt19937 random(41);
  std::vector<GpuCall> calls;
  for (const char* method :
       {"bilinear", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"}) {
    for (const bool antialias : {false, true}) {
      for (const DType d : {DType::float32, DType::float64}) {
        const std::vector<std::pair<std::string, Attr>> attrs = {{"method", method},
                                                                 {"antialias", antialias}};
        const Tensor x = random_tensor(d, {2, 7, 5, 3}, random);
        for (const auto& [height, width] : {std::pair{3, 11}, {7, 5}, {20, 1}, {0, 4}}) {
          const Tensor size = Tensor::of<int32_t>({height, width}, {2});
          calls.push_back({"resize_images", {x, size}, attrs, 3});
          const Tensor dy = random_tensor(d, {2, height, width, 3}, random);
          calls.push_back(
              {"resize_images_grad", {dy, Tensor::of<int32_t>({7, 5}, {2})}, attrs, 12});
        }
      }
    }
  }
  expect_as_on_cpu(calls);
}

}  // namespace
}  // namespace tidemark::cuda
