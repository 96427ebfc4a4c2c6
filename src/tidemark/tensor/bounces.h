// Bounces: elements that were copied from a device because an op of the host reads them.
//
// A program that does so in every step waits for the device each time; `tidemark doctor` tells of
// it, by op and line.
#pragma once

#include <tidemark/export.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

struct Bounce {
  std::string op, place;  // "svd", "train.py:12 in step"
  int64_t copies = 0, bytes = 0;
};

/// At the line for which this thread works.
TIDEMARK_API void note_bounce(std::string_view op, size_t bytes);
/// Since the process began; of the first few hundred lines.
TIDEMARK_API std::vector<Bounce> bounces();

}  // namespace tidemark
