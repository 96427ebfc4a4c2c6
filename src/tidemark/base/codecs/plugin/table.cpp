// libtidemark_codecs.so: images by libpng and libjpeg-turbo, compressed bytes by zlib.
#include <zlib.h>

#include <algorithm>
#include <cstdio>

#include "tidemark/base/codecs/plugin/codecs.h"

int inflate_bytes(TidemarkBytes compressed, int is_gzip, char* out, size_t capacity,
                  size_t* written, TidemarkCodecCaller* caller) {
  constexpr size_t kMost = 1 << 20;  // at a time
  z_stream stream{};
  if (inflateInit2(&stream, is_gzip ? 16 + MAX_WBITS : MAX_WBITS) != Z_OK) {
    std::snprintf(caller->error, TIDEMARK_CODEC_ERROR_SIZE, "no memory for zlib");
    return 1;
  }
  unsigned char block[16384];
  size_t total = 0;
  const char* next = compressed.data;
  size_t left = compressed.size;
  int status = Z_OK;
  bool is_stopped = false;
  while (status == Z_OK || (status == Z_STREAM_END && is_gzip && left > 0)) {
    if ((is_stopped = caller->must_stop(caller) != 0)) break;
    if (status == Z_STREAM_END) inflateReset(&stream);  // gzip files may be joined
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(next));
    stream.avail_in = static_cast<uInt>(std::min(left, kMost));
    const size_t offered = stream.avail_in;
    const size_t room = out ? std::min(capacity - total, kMost) : sizeof block;
    stream.next_out = out ? reinterpret_cast<Bytef*>(out + total) : block;
    stream.avail_out = static_cast<uInt>(room);
    status = inflate(&stream, Z_NO_FLUSH);
    const size_t taken = offered - stream.avail_in, given = room - stream.avail_out;
    next += taken;
    left -= taken;
    total += given;
    if (status == Z_OK && taken == 0 && given == 0) status = Z_BUF_ERROR;
  }
  inflateEnd(&stream);
  *written = total;
  if (status == Z_STREAM_END && left == 0 && !is_stopped) return 0;
  std::snprintf(caller->error, TIDEMARK_CODEC_ERROR_SIZE, "%s",
                is_stopped               ? "stopped"
                : status == Z_STREAM_END ? "bytes follow the compressed ones"
                : status == Z_BUF_ERROR  ? "the compressed bytes end too early"
                                         : "the bytes are not compressed so");
  return 1;
}

namespace {

constexpr TidemarkCodecTable kTable{decode_png, decode_jpeg, encode_png, encode_jpeg,
                                    inflate_bytes};

}  // namespace

extern "C" __attribute__((visibility("default"))) const TidemarkCodecTable* tidemark_codec_table() {
  return &kTable;
}
