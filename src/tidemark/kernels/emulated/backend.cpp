#include "tidemark/kernels/emulated/backend.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <tidemark/op.h>
#include <unistd.h>

#include "tidemark/base/settings.h"
#include "tidemark/kernels/cpu/backend.h"
#include "tidemark/kernels/emulated/compiler.h"
#include "tidemark/kernels/emulated/stream.h"

namespace tidemark::emulated {

namespace {

/// As the granules of a GPU's virtual memory, but smaller: tests have little memory to waste.
constexpr size_t kPage = 64 << 10;

class EmulatedBackend final : public Accelerator {
 public:
  EmulatedBackend(size_t capacity, size_t taken, int64_t delay, std::string_view without)
      : capacity_(capacity), taken_(taken), delay_(delay) {
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
    uploads_ = std::make_unique<EmulatedStream>(delta_, delay_);
    return shown;
  }

  bool commit(void* start, size_t bytes) override {
    if (present_ + bytes + taken_ > capacity_) return false;
    if (mprotect(static_cast<char*>(start) + delta_, bytes, PROT_READ | PROT_WRITE) != 0) {
      return false;
    }
    present_ += bytes;
    return true;
  }

  void decommit(void* start, size_t bytes) noexcept override {
    present_ -= bytes;
    mprotect(static_cast<char*>(start) + delta_, bytes, PROT_NONE);
    fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<char*>(start) - start_,
              static_cast<off_t>(bytes));
  }

  const Kernel* find_kernel(const OpDef& op, DType key) const override {
    return without_.contains(op.name()) ? nullptr : host_.find_kernel(op, key);
  }
  const fusion::Compiler& fusion() const override { return compiler_; }
  Costs costs() const override { return host_.costs(); }

  Stream& stream() override { return *stream_; }
  Stream& upload_stream() override { return *uploads_; }

 private:
  const size_t capacity_;
  const size_t taken_;  // by somebody else
  const int64_t delay_;
  OpNames without_;     // ops it has no kernels of
  size_t present_ = 0;  // bytes of pages
  int file_ = -1;
  char* start_ = nullptr;
  std::ptrdiff_t delta_ = 0;
  std::unique_ptr<EmulatedStream> stream_, uploads_;
  const Backend& host_ = cpu::backend();
  const EmulatedCompiler compiler_{host_.fusion(), without_};
};

}  // namespace

std::unique_ptr<Accelerator> open(int index) {
  if (index >= settings::integer(settings::kEmulatedDevices)) return nullptr;
  const auto bytes = [](const settings::Setting& setting) {
    return static_cast<size_t>(*settings::bytes(setting));
  };
  return std::make_unique<EmulatedBackend>(
      bytes(settings::kEmulatedMemory), bytes(settings::kEmulatedTaken),
      settings::integer(settings::kEmulatedDelay), settings::text(settings::kEmulatedWithout));
}

}  // namespace tidemark::emulated
