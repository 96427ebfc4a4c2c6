#include "tidemark/graph/recording.h"

#include <algorithm>

namespace tidemark::graph {

bool is_round_record(const Node& node, size_t output) {
  const auto count = node.special ? node.special->round_records_at() : std::nullopt;
  return count && output > *count;
}

std::optional<int64_t> growing_bytes(const Node& node) {
  std::optional<int64_t> bytes;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const OutputInfo& record = node.outputs[i];
    if (!is_round_record(node, i) || record.shape.is_fully_known()) continue;
    auto of_round = static_cast<int64_t>(size_of(record.dtype));
    for (int d = 1; d < record.shape.rank(); ++d) of_round *= std::max<int64_t>(0, record.shape[d]);
    bytes = bytes.value_or(0) + of_round;
  }
  return bytes;
}

}  // namespace tidemark::graph
