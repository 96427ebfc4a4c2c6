// The blocks of a GIF file, every length checked.
#pragma once

#include <tidemark/error.h>

#include <cstdint>
#include <string_view>

namespace tidemark::codecs {

struct GifFrame {
  int left = 0, top = 0, width = 0, height = 0;
  bool interlaced = false;
  int transparent = -1;     // index of the color that shows what was there before; -1: none
  std::string_view colors;  // three bytes each
  int code_bits = 0;        // of LZW's first codes
  std::string_view blocks;  // sub-blocks of LZW data
};

class GifReader {
 public:
  /// Throws InvalidArgumentError for a header that is malformed.
  GifReader(std::string_view op, std::string_view file) : op_(op), rest_(file) {
    const std::string_view head = take(13);
    width_ = word(head, 6);
    height_ = word(head, 8);
    const auto flags = static_cast<unsigned char>(head[10]);
    if (flags & 0x80) colors_ = take(size_t{3} << ((flags & 7) + 1));
  }
  int width() const { return width_; }
  int height() const { return height_; }

  /// False at the end of the file. Throws InvalidArgumentError for what is malformed.
  bool next(GifFrame& frame) {
    int transparent = -1;
    while (!rest_.empty()) {
      const char kind = take(1)[0];
      if (kind == ';') return false;
      if (kind == '!') {
        const char label = take(1)[0];
        const std::string_view body = take_blocks();
        if (label == '\xF9' && body.size() >= 5 && (body[1] & 1)) {
          transparent = static_cast<unsigned char>(body[4]);
        }
        continue;
      }
      if (kind != ',') refuse();
      read_frame(frame);
      frame.transparent = transparent;
      return true;
    }
    return false;
  }

 private:
  static int word(std::string_view s, size_t at) {
    return static_cast<unsigned char>(s[at]) | static_cast<unsigned char>(s[at + 1]) << 8;
  }
  [[noreturn]] void refuse() const {
    fail<InvalidArgumentError>("[", op_, "] Invalid GIF data: malformed or cut off");
  }
  std::string_view take(size_t size) {
    if (size > rest_.size()) refuse();
    const std::string_view out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }
  /// Sub-blocks up to the empty one.
  std::string_view take_blocks() {
    const std::string_view begin = rest_;
    for (;;) {
      const auto size = static_cast<unsigned char>(take(1)[0]);
      if (size == 0) return begin.substr(0, begin.size() - rest_.size());
      take(size);
    }
  }
  void read_frame(GifFrame& frame) {
    const std::string_view head = take(9);
    frame.left = word(head, 0);
    frame.top = word(head, 2);
    frame.width = word(head, 4);
    frame.height = word(head, 6);
    const auto flags = static_cast<unsigned char>(head[8]);
    frame.interlaced = flags & 0x40;
    frame.colors = flags & 0x80 ? take(size_t{3} << ((flags & 7) + 1)) : colors_;
    frame.code_bits = static_cast<unsigned char>(take(1)[0]);
    if (frame.code_bits < 1 || frame.code_bits > 8) refuse();
    frame.blocks = take_blocks();
  }

  std::string_view op_, rest_, colors_;
  int width_ = 0, height_ = 0;
};

}  // namespace tidemark::codecs
