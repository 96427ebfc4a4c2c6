// How much memory there may be, how much there is, and who has it.
//
//   td::memory::set_limit(td::MiB(64));
//   auto x = td::zeros({1000, 1000});
//   std::cout << td::memory::stats().live;     // bytes, to the byte
//   std::cout << td::memory::report();         // a table: place, op, shape, holder, bytes
#pragma once

#include <tidemark/bytes.h>
#include <tidemark/device.h>
#include <tidemark/dtype.h>
#include <tidemark/shape.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tidemark::memory {

/// live + planned + retained + not_ours == resident + untouched, where untouched is zero once every
/// large buffer has been written to.
struct Stats {
  int64_t live = 0;          // buffers in use, with headers and rounding
  int64_t planned = 0;       // arenas of compiled functions that wait for their next call
  int64_t retained = 0;      // free, kept for the next request, given back under pressure
  int64_t not_ours = 0;      // the rest of the process: code, Python, other libraries
  int64_t resident = 0;      // the process's resident memory, asked from the system just now
  int64_t untouched = 0;     // ours by right, but never written to: not resident yet
  int64_t tensor_bytes = 0;  // of live: what tensors asked for, without headers and rounding
  int64_t tensor_peak = 0;   // highest tensor_bytes: what plans of functions are about, to the byte
  int64_t borrowed = 0;      // memory of other owners that tensors refer to; inside not_ours
  int64_t peak = 0;          // highest live
  int64_t live_buffers = 0;
  int64_t allocations = 0;  // since the start
  int64_t limit = 0;
  int64_t retained_limit = 0;
};
TIDEMARK_API Stats stats();

/// The bytes of one device other than the CPU: live + planned + retained == committed <= limit.
struct DeviceStats {
  int64_t live = 0;
  int64_t planned = 0;
  int64_t retained = 0;   // pages present without a use, and what rounding to pages takes
  int64_t committed = 0;  // pages present on the device
  int64_t tensor_bytes = 0;
  int64_t tensor_peak = 0;
  int64_t peak = 0;  // highest live
  int64_t live_buffers = 0;
  int64_t limit = 0;
};
TIDEMARK_API DeviceStats stats(Device device);

/// What of a device is taken, by whomever, as its driver tells: taken == committed + beside +
/// context + others. Where that does not tell processes apart, others has the context, too.
struct DeviceUse {
  int64_t taken = 0;
  int64_t committed = 0;
  int64_t beside = 0;   // pages of the other logical devices that are the same physical one
  int64_t context = 0;  // this process beside its pages: the driver's own, kernels, libraries
  int64_t others = 0;
  bool tells_processes = false;
};
TIDEMARK_API DeviceUse use_of(Device device);

/// The process limit in bytes for live, planned and retained memory together. Returns the old one.
/// Throws InvalidArgumentError below what is in use after giving back retained memory.
TIDEMARK_API int64_t set_limit(int64_t bytes);
TIDEMARK_API int64_t limit();
/// The same for a device: at most what it has. Throws InvalidArgumentError below what is in use.
TIDEMARK_API int64_t set_limit(int64_t bytes, Device device);

/// How many free bytes may be kept for the next request. Returns the old value.
TIDEMARK_API int64_t set_retained_limit(int64_t bytes);

/// Gives all retained memory back to the system; returns how many bytes that was.
TIDEMARK_API int64_t release_retained();
TIDEMARK_API int64_t release_retained(Device device);
/// Returns when the device has done what was enqueued so far; throws what that failed with.
TIDEMARK_API void wait_for(Device device);

/// Forgets the peak so far, process-wide and per site; returns it.
TIDEMARK_API int64_t reset_peak();
TIDEMARK_API int64_t reset_peak(Device device);

/// A limit for what this thread allocates inside the scope, on top of all outer ones.
class TIDEMARK_API LimitScope {
 public:
  explicit LimitScope(int64_t bytes, std::string name = "limit scope");
  ~LimitScope();
  LimitScope(const LimitScope&) = delete;
  LimitScope& operator=(const LimitScope&) = delete;
  /// Bytes allocated inside that are still alive.
  int64_t used() const;

 private:
  void* outer_;
  void* budget_;
};

/// One live buffer, or one place that made several.
struct LiveBuffer {
  std::string place;  // "train.py:12 in step"
  std::string op;
  std::string holder;
  DType dtype;
  Shape shape;
  int64_t bytes;
};
/// The live buffers, largest first.
TIDEMARK_API std::vector<LiveBuffer> live_buffers();

struct PlaceUse {
  std::string place;
  std::string op;      // of its largest live buffer; empty when none is live
  std::string holder;  // likewise
  int64_t live_bytes;
  int64_t peak_bytes;
  int64_t bytes_at_process_peak;
  int64_t live_count;
  int64_t total_count;
};
/// All places with live bytes or bytes at the peak of the device, largest live first.
TIDEMARK_API std::vector<PlaceUse> places(Device device = {});

/// Bytes by holder kind: name, live bytes, peak bytes, live count.
struct HolderUse {
  std::string holder;
  int64_t live_bytes;
  int64_t peak_bytes;
  int64_t live_count;
  int64_t total_count;
};
TIDEMARK_API std::vector<HolderUse> holders(Device device = {});

/// A table for people that fits a terminal.
TIDEMARK_API std::string report();

}  // namespace tidemark::memory
