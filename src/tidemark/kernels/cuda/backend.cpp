#include "tidemark/kernels/cuda/backend.h"

#include <tidemark/kernel.h>

#include "tidemark/kernels/cuda/compiler.h"
#include "tidemark/kernels/cuda/convolution.h"
#include "tidemark/kernels/cuda/elementwise.h"
#include "tidemark/kernels/cuda/flash_attention.h"
#include "tidemark/kernels/cuda/fourier.h"
#include "tidemark/kernels/cuda/library.h"
#include "tidemark/kernels/cuda/matmul.h"
#include "tidemark/kernels/cuda/movement.h"
#include "tidemark/kernels/cuda/pages.h"
#include "tidemark/kernels/cuda/pooling.h"
#include "tidemark/kernels/cuda/reduce.h"
#include "tidemark/kernels/cuda/stream.h"

namespace tidemark::cuda {

namespace {

class CudaBackend final : public Accelerator {
 public:
  CudaBackend(const Driver& driver, const Makers& makers, int index)
      : context_(driver, index),
        pages_(context_),
        tools_(context_, makers),
        stream_(context_, tools_, "pinned memory for copies from a GPU"),
        uploads_(context_, tools_, "pinned memory for copies to a GPU") {}

  size_t capacity() const override { return context_.facts().bytes; }
  size_t page_bytes() const override { return pages_.page_bytes(); }
  size_t alignment() const override { return 256; }
  std::optional<TakenMemory> taken() const override {
    const Context::Scope scope(context_);
    size_t free = 0, total = 0, ours = 0;
    context_.check(context_.driver().memory_info(&free, &total), "cuMemGetInfo");
    TakenMemory out{total - free, std::nullopt};
    const int told = context_.driver().process_bytes(context_.device(), &ours);
    if (told == kDone) out.by_this_process = ours;
    return out;
  }

  void* reserve(size_t bytes) override { return reinterpret_cast<void*>(pages_.reserve(bytes)); }
  bool commit(void* start, size_t bytes) override {
    return pages_.commit(reinterpret_cast<Address>(start), bytes);
  }
  void decommit(void* start, size_t bytes) noexcept override {
    pages_.decommit(reinterpret_cast<Address>(start), bytes);
  }

  const Kernel* find_kernel(const OpDef& op, DType key) const override {
    if (const Kernel* kernel = find_elementwise(op, key)) return kernel;
    if (const Kernel* kernel = find_reduction(op, key)) return kernel;
    if (const Kernel* kernel = find_movement(op, key)) return kernel;
    if (const Kernel* kernel = find_pooling(op, key)) return kernel;
    if (const Kernel* kernel = find_convolution(op, key)) {
      return tools_.convolutions.is_there() ? kernel : nullptr;
    }
    if (const Kernel* kernel = find_fourier(op, key)) {
      return tools_.transforms.is_there() ? kernel : nullptr;
    }
    if (const Kernel* kernel = find_matmul(op, key)) return kernel;
    if (const Kernel* kernel = find_flash_attention(op, key, context_.facts())) return kernel;
    const KernelTable* registered = kernels_of(op);
    if (!registered) return nullptr;
    const Kernel& kernel = registered->find(KernelKind::cuda, key);
    return kernel.run ? &kernel : nullptr;
  }
  const fusion::Compiler& fusion() const override { return compiler(); }
  /// An H200's, roughly.
  Costs costs() const override {
    return {.bytes_per_second = 4e12, .products_per_second = 2e13, .seconds_per_step = 4e-6};
  }

  Stream& stream() override { return stream_; }
  Stream& upload_stream() override { return uploads_; }

  std::optional<ForeignDevice> foreign() override {
    constexpr int32_t kDlpackCuda = 2;
    return ForeignDevice{kDlpackCuda, context_.device(), stream_.handle()};
  }
  bool has_bytes(const void* start, size_t bytes) const override {
    const Context::Scope scope(context_);
    const auto first = reinterpret_cast<Address>(start);
    for (const Address at : {first, first + bytes - 1}) {
      int device = -1;
      const int status = context_.driver().find_device(at, &device);
      if (status != kDone || device != context_.device()) return false;
    }
    return true;
  }
  void wait_for_everyone() override {
    const Context::Scope scope(context_);
    context_.check(context_.driver().synchronize(), "cuCtxSynchronize");
  }

 private:
  Context context_;
  Pages pages_;
  Tools tools_;
  CudaStream stream_, uploads_;
};

}  // namespace

int count_gpus(std::string& why) {
  const Driver* driver = installed_driver(why);
  if (!driver) return 0;
  int count = 0;
  const int status = driver->count_devices(&count);
  if (status != kDone) {
    why = driver->explain(status);
    return 0;
  }
  if (count == 0) why = "the driver finds none";
  return count;
}

GpuDescription describe_gpu(int index) {
  std::string why;
  const int count = count_gpus(why);
  if (count == 0) fail<InvalidArgumentError>("no GPU: ", why);
  if (index < 0 || index >= count) {
    fail<InvalidArgumentError>("There are ", count, " GPUs, counted from 0; given ", index);
  }
  const Driver& driver = *installed_driver(why);
  DeviceFacts facts{};
  if (const int status = driver.describe(index, &facts); status != kDone) {
    fail<FailedPreconditionError>("GPU ", index, " cannot be asked: ", driver.explain(status));
  }
  return {facts.name, facts.major, facts.minor};
}

std::unique_ptr<Accelerator> open(const Driver& driver, const Makers& makers, int index) {
  return std::make_unique<CudaBackend>(driver, makers, index);
}

std::unique_ptr<Accelerator> open(int index) {
  std::string why;
  const int count = count_gpus(why);
  if (count == 0) fail<InvalidArgumentError>("no GPU: ", why);
  if (index >= count) return nullptr;
  return open(
      *installed_driver(why),
      {installed_compiler, installed_products, installed_convolutions, installed_transforms},
      index);
}

}  // namespace tidemark::cuda
