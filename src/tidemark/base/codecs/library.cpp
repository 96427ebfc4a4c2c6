#include "tidemark/base/codecs/library.h"

#include <tidemark/error.h>

#include <string>

#include "tidemark/base/interrupt.h"
#include "tidemark/base/plugin.h"

namespace tidemark::codecs {

const TidemarkCodecTable& table() {
  static std::string& why = *new std::string;
  static const auto* const opened = static_cast<const TidemarkCodecTable*>(
      open_plugin("libtidemark_codecs.so", "tidemark_codec_table", why));
  if (!opened) fail<UnimplementedError>("image files and compressed bytes need a library: ", why);
  return *opened;
}

Caller::Caller() : TidemarkCodecCaller{} {
  must_stop = [](TidemarkCodecCaller* caller) {
    try {  // nothing is thrown through functions of C
      check_interrupt();
    } catch (...) {
      static_cast<Caller*>(caller)->stopped = std::current_exception();
      return 1;
    }
    return 0;
  };
}

bool Caller::has_failed(int status) const {
  if (stopped) std::rethrow_exception(stopped);
  return status != 0;
}

size_t inflated_size(std::string_view op, std::string_view compressed, bool is_gzip) {
  Caller caller;
  size_t size = 0;
  if (caller.has_failed(table().inflate({compressed.data(), compressed.size()}, is_gzip, nullptr, 0,
                                        &size, &caller))) {
    fail<InvalidArgumentError>("[", op, "] ", caller.error);
  }
  return size;
}

}  // namespace tidemark::codecs
