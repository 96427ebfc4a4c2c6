// The functions behind the table of libtidemark_codecs.so.
#pragma once

#include "tidemark/base/codecs/plugin/interface.h"

int decode_png(TidemarkBytes file, int channels, int bits, int width, int height, void* out,
               TidemarkCodecCaller* caller);
int decode_jpeg(TidemarkBytes file, const TidemarkJpegOptions* options, int width, int height,
                void* out, TidemarkCodecCaller* caller);
int encode_png(const void* pixels, int width, int height, int channels, int bits, int compression,
               char* out, size_t capacity, size_t* written, TidemarkCodecCaller* caller);
int encode_jpeg(const void* pixels, const TidemarkJpegEncoding* encoding, char* out,
                size_t capacity, size_t* written, TidemarkCodecCaller* caller);
int inflate_bytes(TidemarkBytes compressed, int is_gzip, char* out, size_t capacity,
                  size_t* written, TidemarkCodecCaller* caller);
