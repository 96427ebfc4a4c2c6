// Backend: what the runtime asks of a device.
//
// Every device has one: which kernels it has, how fused programs become code for it, what its work
// costs. Nothing above kernels/ names a kind of device to decide how to compute: it asks.
//
//   const Backend& cpu = backend_of(Device());
//   const Kernel* add = cpu.find_kernel(op, DType::float32);
//
// An Accelerator has memory and queues of its own, too. memory/ decides which of its bytes a buffer
// gets, exec/ what runs. Work on a stream is done in its order, and so is release: bytes that the
// host freed are given to the next request on the stream at once, for that request's work comes
// later; another stream follows the moment of their release first. Pages go back to the system when
// the device is past their last use. The host reads no device memory but by copy_out.
//
// The CPU is no Accelerator: its memory is memory/'s own, its kernels run where they are called,
// and a call whose inputs lie on the CPU asks nobody.
#pragma once

#include <tidemark/device.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tidemark {

class OpDef;
enum class DType : uint8_t;
struct Kernel;
struct QueuedKernel;  // kernels/queued_kernel.h
class Stream;

namespace fusion {
class Compiler;  // kernels/fusion/compiler.h
}

/// How long work takes, guessed: plans weigh steps by it, and only the proportions matter.
struct Costs {
  double bytes_per_second = 0;     // read or written
  double products_per_second = 0;  // multiplications of matrices
  double seconds_per_step = 0;     // beside both
};

class TIDEMARK_API Backend {
 public:
  virtual ~Backend() = default;
  /// The kernel of an op for a dtype, as kernel.h keys them; null: the device has none.
  virtual const Kernel* find_kernel(const OpDef& op, DType key) const = 0;
  virtual const fusion::Compiler& fusion() const = 0;
  virtual Costs costs() const = 0;
};

/// A place in the order of a stream: everything enqueued before it.
struct Moment {
  Stream* stream = nullptr;  // null: before everything
  uint64_t number = 0;
};

/// Work of a stream that was recorded, to be done again as a whole: the same kernels with the same
/// addresses. It keeps no memory that those addresses lie in.
class TIDEMARK_API RecordedWork {
 public:
  virtual ~RecordedWork() = default;
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

  /// Records what the kernels would enqueue, and does nothing of it. All of them have run before.
  /// Null: this stream records nothing, has no room for more, or the work cannot be recorded.
  virtual std::shared_ptr<const RecordedWork> record(std::span<const QueuedKernel>) {
    return nullptr;
  }
  /// Enqueues what this stream recorded. `changed`: those of the kernels that read other values on
  /// the host each time, as they are now.
  virtual void run(const RecordedWork&, std::span<const QueuedKernel> /*changed*/) {}

  virtual Moment now() = 0;
  /// Whether the stream has done all that was enqueued before a moment of its own.
  virtual bool is_past(Moment moment) = 0;
  /// The host waits for a moment of this stream. Throws what work failed with, once: the stream
  /// goes on with what comes later.
  virtual void wait(Moment moment) = 0;
  /// What is enqueued from now on begins after a moment of another stream of the same device; the
  /// host does not wait.
  virtual void follow(Moment moment) = 0;

  /// Tells observers how long the work took that was done since they were told last, and waits for
  /// none. While somebody observes, a stream does so by itself now and then.
  virtual void tell_times() {}
};

/// As a device's driver tells it.
struct TakenMemory {
  size_t bytes = 0;
  std::optional<size_t>
      by_this_process;  ///< pages and what the driver itself needs; not known: none
};

/// As other libraries in this process know a device.
struct ForeignDevice {
  int32_t kind = 0;  ///< as DLPack numbers them
  int32_t number = 0;
  uint64_t stream = 0;  ///< its stream(), as the driver that they share names it
};

class TIDEMARK_API Accelerator : public Backend {
 public:
  /// All the bytes the device has.
  virtual size_t capacity() const = 0;
  /// Pages are made present and given back in multiples of this.
  virtual size_t page_bytes() const = 0;
  /// Buffers begin at multiples of this.
  virtual size_t alignment() const = 0;
  /// What of the capacity is not free, by whomever it is used; nullopt: nobody but us uses it.
  virtual std::optional<TakenMemory> taken() const { return std::nullopt; }

  /// Address space for as long as the process runs; null: refused.
  virtual void* reserve(size_t bytes) = 0;
  /// Makes pages of the reserved space present; false: refused, and nothing has changed.
  virtual bool commit(void* start, size_t bytes) = 0;
  /// No work enqueued refers to the pages.
  virtual void decommit(void* start, size_t bytes) noexcept = 0;

  /// The stream on which the device computes, and in whose order memory is released.
  virtual Stream& stream() = 0;
  /// The stream of copies from the host, which need not wait for computations enqueued before them;
  /// may be the same.
  virtual Stream& upload_stream() = 0;

  // Memory that is shared with other libraries in this process.
  /// None: no other library can use this device's memory.
  virtual std::optional<ForeignDevice> foreign() { return std::nullopt; }
  /// Whether all of these bytes are memory of this device, whoever has it.
  virtual bool has_bytes(const void*, size_t) const { return false; }
  /// The host waits for all work on the device, other libraries' too.
  virtual void wait_for_everyone() {}
};

inline constexpr int kMostDevices = 32;

/// The CPU counts. While it is the only one, no call has to ask where it runs.
extern TIDEMARK_API std::atomic<int> open_device_count;

TIDEMARK_API const Backend& backend_of(Device device);

/// Throws FailedPreconditionError for the CPU.
TIDEMARK_API Accelerator& accelerator_of(Device device);

/// What it was made with (set_logical_devices).
TIDEMARK_API std::optional<int64_t> memory_limit_of(Device device);
/// The other open devices that are the same physical one.
TIDEMARK_API std::vector<Device> devices_beside(Device device);

}  // namespace tidemark
