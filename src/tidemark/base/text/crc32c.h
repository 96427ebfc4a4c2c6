// CRC-32C (Castagnoli), the checksum of TFRecord files.
#pragma once

#include <tidemark/export.h>

#include <cstdint>
#include <string_view>

namespace tidemark::text {

TIDEMARK_API uint32_t crc32c(std::string_view bytes);

}  // namespace tidemark::text
