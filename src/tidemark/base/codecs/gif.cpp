// GIF's pixels: LZW codes of 3 to 12 bits.
#include <cstring>

#include "tidemark/base/codecs/gif_blocks.h"
#include "tidemark/base/codecs/image_header.h"
#include "tidemark/base/interrupt.h"

namespace tidemark::codecs {

namespace {

/// Bits from sub-blocks, the lowest first.
class BlockBits {
 public:
  explicit BlockBits(std::string_view blocks) : rest_(blocks) {}

  /// False at the end.
  bool take(int bits, unsigned& code) {
    while (count_ < bits) {
      if (left_ == 0) {
        if (rest_.empty()) return false;
        left_ = static_cast<unsigned char>(rest_[0]);
        rest_.remove_prefix(1);
        if (left_ == 0) return false;
      }
      held_ |= static_cast<unsigned>(static_cast<unsigned char>(rest_[0])) << count_;
      rest_.remove_prefix(1);
      --left_;
      count_ += 8;
    }
    code = held_ & ((1u << bits) - 1);
    held_ >>= bits;
    count_ -= bits;
    return true;
  }

 private:
  std::string_view rest_;  // whole sub-blocks: GifReader has checked their lengths
  unsigned left_ = 0, held_ = 0;
  int count_ = 0;
};

/// Calls put(color index) for every pixel the codes give, until put says it has enough. False:
/// malformed.
template <class Put>
bool expand(const GifFrame& frame, Put put) {
  constexpr unsigned kCodes = 4096;
  uint16_t prefix[kCodes];
  uint8_t suffix[kCodes], stack[kCodes + 1];
  const unsigned clear = 1u << frame.code_bits, end = clear + 1;
  unsigned next = clear + 2, previous = kCodes;
  int bits = frame.code_bits + 1;
  uint8_t first = 0;
  BlockBits in(frame.blocks);
  unsigned codes = 0;
  for (unsigned code; in.take(bits, code);) {
    if (++codes % 256 == 0) check_interrupt();
    if (code == clear) {
      next = clear + 2;
      bits = frame.code_bits + 1;
      previous = kCodes;
      continue;
    }
    if (code == end) return true;
    if (code > next || (code == next && previous == kCodes)) return false;
    unsigned depth = 0, walk = code;
    if (code == next) {  // the string that is just being made: the last one and its first color
      stack[depth++] = first;
      walk = previous;
    }
    while (walk >= clear) {
      if (walk == clear || walk == end || depth >= kCodes) return false;
      stack[depth++] = suffix[walk];
      walk = prefix[walk];
    }
    first = static_cast<uint8_t>(walk);
    stack[depth++] = first;
    if (previous != kCodes && next < kCodes) {
      prefix[next] = static_cast<uint16_t>(previous);
      suffix[next++] = first;
      if (next == 1u << bits && bits < 12) ++bits;
    }
    previous = code;
    while (depth > 0) {
      if (!put(stack[--depth])) return true;
    }
  }
  return true;
}

/// Row of the image that the n-th row of an interlaced one is.
int interlaced_row(int n, int height) {
  constexpr int kStart[] = {0, 4, 2, 1}, kStep[] = {8, 8, 4, 2};
  for (int pass = 0; pass < 4; ++pass) {
    const int rows = (height - kStart[pass] + kStep[pass] - 1) / kStep[pass];
    if (n < rows) return kStart[pass] + n * kStep[pass];
    if (rows > 0) n -= rows;
  }
  return height;
}

/// Draws one frame over what `canvas` holds. False: malformed.
bool draw(const GifFrame& frame, const ImageHeader& header, uint8_t* canvas) {
  if (frame.width == 0 || frame.height == 0) return true;
  const auto colors = static_cast<int>(frame.colors.size() / 3);
  if (colors == 0) return false;
  int64_t pixel = 0;
  const int64_t pixels = int64_t{frame.width} * frame.height;
  const bool good = expand(frame, [&](int index) {
    const int row = static_cast<int>(pixel / frame.width);
    const int64_t y = frame.top + (frame.interlaced ? interlaced_row(row, frame.height) : row);
    const int64_t x = frame.left + pixel % frame.width;
    ++pixel;
    if (y < header.height && x < header.width && index != frame.transparent && index < colors) {
      std::memcpy(canvas + (y * header.width + x) * 3, frame.colors.data() + index * 3, 3);
    }
    return pixel < pixels;
  });
  return good && pixel == pixels;
}

}  // namespace

void decode_gif(std::string_view op, std::string_view file, const ImageHeader& header, bool all,
                uint8_t* out) {
  const auto bytes = static_cast<size_t>(header.width * header.height * 3);
  GifReader reader(op, file);
  int64_t number = 0;
  for (GifFrame frame; number < (all ? header.frames : 1) && reader.next(frame); ++number) {
    uint8_t* canvas = out + static_cast<size_t>(number) * bytes;
    if (number == 0) {
      std::memset(canvas, 0, bytes);
    } else {
      std::memcpy(canvas, canvas - bytes, bytes);
    }
    if (!draw(frame, header, canvas)) {
      fail<InvalidArgumentError>("[", op, "] Invalid GIF data: frame ", number,
                                 " is malformed or cut off");
    }
  }
}

}  // namespace tidemark::codecs
