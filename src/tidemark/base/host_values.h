// Which values stay on the host whatever a scope says.
#pragma once

#include <tidemark/dtype.h>

namespace tidemark {

/// Strings, and as few integers as sizes, axes and counters are: what the host decides by.
inline bool belongs_on_host(DType dtype, int64_t num_elements) {
  constexpr int64_t kFewIntegers = 64;
  if (dtype == DType::string) return true;
  const bool is_integer = dtype == DType::int32 || dtype == DType::int64;
  return is_integer && num_elements <= kFewIntegers;
}

}  // namespace tidemark
