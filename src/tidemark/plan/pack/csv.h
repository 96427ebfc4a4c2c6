// A plain list of buffers as text, one a line:
//
//   id,lower,upper,size
//   weights,0,10,4096
//   hidden,2,5,1024
//
// The columns may come in any order; `alignment` and `offset` (a fixed one) may be added.
#pragma once

#include <tidemark/export.h>

#include <string>
#include <string_view>

#include "tidemark/plan/pack/live_range.h"

namespace tidemark::plan {

struct BufferTable {
  std::vector<std::string> ids;
  std::vector<LiveRange> ranges;
};

/// Throws InvalidArgumentError that names the line.
TIDEMARK_API BufferTable parse_csv(std::string_view text);

}  // namespace tidemark::plan
