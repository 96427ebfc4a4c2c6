// The library that knows image files and compressed bytes, opened when it is first needed.
#pragma once

#include <exception>
#include <string_view>

#include "tidemark/base/codecs/plugin/interface.h"

namespace tidemark::codecs {

/// Throws UnimplementedError where the library is missing.
const TidemarkCodecTable& table();

/// Handed to the library's functions, which stop when the thread's run is to (base/interrupt.h).
struct Caller : TidemarkCodecCaller {
  Caller();
  /// True where a call failed by itself; throws what stopped it.
  bool has_failed(int status) const;
  std::exception_ptr stopped;
};

/// Bytes a string has when decompressed; `is_gzip` false: zlib's format. Throws
/// InvalidArgumentError for what is malformed.
size_t inflated_size(std::string_view op, std::string_view compressed, bool is_gzip);

}  // namespace tidemark::codecs
