// Where ranges lie in one arena: as low a peak as the time allows.
//
//   std::vector<plan::LiveRange> ranges{{0, 2, 400}, {1, 3, 200}, {2, 4, 400}};
//   plan::Packing packing = plan::pack(ranges);
//   packing.offsets;      // {0, 400, 0}
//   packing.peak;         // 600
//   packing.lower_bound;  // 600: no order of bytes could do with less
#pragma once

#include <tidemark/export.h>

#include <limits>

#include "tidemark/plan/pack/live_range.h"

namespace tidemark::plan {

struct PackOptions {
  /// Greedy packings are always made; then the search may take this long. 0: no search.
  double seconds = 0.5;
  /// Decisions of the search. With enough seconds the result depends on this alone.
  int64_t node_cap = std::numeric_limits<int64_t>::max();
  /// Nothing below this peak is looked for.
  int64_t enough = 0;
};

struct Packing {
  std::vector<int64_t> offsets;
  int64_t peak = 0;
  int64_t lower_bound = 0;   ///< most bytes alive at one time
  int64_t proven_bound = 0;  ///< at least lower_bound; raised where a search found no packing
  int64_t nodes = 0;         ///< decisions the search took

  bool is_optimal() const { return peak == proven_bound; }
};

/// Throws InvalidArgumentError as `validate` does.
TIDEMARK_API Packing pack(std::span<const LiveRange> ranges, const PackOptions& options = {});

}  // namespace tidemark::plan
