// What an image file says about itself, read without a library.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark::codecs {

enum class Format : uint8_t { unknown, png, jpeg, gif, bmp };

struct ImageHeader {
  Format format = Format::unknown;
  int64_t width = 0, height = 0;
  int channels = 0;    // that the file's pixels have, palettes looked up
  int components = 0;  // jpeg: as the file has them; four, inks, are decoded to three channels
  int64_t frames = 1;  // gif
};

Format format_of(std::string_view file);

/// Throws InvalidArgumentError for a file that is none of the formats, is cut off, or says it has
/// more than 2^29 pixels.
ImageHeader read_header(std::string_view op, std::string_view file);

/// Decoders that need no library. `out` has room for frames (the first only unless `all`) of
/// height x width x 3 bytes. Throws InvalidArgumentError for what is malformed.
void decode_gif(std::string_view op, std::string_view file, const ImageHeader& header, bool all,
                uint8_t* out);
/// height x width x channels bytes.
void decode_bmp(std::string_view op, std::string_view file, const ImageHeader& header,
                uint8_t* out);

}  // namespace tidemark::codecs
