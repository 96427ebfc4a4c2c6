// Snappy's blocks: lengths, characters as they are, and copies of what came before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tidemark/export.h>

namespace tidemark::text {

/// The bytes that the block says it has; nothing where it does not begin with a length.
TIDEMARK_API std::optional<uint64_t> snappy_size(std::string_view block);
/// The bytes of the block; nothing where it is malformed or has other than `snappy_size` bytes.
/// Takes no more memory than that, which the caller has found to be bearable.
TIDEMARK_API std::optional<std::string> unsnappy(std::string_view block);

}  // namespace tidemark::text
