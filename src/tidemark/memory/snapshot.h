// Snapshots of the ledger, to be explained after the lock is released.
#pragma once

#include "tidemark/memory/buffer.h"
#include "tidemark/memory/site.h"

#include <tidemark/shape.h>

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

namespace tidemark::memory {

/// Live buffers with the same site, op and holder.
struct Group {
  const Site* site;
  const char* op;
  Holder holder;
  DType dtype;       // of the largest
  Shape shape;       // of the largest
  bool cut;          // the shape had more dimensions than are kept
  int64_t largest;   // bytes charged
  int64_t bytes;     // charged, all together
  int64_t borrowed;  // bytes of other owners, all together
  int64_t count;
  int64_t idle;  // of the bytes: planned, waiting
};

/// A group, explained.
struct NamedGroup {
  std::string place, op, holder;
  int64_t bytes = 0;
  int64_t count = 0;
  int64_t idle = 0;  // of the bytes
};
/// Largest first. Takes the locks.
TIDEMARK_API std::vector<NamedGroup> named_groups();

/// Live buffers that are not among those claimed, alike in everything that tells who has them.
struct Unclaimed {
  const Site* site;
  const char* op;
  Holder holder;
  uint32_t run;
  int64_t bytes = 0;
  int64_t count = 0;
  int64_t idle = 0;       // of the bytes
  int64_t requested = 0;  // without headers and rounding
};
/// Takes the lock. A site is valid as long as nobody forgets sites: see pin.
TIDEMARK_API std::vector<Unclaimed> collect_unclaimed(
    const std::unordered_set<const Buffer*>& claimed);

/// Largest first. The caller holds the core's lock.
std::vector<Group> collect_groups(Device device = {});

/// The dims as recorded; `*cut` is set when there were more than are kept.
Shape recorded_shape(const Buffer& buffer, bool* cut);

/// "float32 (1000, 1000)"; "raw bytes" for an invalid dtype.
std::string describe_contents(DType dtype, const Shape& shape, bool cut);

}  // namespace tidemark::memory
