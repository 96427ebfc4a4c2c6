#include "tidemark/base/codecs/library.h"

#include <tidemark/error.h>

#include <string>

#include "tidemark/base/plugin.h"

namespace tidemark::codecs {

const TidemarkCodecTable& table() {
  static std::string why;
  static const auto* const opened = static_cast<const TidemarkCodecTable*>(
      open_plugin("libtidemark_codecs.so", "tidemark_codec_table", why));
  if (!opened) fail<UnimplementedError>("image files and compressed bytes need a library: ", why);
  return *opened;
}

size_t inflated_size(std::string_view op, std::string_view compressed, bool is_gzip) {
  char error[TIDEMARK_CODEC_ERROR_SIZE];
  size_t size = 0;
  if (table().inflate({compressed.data(), compressed.size()}, is_gzip, nullptr, 0, &size, error)) {
    fail<InvalidArgumentError>("[", op, "] ", error);
  }
  return size;
}

}  // namespace tidemark::codecs
