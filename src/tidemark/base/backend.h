// Backend: what the runtime asks of a device other than the CPU.
//
// One backend a device. It owns address space, pages, a queue of work and kernels; memory/ decides
// which bytes a buffer gets, exec/ what runs. Work on a stream is done in its order, and so is
// release: bytes that the host freed are given to the next request on the stream at once, for that
// request's work comes later; pages go back to the system when the stream is past their last use.
// The host reads no device memory but by copy_out.
//
// The CPU has no backend object: its memory is memory/'s own, its kernels run where they are
// called, and a call whose inputs lie on the CPU asks nobody.
#pragma once

#include <tidemark/device.h>

#include <atomic>
#include <cstddef>
#include <memory>

namespace tidemark {

class OpDef;
enum class DType : uint8_t;
struct Kernel;
struct QueuedKernel;  // kernels/queued_kernel.h

/// A place in the order of a stream: everything enqueued before it.
struct Moment {
  uint64_t number = 0;
};

/// Work that is done in order. All functions may be called from any thread.
class TIDEMARK_API Stream {
 public:
  virtual ~Stream() = default;
  /// The host's bytes may change as soon as this returns.
  virtual void copy_in(void* device, const void* host, size_t bytes) = 0;
  /// Waits until the bytes are there. Throws what work before it failed with.
  virtual void copy_out(void* host, const void* device, size_t bytes) = 0;
  virtual void copy(void* to, const void* from, size_t bytes) = 0;
  /// Calls the kernel with a QueuedContext when it is the kernel's turn, or lets it enqueue its own
  /// work: what it refers to on the device is there until the work enqueued after it.
  virtual void run(QueuedKernel&& kernel) = 0;

  virtual Moment now() = 0;
  virtual bool is_past(Moment moment) = 0;
  /// Throws what work failed with, once: the stream goes on with what comes later.
  virtual void wait(Moment moment) = 0;
};

class TIDEMARK_API Backend {
 public:
  virtual ~Backend() = default;

  /// All the bytes the device has.
  virtual size_t capacity() const = 0;
  /// Pages are made present and given back in multiples of this.
  virtual size_t page_bytes() const = 0;
  /// Buffers begin at multiples of this.
  virtual size_t alignment() const = 0;

  /// Address space for as long as the process runs; null: refused.
  virtual void* reserve(size_t bytes) = 0;
  /// Makes pages of the reserved space present; false: refused, and nothing has changed.
  virtual bool commit(void* start, size_t bytes) = 0;
  /// No work enqueued refers to the pages.
  virtual void decommit(void* start, size_t bytes) noexcept = 0;

  /// The kernel of an op for a dtype, as kernel.h keys them; null: the device has none.
  virtual const Kernel* find_kernel(const OpDef& op, DType key) const = 0;

  /// The stream on which all work of the device is done.
  virtual Stream& stream() = 0;
};

inline constexpr int kMostDevices = 8;

/// The CPU counts. While it is the only one, no call has to ask where it runs.
extern TIDEMARK_API std::atomic<int> open_device_count;

/// Throws FailedPreconditionError for the CPU.
TIDEMARK_API Backend& backend_of(Device device);

}  // namespace tidemark
