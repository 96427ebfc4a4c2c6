// Where rows begin, for ops on strings.
#pragma once

#include <tidemark/op.h>

namespace tidemark::text {

/// Throws InvalidArgumentError unless the splits begin with 0, never fall and end with `count`.
inline void check_splits(std::string_view op, const Ints& splits, int64_t count) {
  if (splits.empty()) {
    if (count == 0) return;
    fail<InvalidArgumentError>("[", op, "] no splits are given for ", count, " values");
  }
  if (splits[0] != 0) {
    fail<InvalidArgumentError>("[", op, "] First split value must be 0, got ", splits[0]);
  }
  for (size_t i = 1; i < splits.size(); ++i) {
    if (splits[i] >= splits[i - 1] && splits[i] <= count) continue;
    fail<InvalidArgumentError>("[", op, "] Invalid split value ", splits[i], ", must be in [",
                               splits[i - 1], ", ", count, "]");
  }
  if (splits.back() != count) {
    fail<InvalidArgumentError>("[", op, "] Last split value must be data size. Expected ", count,
                               ", got ", splits.back());
  }
}

}  // namespace tidemark::text
