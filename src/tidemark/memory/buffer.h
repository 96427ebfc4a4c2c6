// Buffer: the bytes of tensors, each with a site and a holder. The only source of tensor bytes.
//
//   memory::Buffer* b = memory::allocate({.bytes = 64, .dtype = DType::float32, .shape = &shape});
//   ... b->data ...
//   memory::release(b);          // the last release gives the bytes back at that moment
#pragma once

#include <tidemark/device.h>
#include <tidemark/dtype.h>
#include <tidemark/shape.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tidemark::memory {

struct Site;
class Budget;

/// Why a buffer lives. Shown in every report.
enum class Holder : uint8_t {
  value,  // a tensor somebody holds
  variable,
  constant,  // baked into a graph or a trace
  gradient,
  tape,       // kept for a backward pass
  workspace,  // scratch of a kernel, for the time of its run
  arena,      // planned memory of a compiled function
  dataset,    // elements on their way through a dataset
  cache,
  borrowed,  // memory of another owner (NumPy, DLPack, a mapped file): listed, not counted as ours
  dataset_shuffle,   // elements that a dataset draws from
  dataset_prefetch,  // elements that a dataset made ahead
  dataset_cache,     // elements that a dataset keeps for its next pass
};
inline constexpr int kHolderKinds = 13;
TIDEMARK_API const char* name_of(Holder holder) noexcept;

struct Request {
  size_t bytes = 0;
  DType dtype = DType::invalid;  // for the records; invalid: raw bytes
  const Shape* shape = nullptr;  // for the records
  Holder holder = Holder::value;
  Device device{};
};

inline constexpr size_t kAlignment = 64;

/// Fields but `refs`, `holder` and `idle` do not change after allocation (see shrink). `data` is
/// aligned to kAlignment unless borrowed. The header of a small buffer stands in front of its data,
/// in the same block.
struct Buffer {
  std::atomic<uint32_t> refs{1};
  Holder holder = Holder::value;
  DType dtype = DType::invalid;
  uint8_t rank = 0;    // rank as recorded; dims beyond the kept ones are dropped
  uint8_t origin = 0;  // private to the allocator: size class, mapped or borrowed
  void* data = nullptr;
  size_t bytes = 0;    // as asked for
  size_t charged = 0;  // as counted: header, rounding and pages included
  Site* site = nullptr;
  const char* op = nullptr;
  Budget* budget = nullptr;
  Buffer* previous = nullptr;  // the ledger's list of live buffers
  Buffer* next = nullptr;
  static constexpr int kKeptDims = 4;
  int64_t dims[kKeptDims] = {};
  void (*give_back)(void* owner) = nullptr;  // borrowed only
  void* owner = nullptr;
  bool idle = false;  // an arena between two calls: planned, not live
  Device device{};    // whose memory `data` points into: the host reads the CPU's only
  uint32_t run = 0;   // the run that made it, or was handed it, last; see runs.h
};
static_assert(sizeof(Buffer) <= 128);

/// Asks the budgets, then the allocator. Throws ResourceExhaustedError with wanted, used, limit and
/// the largest holders; nothing has changed then. Zero bytes are fine. Never returns null.
TIDEMARK_API Buffer* allocate(const Request& request);

/// Lists memory of another owner; `give_back(owner)` is called once when the last reference goes
/// (also when borrow itself throws).
TIDEMARK_API Buffer* borrow(void* data, void (*give_back)(void*), void* owner,
                            const Request& request);

inline void retain(Buffer* buffer) noexcept {
  buffer->refs.fetch_add(1, std::memory_order_relaxed);
}
TIDEMARK_API void destroy(Buffer* buffer) noexcept;
inline void release(Buffer* buffer) noexcept {
  if (buffer->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(buffer);
}

/// The owner of the only reference needs just the first `bytes`: the rest goes back where it can.
TIDEMARK_API void shrink(Buffer* buffer, size_t bytes) noexcept;

/// Moves the buffer's bytes from one holder's account to another's.
TIDEMARK_API void set_holder(Buffer* buffer, Holder holder) noexcept;

/// An arena waits for its next call (counted as planned) or is in use again (counted as live).
TIDEMARK_API void set_idle(Buffer* buffer, bool idle) noexcept;

}  // namespace tidemark::memory
