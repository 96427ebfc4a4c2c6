// Libraries of products, convolutions and Fourier transforms that refuse any of their calls: who
// asked gets a typed error, nothing is left of the call, and the next one goes through.

#include <gtest/gtest.h>
#include <tidemark/op.h>

#include <numeric>

#include "tidemark/kernels/cuda/backend.h"
#include "tidemark/kernels/cuda/host_products_testing.h"
#include "tidemark/kernels/cuda/host_transforms_testing.h"
#include "tidemark/kernels/cuda/refusing_testing.h"
#include "tidemark/kernels/queued_kernel.h"

namespace tidemark::cuda {
namespace {

const ProductLibrary* refusing_products() {
  static const ProductLibrary kTable = {
      .create = [](Handle* library) -> int {
        *library = 7;  // a refused call may have written something
        if (const int status = FakeDriver::now().enter()) return status;
        return host_products()->create(library);
      },
      .multiply = [](Handle library, const Product* product, const ProductRun* run) -> int {
        EXPECT_EQ(library, 1u) << "made before it is used";
        if (const int status = FakeDriver::now().enter()) return status;
        return host_products()->multiply(library, product, run);
      },
      .explain = host_products()->explain,
  };
  return &kTable;
}

const TransformLibrary* refusing_transforms() {
  static const TransformLibrary kTable = {
      .prepare = [](Handle context, const Transform* transform, size_t* workspace) -> int {
        if (const int status = FakeDriver::now().enter()) return status;
        return host_transforms()->prepare(context, transform, workspace);
      },
      .transform = [](Handle context, const Transform* transform, const TransformRun* run) -> int {
        if (const int status = FakeDriver::now().enter()) return status;
        return host_transforms()->transform(context, transform, run);
      },
      .explain = host_transforms()->explain,
  };
  return &kTable;
}

/// Of it only the calls are looked at.
const ConvolutionLibrary* refusing_convolutions() {
  static const ConvolutionLibrary kTable = {
      .create = [](Handle* library) -> int {
        const int status = FakeDriver::now().enter();
        *library = status == kDone ? 1 : 7;  // a refused call may have written something
        return status;
      },
      .prepare = [](Handle, const Convolution*, size_t* workspace) -> int {
        *workspace = 256;
        return FakeDriver::now().enter();
      },
      .convolve = [](Handle library, const Convolution*, const ConvolutionRun*) -> int {
        EXPECT_EQ(library, 1u) << "made before it is used";
        return FakeDriver::now().enter();
      },
      .explain = [](int) { return "refused"; },
  };
  return &kTable;
}

constexpr Makers kRefusing = {
    .compiler = []() -> const SourceCompiler& { fail<FailedPreconditionError>("there is none"); },
    .products = refusing_products,
    .convolutions = refusing_convolutions,
    .transforms = refusing_transforms,
};

void expect_no_context(int call) { EXPECT_EQ(FakeDriver::now().depth, 0) << "call " << call; }

TEST(CudaLibraries, ARefusedProductIsAnErrorAndTheNextIsRight) {
  FakeDriver::fresh();
  const auto gpu = open(FakeDriver::table(), kRefusing, 0);
  auto* base = static_cast<float*>(gpu->reserve(gpu->capacity()));
  ASSERT_TRUE(gpu->commit(base, FakeDriver::kPage));
  std::iota(base, base + 12, 1.f);
  const OpDef& op = OpRegistry::instance().get("matmul");
  QueuedKernel product;
  product.op = &op;
  product.kernel = *gpu->find_kernel(op, DType::float32);
  for (const int i : op.attrs()) {
    product.attrs.push_back(op.params()[static_cast<size_t>(i)].fallback);
  }
  product.inputs = {{DType::float32, {2, 3}, base, Tensor()},
                    {DType::float32, {3, 2}, base + 6, Tensor()}};
  product.outputs = {{DType::float32, {2, 2}, base + 12, Tensor()}};
  Stream& stream = gpu->stream();
  const int calls = refuse_each_call(
      999,
      [&] {
        std::fill(base + 12, base + 16, 0.f);
        stream.run(QueuedKernel(product));
        stream.wait(stream.now());
        return true;
      },
      expect_no_context);
  EXPECT_GE(calls, 3) << "the context, the library, the product";
  EXPECT_EQ(std::vector<float>(base + 12, base + 16), (std::vector<float>{58, 64, 139, 154}));
  EXPECT_EQ(gpu->taken()->by_this_process, FakeDriver::kPage + FakeDriver::now().context);
}

TEST(CudaLibraries, ARefusedConvolutionIsAnErrorOrLeftToTheHost) {
  FakeDriver::fresh();
  const Context context(FakeDriver::table(), 0);
  Convolutions library(context, refusing_convolutions);
  const Convolution convolution{};
  int left_to_host = 0;
  const int calls = refuse_each_call(
      999,
      [&] {
        const std::optional<size_t> workspace = library.workspace_of(convolution);
        left_to_host += !workspace;
        const Context::Scope scope(context);
        library.convolve(convolution, {});
        return true;
      },
      expect_no_context);
  EXPECT_EQ(calls, 4) << "two contexts, its way, the convolution; the library stays open";
  EXPECT_EQ(left_to_host, 1) << "where it has no way; a library that does not open is an error";
}

TEST(CudaLibraries, ARefusedTransformIsAnErrorAndTheNextIsRight) {
  FakeDriver::fresh();
  const auto gpu = open(FakeDriver::table(), kRefusing, 0);
  const Context context(FakeDriver::table(), 0);
  const Transforms library(context, refusing_transforms);
  alignas(16) double line[8] = {1, 0, 2, 0, 3, 0, 4, 0}, found[8] = {};
  const Transform transform{Transform::forward, true, 4, 1, 1, 4, 1, 4};
  const auto address = [](void* data) { return reinterpret_cast<Address>(data); };
  Handle stream = 0;
  ASSERT_EQ(FakeDriver::table().create_stream(&stream), kDone);
  const int calls = refuse_each_call(
      999,
      [&] {
        const size_t workspace = library.workspace_of(transform);
        const Context::Scope scope(context);
        library.run(transform, {address(line), address(found), 0, workspace, stream});
        return true;
      },
      expect_no_context);
  EXPECT_EQ(calls, 4) << "two contexts, its plan, the transform";
  EXPECT_NEAR(found[0], 10, 1e-12);
  EXPECT_NEAR(found[2], -2, 1e-12);
  EXPECT_NEAR(found[3], 2, 1e-12);
}

}  // namespace
}  // namespace tidemark::cuda
