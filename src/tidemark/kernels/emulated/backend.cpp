#include "tidemark/kernels/emulated/backend.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <tidemark/kernel.h>
#include <unistd.h>

#include <set>

#include "tidemark/base/settings.h"
#include "tidemark/kernels/emulated/stream.h"

namespace tidemark::emulated {

namespace {

/// As the granules of a GPU's virtual memory, but smaller: tests have little memory to waste.
constexpr size_t kPage = 64 << 10;

class EmulatedBackend final : public Backend {
 public:
  EmulatedBackend(size_t capacity, int64_t delay, std::string_view without)
      : capacity_(capacity), delay_(delay) {
    while (!without.empty()) {
      const size_t comma = without.find(',');
      without_.emplace(without.substr(0, comma));
      without.remove_prefix(comma == without.npos ? without.size() : comma + 1);
    }
  }

  size_t capacity() const override { return capacity_; }
  size_t page_bytes() const override { return kPage; }
  size_t alignment() const override { return 256; }

  void* reserve(size_t bytes) override {
    file_ = memfd_create("tidemark-emulated", MFD_CLOEXEC);
    if (file_ < 0 || ftruncate(file_, static_cast<off_t>(bytes)) != 0) return nullptr;
    void* shown = mmap(nullptr, bytes, PROT_NONE, MAP_SHARED, file_, 0);
    void* hidden = mmap(nullptr, bytes, PROT_NONE, MAP_SHARED, file_, 0);
    if (shown == MAP_FAILED || hidden == MAP_FAILED) return nullptr;
    start_ = static_cast<char*>(shown);
    delta_ = static_cast<char*>(hidden) - start_;
    stream_ = std::make_unique<EmulatedStream>(delta_, delay_);
    return shown;
  }

  bool commit(void* start, size_t bytes) override {
    return mprotect(static_cast<char*>(start) + delta_, bytes, PROT_READ | PROT_WRITE) == 0;
  }

  void decommit(void* start, size_t bytes) noexcept override {
    mprotect(static_cast<char*>(start) + delta_, bytes, PROT_NONE);
    fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<char*>(start) - start_,
              static_cast<off_t>(bytes));
  }

  const Kernel* find_kernel(const OpDef& op, DType key) const override {
    const KernelTable* table = kernels_of(op);
    if (!table || without_.contains(op.name())) return nullptr;
    const Kernel& kernel = table->find(KernelKind::cpu, key);
    return kernel.run ? &kernel : nullptr;
  }

  Stream& stream() override { return *stream_; }

 private:
  const size_t capacity_;
  const int64_t delay_;
  std::set<std::string, std::less<>> without_;  // ops it has no kernels of
  int file_ = -1;
  char* start_ = nullptr;
  std::ptrdiff_t delta_ = 0;
  std::unique_ptr<EmulatedStream> stream_;
};

}  // namespace

std::unique_ptr<Backend> open(int index) {
  if (index >= settings::integer(settings::kEmulatedDevices)) return nullptr;
  const int64_t bytes = *settings::bytes(settings::kEmulatedMemory);
  return std::make_unique<EmulatedBackend>(static_cast<size_t>(bytes),
                                           settings::integer(settings::kEmulatedDelay),
                                           settings::text(settings::kEmulatedWithout));
}

}  // namespace tidemark::emulated
