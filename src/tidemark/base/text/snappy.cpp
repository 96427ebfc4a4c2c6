#include "tidemark/base/text/snappy.h"

#include "tidemark/base/wire.h"

namespace tidemark::text {

namespace {

/// Takes a number of so many bytes, the lowest first.
bool take_number(std::string_view& rest, uint64_t bytes, uint64_t& out) {
  if (rest.size() < bytes) return false;
  out = 0;
  for (uint64_t i = 0; i < bytes; ++i) {
    out |= uint64_t{static_cast<uint8_t>(rest[i])} << (8 * i);
  }
  rest.remove_prefix(bytes);
  return true;
}

/// One step of a block: characters that follow, or a copy of some that were there before.
struct Step {
  uint64_t length = 0, distance = 0;  // 0: the characters follow
};

bool take_step(std::string_view& rest, Step& out) {
  uint64_t tag = 0, number = 0;
  if (!take_number(rest, 1, tag)) return false;
  const uint64_t upper = tag >> 2;
  switch (tag & 3) {
    case 0: {
      constexpr uint64_t kLongest = 60;  // from here on: in how many bytes the length stands
      if (upper < kLongest) {
        out = {upper + 1, 0};
        return true;
      }
      if (!take_number(rest, upper - kLongest + 1, number)) return false;
      out = {number + 1, 0};
      return true;
    }
    case 1:
      if (!take_number(rest, 1, number)) return false;
      out = {4 + (upper & 7), (upper >> 3 << 8) | number};
      break;
    default:
      if (!take_number(rest, (tag & 3) == 2 ? 2 : 4, number)) return false;
      out = {upper + 1, number};
  }
  return out.distance > 0;
}

}  // namespace

std::optional<uint64_t> snappy_size(std::string_view block) {
  uint64_t size = 0;
  if (!take_varint(block, size)) return std::nullopt;
  return size;
}

std::optional<std::string> unsnappy(std::string_view block) {
  uint64_t size = 0;
  if (!take_varint(block, size)) return std::nullopt;
  std::string out;
  out.reserve(size);
  while (!block.empty()) {
    Step step;
    if (!take_step(block, step) || step.length > size - out.size()) return std::nullopt;
    if (step.distance == 0) {
      if (step.length > block.size()) return std::nullopt;
      out.append(block.substr(0, step.length));
      block.remove_prefix(step.length);
      continue;
    }
    if (step.distance > out.size()) return std::nullopt;
    // A copy may run into what it makes itself.
    for (uint64_t i = 0; i < step.length; ++i) out.push_back(out[out.size() - step.distance]);
  }
  if (out.size() != size) return std::nullopt;
  return out;
}

}  // namespace tidemark::text
