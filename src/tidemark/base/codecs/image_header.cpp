#include "tidemark/base/codecs/image_header.h"

#include <tidemark/error.h>

#include "tidemark/base/codecs/gif_blocks.h"
#include "tidemark/base/interrupt.h"
#include "tidemark/base/settings.h"

namespace tidemark::codecs {

namespace {

constexpr int64_t kMaxPixels = int64_t{1} << 29;

uint32_t byte_at(std::string_view s, size_t at) { return static_cast<unsigned char>(s[at]); }
uint32_t big16(std::string_view s, size_t at) { return byte_at(s, at) << 8 | byte_at(s, at + 1); }
uint32_t big32(std::string_view s, size_t at) { return big16(s, at) << 16 | big16(s, at + 2); }
uint32_t little16(std::string_view s, size_t at) {
  return byte_at(s, at) | byte_at(s, at + 1) << 8;
}
uint32_t little32(std::string_view s, size_t at) {
  return little16(s, at) | little16(s, at + 2) << 16;
}

bool read_png(std::string_view file, ImageHeader& out) {
  if (file.size() < 33 || file.substr(12, 4) != "IHDR") return false;
  out.width = big32(file, 16);
  out.height = big32(file, 20);
  const uint32_t color = byte_at(file, 25);
  constexpr int kChannels[] = {1, 0, 3, 3, 2, 0, 4};
  if (color > 6 || kChannels[color] == 0) return false;
  out.channels = kChannels[color];
  if (color != 3) return true;
  for (size_t at = 33; at + 12 <= file.size();) {  // a palette with transparency has four
    const std::string_view type = file.substr(at + 4, 4);
    if (type == "tRNS") out.channels = 4;
    if (type == "tRNS" || type == "IDAT") break;
    at += 12 + size_t{big32(file, at)};
  }
  return true;
}

bool read_jpeg(std::string_view file, ImageHeader& out) {
  for (size_t at = 2; at + 4 <= file.size();) {
    if (byte_at(file, at) != 0xFF) return false;
    const uint32_t marker = byte_at(file, at + 1);
    if (marker == 0xFF) {  // filling
      ++at;
      continue;
    }
    if (marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8)) {  // markers without a body
      at += 2;
      continue;
    }
    const uint32_t size = big16(file, at + 2);
    const bool is_frame =
        marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
    if (is_frame) {
      if (at + 10 > file.size()) return false;
      out.height = big16(file, at + 5);
      out.width = big16(file, at + 7);
      out.components = byte_at(file, at + 9);
      out.channels = out.components == 1 ? 1 : 3;
      return true;
    }
    if (size < 2 || marker == 0xD9 || marker == 0xDA) return false;
    at += 2 + size;
  }
  return false;
}

bool read_bmp(std::string_view file, ImageHeader& out) {
  if (file.size() < 32) return false;
  out.width = static_cast<int32_t>(little32(file, 18));
  const int64_t height = static_cast<int32_t>(little32(file, 22));
  out.height = height < 0 ? -height : height;
  const uint32_t bits = little16(file, 28);
  if (bits != 8 && bits != 24 && bits != 32) return false;
  out.channels = static_cast<int>(bits / 8);
  return true;
}

bool read_gif(std::string_view op, std::string_view file, ImageHeader& out) {
  GifReader reader(op, file);
  out.width = reader.width();
  out.height = reader.height();
  out.channels = 3;
  out.frames = 0;
  for (GifFrame frame; reader.next(frame);) ++out.frames;
  return out.frames > 0;
}

/// A file of a few bytes may claim any size: what it would take is not allocated on its word.
void check_ratio(std::string_view op, std::string_view file, const ImageHeader& header) {
  constexpr int64_t kAlwaysAllowed = int64_t{1} << 22;
  const int64_t pixels = header.frames * header.height * header.width;
  if (pixels <= kAlwaysAllowed) return;
  const int64_t ratio = settings::integer(settings::kImageRatio);
  if (ratio <= 0 || pixels / ratio <= static_cast<int64_t>(file.size())) return;
  fail<InvalidArgumentError>("[", op, "] a file of ", file.size(), " bytes claims ", header.frames,
                             " x ", header.height, " x ", header.width, " pixels; allowed are ",
                             ratio, " for each byte. Where such files are trusted, set ",
                             settings::kImageRatio.name, " to a larger number, or to 0");
}

}  // namespace

Format format_of(std::string_view file) {
  if (file.starts_with("\x89PNG\r\n\x1a\n")) return Format::png;
  if (file.starts_with("\xFF\xD8\xFF")) return Format::jpeg;
  if (file.starts_with("GIF8")) return Format::gif;
  if (file.starts_with("BM")) return Format::bmp;
  return Format::unknown;
}

ImageHeader read_header(std::string_view op, std::string_view file) {
  ImageHeader out;
  out.format = format_of(file);
  bool good = false;
  switch (out.format) {
    case Format::png:
      good = read_png(file, out);
      break;
    case Format::jpeg:
      good = read_jpeg(file, out);
      break;
    case Format::gif:
      good = read_gif(op, file, out);
      break;
    case Format::bmp:
      good = read_bmp(file, out);
      break;
    default:
      fail<InvalidArgumentError>("[", op,
                                 "] Unknown image file format. One of JPEG, PNG, GIF, BMP "
                                 "required.");
  }
  if (!good) fail<InvalidArgumentError>("[", op, "] the image's header is malformed or cut off");
  if (out.width <= 0 || out.height <= 0 || out.height > kMaxPixels / out.width ||
      out.frames > kMaxPixels / (out.width * out.height)) {
    fail<InvalidArgumentError>("[", op, "] an image of ", out.frames, " x ", out.height, " x ",
                               out.width, " pixels; allowed are 1 to ", kMaxPixels);
  }
  check_ratio(op, file, out);
  return out;
}

void decode_bmp(std::string_view op, std::string_view file, const ImageHeader& header,
                uint8_t* out) {
  const auto offset = static_cast<int64_t>(little32(file, 10));
  const int64_t channels = header.channels;
  const int64_t row_bytes = (8 * channels * header.width + 31) / 32 * 4;
  const int64_t size = static_cast<int64_t>(file.size());
  const int64_t last = channels * header.width;  // of the last row, filling may be missing
  if (offset > size || (header.height - 1) * row_bytes + last > size - offset) {
    fail<InvalidArgumentError>("[", op, "] Incomplete bmp content, requires at least ",
                               (header.height - 1) * row_bytes + last + offset, " bytes, got ",
                               size);
  }
  const bool top_down = static_cast<int32_t>(little32(file, 22)) < 0;
  for (int64_t y = 0; y < header.height; ++y) {
    check_interrupt();
    const int64_t source = top_down ? y : header.height - 1 - y;
    const char* from = file.data() + offset + source * row_bytes;
    for (int64_t x = 0; x < header.width; ++x, from += channels, out += channels) {
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t place = channels == 1 || c == 3 ? c : 2 - c;  // blue comes first there
        out[c] = static_cast<uint8_t>(from[place]);
      }
    }
  }
}

}  // namespace tidemark::codecs
