#include <csetjmp>
#include <cstdio>
#include <cstring>

#include <jpeglib.h>  // needs cstdio before it

#include "tidemark/base/codecs/plugin/codecs.h"

namespace {

/// What libjpeg may spend besides the pixels: the coefficients of a progressive image.
constexpr long kMaxMemory = 1L << 30;

/// No destructors: errors leave by longjmp.
struct ErrorState {
  jpeg_error_mgr manager;  // first: libjpeg knows the state by it
  std::jmp_buf out;
  TidemarkCodecCaller* caller;
};

void on_error(j_common_ptr common) {
  auto* state = reinterpret_cast<ErrorState*>(common->err);
  char message[JMSG_LENGTH_MAX];
  common->err->format_message(common, message);
  std::snprintf(state->caller->error, TIDEMARK_CODEC_ERROR_SIZE, "%s", message);
  std::longjmp(state->out, 1);
}

void on_message(j_common_ptr, int level) { (void)level; }

/// Called by libjpeg between lines of blocks, in each of an image's passes.
void on_progress(j_common_ptr common) {
  auto* state = reinterpret_cast<ErrorState*>(common->err);
  if (!state->caller->must_stop(state->caller)) return;
  std::snprintf(state->caller->error, TIDEMARK_CODEC_ERROR_SIZE, "stopped");
  std::longjmp(state->out, 1);
}

// --- reading ------------------------------------------------------------------------------------

struct Source {
  jpeg_source_mgr manager;
  bool ended;
};

void nothing(j_decompress_ptr) {}

/// The data is over: an end-of-image marker stands in for what is missing.
boolean at_end(j_decompress_ptr jpeg) {
  static const JOCTET kEnd[2] = {0xFF, JPEG_EOI};
  auto* source = reinterpret_cast<Source*>(jpeg->src);
  source->ended = true;
  source->manager.next_input_byte = kEnd;
  source->manager.bytes_in_buffer = 2;
  return TRUE;
}

void skip(j_decompress_ptr jpeg, long bytes) {
  auto* source = reinterpret_cast<Source*>(jpeg->src);
  if (bytes <= 0) return;
  if (static_cast<size_t>(bytes) > source->manager.bytes_in_buffer) {
    at_end(jpeg);
    return;
  }
  source->manager.next_input_byte += bytes;
  source->manager.bytes_in_buffer -= static_cast<size_t>(bytes);
}

/// A line of CMYK, as Adobe stores it (inverted), in place to RGB.
void cmyk_to_rgb(const JSAMPLE* from, JSAMPLE* to, int width, bool inverted) {
  for (int x = 0; x < width; ++x, from += 4, to += 3) {
    for (int c = 0; c < 3; ++c) {
      const int ink = inverted ? from[c] : 255 - from[c];
      const int black = inverted ? from[3] : 255 - from[3];
      to[c] = static_cast<JSAMPLE>(ink * black / 255);
    }
  }
}

struct Lines {
  jpeg_decompress_struct* jpeg;
  const TidemarkJpegOptions* options;
  Source* source;
  int width, height;
  JSAMPLE* out;
};

void configure(const Lines& lines) {
  jpeg_decompress_struct& jpeg = *lines.jpeg;
  const bool is_cmyk = jpeg.jpeg_color_space == JCS_CMYK || jpeg.jpeg_color_space == JCS_YCCK;
  jpeg.out_color_space = is_cmyk                        ? JCS_CMYK
                         : lines.options->channels == 1 ? JCS_GRAYSCALE
                                                        : JCS_RGB;
  jpeg.do_fancy_upsampling = lines.options->fancy_upscaling != 0;
  jpeg.dct_method = lines.options->fast_dct ? JDCT_IFAST : JDCT_ISLOW;
  jpeg.scale_num = 1;
  jpeg.scale_denom = static_cast<unsigned>(lines.options->ratio);
}

bool size_differs(const Lines& lines) {
  return static_cast<int>(lines.jpeg->output_width) != lines.width ||
         static_cast<int>(lines.jpeg->output_height) != lines.height;
}

/// 0, or what is wrong.
const char* read_lines(const Lines& lines) {
  jpeg_decompress_struct& jpeg = *lines.jpeg;
  const bool is_cmyk = jpeg.out_color_space == JCS_CMYK;
  if (is_cmyk && lines.options->channels != 3) return "CMYK images give three channels only";
  if (jpeg.output_components != (is_cmyk ? 4 : lines.options->channels)) {
    return "the image has another number of channels than it says";
  }
  const size_t stride =
      static_cast<size_t>(lines.width) * static_cast<size_t>(lines.options->channels);
  JSAMPARRAY buffer = (*jpeg.mem->alloc_sarray)(
      reinterpret_cast<j_common_ptr>(&jpeg), JPOOL_IMAGE,
      static_cast<JDIMENSION>(lines.width) * static_cast<JDIMENSION>(jpeg.output_components), 1);
  while (jpeg.output_scanline < jpeg.output_height) {
    const int y = static_cast<int>(jpeg.output_scanline);
    JSAMPLE* row = lines.out + static_cast<size_t>(y) * stride;
    if (lines.source->ended) {
      const bool enough = lines.options->recover_truncated &&
                          y >= lines.options->acceptable_fraction * lines.height;
      if (!enough) return "the file ends too early";
      std::memset(row, 0, stride * static_cast<size_t>(lines.height - y));
      return nullptr;
    }
    jpeg_read_scanlines(&jpeg, buffer, 1);
    if (is_cmyk) {
      cmyk_to_rgb(buffer[0], row, lines.width, jpeg.saw_Adobe_marker);
    } else {
      std::memcpy(row, buffer[0], stride);
    }
  }
  return nullptr;
}

// --- writing ------------------------------------------------------------------------------------

struct Destination {
  jpeg_destination_mgr manager;
  char* out;
  size_t capacity;
};

void start(j_compress_ptr jpeg) {
  auto* to = reinterpret_cast<Destination*>(jpeg->dest);
  to->manager.next_output_byte = reinterpret_cast<JOCTET*>(to->out);
  to->manager.free_in_buffer = to->capacity;
}

boolean when_full(j_compress_ptr jpeg) {
  auto* state = reinterpret_cast<ErrorState*>(jpeg->err);
  std::snprintf(state->caller->error, TIDEMARK_CODEC_ERROR_SIZE,
                "the result is larger than expected");
  std::longjmp(state->out, 1);
}

void finish(j_compress_ptr) {}

void write_image(jpeg_compress_struct& jpeg, const JSAMPLE* pixels,
                 const TidemarkJpegEncoding& encoding) {
  jpeg.image_width = static_cast<JDIMENSION>(encoding.width);
  jpeg.image_height = static_cast<JDIMENSION>(encoding.height);
  jpeg.input_components = encoding.channels;
  jpeg.in_color_space = encoding.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  if (encoding.optimize_size) jpeg.optimize_coding = TRUE;
  jpeg.density_unit = static_cast<UINT8>(encoding.density_unit);
  jpeg.X_density = static_cast<UINT16>(encoding.x_density);
  jpeg.Y_density = static_cast<UINT16>(encoding.y_density);
  jpeg_set_quality(&jpeg, encoding.quality, TRUE);
  if (encoding.progressive) jpeg_simple_progression(&jpeg);
  if (!encoding.chroma_downsampling) {
    for (int i = 0; i < jpeg.num_components; ++i) {
      jpeg.comp_info[i].h_samp_factor = 1;
      jpeg.comp_info[i].v_samp_factor = 1;
    }
  }
  jpeg_start_compress(&jpeg, TRUE);
  if (encoding.xmp.size > 0) {
    jpeg_write_marker(&jpeg, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(encoding.xmp.data),
                      static_cast<unsigned>(encoding.xmp.size));
  }
  const size_t stride =
      static_cast<size_t>(encoding.width) * static_cast<size_t>(encoding.channels);
  while (jpeg.next_scanline < jpeg.image_height) {
    JSAMPROW row = const_cast<JSAMPROW>(pixels + jpeg.next_scanline * stride);
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
}

}  // namespace

int decode_jpeg(TidemarkBytes file, const TidemarkJpegOptions* options, int width, int height,
                void* out, TidemarkCodecCaller* caller) {
  jpeg_decompress_struct jpeg;
  ErrorState errors;
  Source source;
  jpeg_progress_mgr progress{};
  jpeg.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = on_error;
  errors.manager.emit_message = on_message;
  errors.caller = caller;
  if (setjmp(errors.out)) {
    jpeg_destroy_decompress(&jpeg);
    return 1;
  }
  jpeg_create_decompress(&jpeg);
  progress.progress_monitor = on_progress;
  jpeg.progress = &progress;
  jpeg.mem->max_memory_to_use = kMaxMemory;
  source.manager = {};
  source.manager.init_source = nothing;
  source.manager.fill_input_buffer = at_end;
  source.manager.skip_input_data = skip;
  source.manager.resync_to_restart = jpeg_resync_to_restart;
  source.manager.term_source = nothing;
  source.manager.next_input_byte = reinterpret_cast<const JOCTET*>(file.data);
  source.manager.bytes_in_buffer = file.size;
  source.ended = false;
  jpeg.src = &source.manager;
  jpeg_read_header(&jpeg, TRUE);
  const Lines lines{&jpeg, options, &source, width, height, static_cast<JSAMPLE*>(out)};
  configure(lines);
  jpeg_start_decompress(&jpeg);
  const char* wrong = size_differs(lines) ? "the size of the image changed" : read_lines(lines);
  if (wrong) std::snprintf(caller->error, TIDEMARK_CODEC_ERROR_SIZE, "%s", wrong);
  jpeg_destroy_decompress(&jpeg);
  return wrong != nullptr;
}

int encode_jpeg(const void* pixels, const TidemarkJpegEncoding* encoding, char* out,
                size_t capacity, size_t* written, TidemarkCodecCaller* caller) {
  jpeg_compress_struct jpeg;
  ErrorState errors;
  Destination to;
  jpeg_progress_mgr progress{};
  jpeg.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = on_error;
  errors.manager.emit_message = on_message;
  errors.caller = caller;
  if (setjmp(errors.out)) {
    jpeg_destroy_compress(&jpeg);
    return 1;
  }
  jpeg_create_compress(&jpeg);
  progress.progress_monitor = on_progress;
  jpeg.progress = &progress;
  to.manager.init_destination = start;
  to.manager.empty_output_buffer = when_full;
  to.manager.term_destination = finish;
  to.out = out;
  to.capacity = capacity;
  jpeg.dest = &to.manager;
  write_image(jpeg, static_cast<const JSAMPLE*>(pixels), *encoding);
  *written = capacity - to.manager.free_in_buffer;
  jpeg_destroy_compress(&jpeg);
  return 0;
}
