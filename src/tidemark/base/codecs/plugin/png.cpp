#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "tidemark/base/codecs/plugin/codecs.h"

namespace {

/// What libpng's callbacks see. No destructors: errors leave by longjmp.
struct PngState {
  TidemarkBytes file;
  size_t at;
  char* out;
  size_t capacity;
  TidemarkCodecCaller* caller;
};

void on_error(png_structp png, png_const_charp message) {
  auto* state = static_cast<PngState*>(png_get_error_ptr(png));
  std::snprintf(state->caller->error, TIDEMARK_CODEC_ERROR_SIZE, "%s", message);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep to, png_size_t size) {
  auto* state = static_cast<PngState*>(png_get_io_ptr(png));
  if (size > state->file.size - state->at) png_error(png, "the file ends too early");
  std::memcpy(to, state->file.data + state->at, size);
  state->at += size;
}

void on_write(png_structp png, png_bytep from, png_size_t size) {
  auto* state = static_cast<PngState*>(png_get_io_ptr(png));
  if (size > state->capacity - state->at) png_error(png, "the result is larger than expected");
  std::memcpy(state->out + state->at, from, size);
  state->at += size;
}

void on_flush(png_structp) {}

/// Before each line.
void look(png_structp png) {
  TidemarkCodecCaller* caller = static_cast<PngState*>(png_get_io_ptr(png))->caller;
  if (caller->must_stop(caller)) png_error(png, "stopped");
}

void ask_for(png_structp png, png_infop info, int channels, int bits) {
  const int depth = png_get_bit_depth(png, info);
  const int color = png_get_color_type(png, info);
  const bool is_transparent =
      (color & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(png, info, PNG_INFO_tRNS) != 0;
  if (channels % 2 == 0) {
    if (!is_transparent) {
      png_set_add_alpha(png, (1u << (depth < 8 ? 8 : depth)) - 1, PNG_FILLER_AFTER);
    }
  } else if (is_transparent) {
    png_set_strip_alpha(png);
  }
  if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  const bool is_gray = (color & PNG_COLOR_MASK_COLOR) == 0;
  if (is_gray && depth < 8) png_set_expand_gray_1_2_4_to_8(png);
  if (is_gray && channels % 2 == 0 && png_get_valid(png, info, PNG_INFO_tRNS)) {
    png_set_tRNS_to_alpha(png);
  }
  if (!is_gray && color != PNG_COLOR_TYPE_PALETTE && channels % 2 == 0 &&
      png_get_valid(png, info, PNG_INFO_tRNS)) {
    png_set_tRNS_to_alpha(png);
  }
  if (depth == 16 && bits == 8) png_set_strip_16(png);
  png_set_packing(png);
  if (bits == 16 && depth == 16) png_set_swap(png);
  if (channels < 3 && !is_gray) {
    png_set_rgb_to_gray(png, 1, 0.299, 0.587);
  } else if (channels >= 3 && is_gray) {
    png_set_gray_to_rgb(png);
  }
}

void read_rows(png_structp png, png_infop info, int channels, int bits, int width, int height,
               char* out) {
  if (static_cast<int>(png_get_image_width(png, info)) != width ||
      static_cast<int>(png_get_image_height(png, info)) != height) {
    png_error(png, "the size of the image changed");
  }
  const int depth = png_get_bit_depth(png, info);
  ask_for(png, info, channels, bits);
  const int passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  const size_t row_bytes = png_get_rowbytes(png, info);
  const size_t values = static_cast<size_t>(width) * static_cast<size_t>(channels);
  const size_t stride = values * static_cast<size_t>(bits / 8);
  const bool widen = bits == 16 && depth < 16;  // rows come in bytes then
  if (row_bytes != (widen ? values : stride)) png_error(png, "rows of an unexpected length");
  for (int pass = 0; pass < passes; ++pass) {
    for (int y = 0; y < height; ++y) {
      look(png);
      png_read_row(png, reinterpret_cast<png_bytep>(out + static_cast<size_t>(y) * stride),
                   nullptr);
    }
  }
  for (int y = 0; widen && y < height; ++y) {
    look(png);
    char* row = out + static_cast<size_t>(y) * stride;
    for (size_t i = values; i-- > 0;) {
      const auto byte = static_cast<unsigned char>(row[i]);
      const auto wide = static_cast<uint16_t>(byte * 257);
      std::memcpy(row + 2 * i, &wide, sizeof wide);
    }
  }
}

}  // namespace

int decode_png(TidemarkBytes file, int channels, int bits, int width, int height, void* out,
               TidemarkCodecCaller* caller) {
  PngState state{file, 0, nullptr, 0, caller};
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &state, on_error, on_warning);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  if (!info) {
    std::snprintf(caller->error, TIDEMARK_CODEC_ERROR_SIZE, "no memory for libpng");
    png_destroy_read_struct(&png, nullptr, nullptr);
    return 1;
  }
  if (setjmp(png_jmpbuf(png))) {
    png_destroy_read_struct(&png, &info, nullptr);
    return 1;
  }
  png_set_read_fn(png, &state, on_read);
  png_set_user_limits(png, 0x7fffffff, 0x7fffffff);
  png_set_chunk_malloc_max(png, 8 << 20);
  png_read_info(png, info);
  read_rows(png, info, channels, bits, width, height, static_cast<char*>(out));
  png_destroy_read_struct(&png, &info, nullptr);
  return 0;
}

int encode_png(const void* pixels, int width, int height, int channels, int bits, int compression,
               char* out, size_t capacity, size_t* written, TidemarkCodecCaller* caller) {
  PngState state{{}, 0, out, capacity, caller};
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &state, on_error, on_warning);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  if (!info) {
    std::snprintf(caller->error, TIDEMARK_CODEC_ERROR_SIZE, "no memory for libpng");
    png_destroy_write_struct(&png, nullptr);
    return 1;
  }
  if (setjmp(png_jmpbuf(png))) {
    png_destroy_write_struct(&png, &info);
    return 1;
  }
  constexpr int kColors[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                             PNG_COLOR_TYPE_RGBA};
  png_set_write_fn(png, &state, on_write, on_flush);
  png_set_user_limits(png, 0x7fffffff, 0x7fffffff);
  if (compression >= 0) png_set_compression_level(png, compression);
  png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height), bits,
               kColors[channels], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  if (bits == 16) png_set_swap(png);
  const size_t stride =
      static_cast<size_t>(width) * static_cast<size_t>(channels) * static_cast<size_t>(bits / 8);
  for (int y = 0; y < height; ++y) {
    look(png);
    png_write_row(png, static_cast<png_const_bytep>(pixels) + static_cast<size_t>(y) * stride);
  }
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  *written = state.at;
  return 0;
}
