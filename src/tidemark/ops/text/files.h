// Files as bytes.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark::text {

/// Bytes of a file. Throws NotFoundError, or FailedPreconditionError for what is no file.
int64_t file_size(std::string_view op, std::string_view name);
/// Reads at most `capacity` bytes; returns how many. Throws as file_size does.
int64_t read_file(std::string_view op, std::string_view name, char* out, int64_t capacity);

}  // namespace tidemark::text
