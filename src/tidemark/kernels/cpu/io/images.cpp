// Kernels of ops/image_files.cpp.
#include <tidemark/kernel.h>

#include "tidemark/base/codecs/image_header.h"
#include "tidemark/base/codecs/library.h"
#include "tidemark/kernels/cpu/text/string_output.h"
#include "tidemark/memory/buffer.h"

namespace tidemark::cpu {

namespace {

using codecs::Format;

TidemarkBytes bytes_of(std::string_view s) { return {s.data(), s.size()}; }

void decode_image_file(KernelContext& k) {
  const std::string_view file = k.input(0).string_at(0);
  const std::string& op = k.call().op.name();
  const codecs::ImageHeader header = codecs::read_header(op, file);
  auto* out = k.out<uint8_t>(0);
  const Shape& shape = k.output(0).shape();
  const bool all = shape.rank() == 4;
  codecs::Caller caller;
  const auto channels = static_cast<int>(shape[shape.rank() - 1]);
  const auto width = static_cast<int>(shape[shape.rank() - 2]);
  const auto height = static_cast<int>(shape[shape.rank() - 3]);
  int status = 0;
  switch (header.format) {
    case Format::gif:
      return codecs::decode_gif(op, file, header, all, out);
    case Format::bmp:
      return codecs::decode_bmp(op, file, header, out);
    case Format::png:
      status = codecs::table().decode_png(bytes_of(file), channels,
                                          k.output(0).dtype() == DType::uint16 ? 16 : 8, width,
                                          height, out, &caller);
      break;
    default: {
      const TidemarkJpegOptions options{
          .channels = channels,
          .ratio = static_cast<int>(k.attr("ratio").as_int()),
          .fancy_upscaling = k.attr("fancy_upscaling").as_bool(),
          .fast_dct = k.attr("dct_method").as_string() != "INTEGER_ACCURATE",
          .recover_truncated = k.attr("try_recover_truncated").as_bool(),
          .acceptable_fraction = k.attr("acceptable_fraction").as_real()};
      status = codecs::table().decode_jpeg(bytes_of(file), &options, width, height, out, &caller);
    }
  }
  if (caller.has_failed(status)) {
    k.fail("Invalid ", header.format == Format::png ? "PNG" : "JPEG", " data: ", caller.error);
  }
}

/// What the bound of the characters was too large by goes back.
void give_back_after(KernelContext& k, size_t used) {
  memory::shrink(k.output(0).impl()->buffer, k.output(0).nbytes() + used);
}

void encode_png(KernelContext& k) {
  const Shape& shape = k.input(0).shape();
  const int rank = shape.rank();
  const auto bytes = size_of(k.input(0).dtype());
  const auto image =
      static_cast<size_t>(shape[rank - 3] * shape[rank - 2] * shape[rank - 1]) * bytes;
  codecs::Caller caller;
  size_t left = static_cast<size_t>(k.string_capacity(0)), total = 0;
  StringSink sink(k, 0);
  for (int64_t i = 0; i < k.output(0).num_elements(); ++i) {
    size_t written = 0;
    if (caller.has_failed(codecs::table().encode_png(
            k.in<char>(0) + static_cast<size_t>(i) * image, static_cast<int>(shape[rank - 2]),
            static_cast<int>(shape[rank - 3]), static_cast<int>(shape[rank - 1]),
            bytes == 2 ? 16 : 8, static_cast<int>(k.attr("compression").as_int()), sink.extend(0),
            left, &written, &caller))) {
      k.fail("PNG encoding failed: ", caller.error);
    }
    sink.extend(written);
    sink.close();
    left -= written;
    total += written;
  }
  give_back_after(k, total);
}

void encode_jpeg(KernelContext& k) {
  const Shape& shape = k.input(0).shape();
  const auto number = [&](const char* name) { return static_cast<int>(k.attr(name).as_int()); };
  const std::string& xmp = k.attr("xmp_metadata").as_string();
  const TidemarkJpegEncoding encoding{
      .width = static_cast<int>(shape[1]),
      .height = static_cast<int>(shape[0]),
      .channels = static_cast<int>(shape[2]),
      .quality = number("quality"),
      .progressive = k.attr("progressive").as_bool(),
      .optimize_size = k.attr("optimize_size").as_bool(),
      .chroma_downsampling = k.attr("chroma_downsampling").as_bool(),
      .density_unit = k.attr("density_unit").as_string() == "in" ? 1 : 2,
      .x_density = number("x_density"),
      .y_density = number("y_density"),
      .xmp = bytes_of(xmp)};
  codecs::Caller caller;
  size_t written = 0;
  StringSink sink(k, 0);
  if (caller.has_failed(codecs::table().encode_jpeg(k.in<char>(0), &encoding, sink.extend(0),
                                                    static_cast<size_t>(k.string_capacity(0)),
                                                    &written, &caller))) {
    k.fail("JPEG encoding failed: ", caller.error);
  }
  sink.extend(written);
  sink.close();
  give_back_after(k, written);
}

void extract_jpeg_shape(KernelContext& k) {
  const std::string_view file = k.input(0).string_at(0);
  if (codecs::format_of(file) != Format::jpeg) k.fail("Invalid JPEG data: no JPEG file");
  const codecs::ImageHeader header = codecs::read_header(k.call().op.name(), file);
  const int64_t sizes[] = {header.height, header.width, header.components};
  for (int i = 0; i < 3; ++i) {
    if (k.output(0).dtype() == DType::int32) {
      k.out<int32_t>(0)[i] = static_cast<int32_t>(sizes[i]);
    } else {
      k.out<int64_t>(0)[i] = sizes[i];
    }
  }
}

void decode_compressed(KernelContext& k) {
  const bool is_gzip = k.attr("compression_type").as_string() == "GZIP";
  size_t left = static_cast<size_t>(k.string_capacity(0));
  codecs::Caller caller;
  StringSink sink(k, 0);
  for (int64_t i = 0; i < k.input(0).num_elements(); ++i) {
    const std::string_view s = k.input(0).string_at(i);
    size_t written = 0;
    if (caller.has_failed(codecs::table().inflate(bytes_of(s), is_gzip, sink.extend(0), left,
                                                  &written, &caller))) {
      k.fail("cannot decompress element ", i, ": ", caller.error);
    }
    sink.extend(written);
    sink.close();
    left -= written;
  }
}

}  // namespace

TIDEMARK_KERNEL_OF(cpu, decode_image_file, kString, decode_image_file);
TIDEMARK_KERNEL_OF(cpu, encode_png, dtype_set(DType::uint8, DType::uint16), encode_png);
TIDEMARK_KERNEL_OF(cpu, encode_jpeg, dtype_set(DType::uint8), encode_jpeg);
TIDEMARK_KERNEL_OF(cpu, extract_jpeg_shape, kString, extract_jpeg_shape);
TIDEMARK_KERNEL_OF(cpu, decode_compressed, kString, decode_compressed);

}  // namespace tidemark::cpu
