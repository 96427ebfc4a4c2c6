/* Where libtidemark and libtidemark_codecs meet: plain C, so that neither links the other. Every
   function returns 0, or another number with the reason in its caller's `error`, cut to fit. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { TIDEMARK_CODEC_ERROR_SIZE = 200 };

struct TidemarkCodecCaller {
  char error[TIDEMARK_CODEC_ERROR_SIZE];
  /* Asked between lines and blocks: not 0 stops the function, which fails then. */
  int (*must_stop)(struct TidemarkCodecCaller*);
};

struct TidemarkBytes {
  const char* data;
  size_t size;
};

struct TidemarkJpegOptions {
  int channels; /* 1 or 3 */
  int ratio;    /* 1, 2, 4 or 8: the image is made smaller by it */
  int fancy_upscaling;
  int fast_dct;
  int recover_truncated;
  double acceptable_fraction; /* of the lines, when recovering */
};

struct TidemarkJpegEncoding {
  int width, height, channels; /* channels: 1 or 3 */
  int quality, progressive, optimize_size, chroma_downsampling;
  int density_unit, x_density, y_density; /* unit 1: inches, 2: centimetres */
  struct TidemarkBytes xmp;
};

struct TidemarkCodecTable {
  /* Pixels of height x width x channels, 8 or 16 bits each in the machine's order. */
  int (*decode_png)(struct TidemarkBytes file, int channels, int bits, int width, int height,
                    void* out, struct TidemarkCodecCaller* caller);
  int (*decode_jpeg)(struct TidemarkBytes file, const struct TidemarkJpegOptions* options,
                     int width, int height, void* out, struct TidemarkCodecCaller* caller);
  /* Write at most `capacity` bytes and say how many. */
  int (*encode_png)(const void* pixels, int width, int height, int channels, int bits,
                    int compression, char* out, size_t capacity, size_t* written,
                    struct TidemarkCodecCaller* caller);
  int (*encode_jpeg)(const void* pixels, const struct TidemarkJpegEncoding* encoding, char* out,
                     size_t capacity, size_t* written, struct TidemarkCodecCaller* caller);
  /* Decompresses zlib's format or gzip's; a null `out` only counts. */
  int (*inflate)(struct TidemarkBytes compressed, int is_gzip, char* out, size_t capacity,
                 size_t* written, struct TidemarkCodecCaller* caller);
};
