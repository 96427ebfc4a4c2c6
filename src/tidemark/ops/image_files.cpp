// Ops on image files and compressed bytes.
#include <tidemark/op.h>

#include <algorithm>

#include "tidemark/base/codecs/image_header.h"
#include "tidemark/base/codecs/library.h"
#include "tidemark/ops/movement.h"
#include "tidemark/ops/text/sink.h"

namespace tidemark {

namespace {

using namespace movement;
using codecs::Format;

void check_scalar(const InferContext& c) {
  if (c.shape(0).has_rank() && c.shape(0).rank() != 0) {
    c.fail("contents must be scalar, got shape ", c.shape(0).to_brackets());
  }
}

void decode_rule(InferContext& c) {
  check_scalar(c);
  const int64_t wanted = c.attr("channels").as_int();
  if (wanted < 0 || wanted > 4 || wanted == 2) {
    c.fail("channels must be 0, 1, 3 or 4; given ", wanted);
  }
  const int64_t ratio = c.attr("ratio").as_int();
  if (ratio != 1 && ratio != 2 && ratio != 4 && ratio != 8) {
    c.fail("ratio must be 1, 2, 4 or 8; given ", ratio);
  }
  const std::string& dct = c.attr("dct_method").as_string();
  if (!dct.empty() && dct != "INTEGER_FAST" && dct != "INTEGER_ACCURATE") {
    c.fail("dct_method must be '', 'INTEGER_FAST' or 'INTEGER_ACCURATE'; given '", dct, "'");
  }
  if (!text::holds_values(c.call())) {
    return c.set(0, c.attr("expand_animations").as_bool()
                        ? Shape::unknown()
                        : Shape{kUnknownDim, kUnknownDim, wanted == 0 ? kUnknownDim : wanted});
  }
  const codecs::ImageHeader header = codecs::read_header(c.op_name(), c.input(0).string_at(0));
  int64_t channels = wanted == 0 ? header.channels : wanted;
  int64_t height = header.height, width = header.width;
  switch (header.format) {
    case Format::jpeg:
      if (channels == 4) c.fail("a JPEG has 1 or 3 channels; given ", wanted);
      height = (height + ratio - 1) / ratio;
      width = (width + ratio - 1) / ratio;
      break;
    case Format::gif:
      if (wanted != 0 && wanted != 3) c.fail("channels must be 0 or 3 for GIF; given ", wanted);
      channels = 3;
      break;
    case Format::bmp:
      if (channels != header.channels) {
        c.fail("channels attribute ", wanted, " does not match bits per pixel from file ",
               header.channels * 8);
      }
      break;
    default:
      break;
  }
  if (c.attr("dtype").as_dtype() == DType::uint16 && header.format != Format::png) {
    c.fail("only PNG files give uint16; ask for uint8 and convert");
  }
  if (header.format == Format::gif && c.attr("expand_animations").as_bool()) {
    return c.set(0, Shape{header.frames, height, width, channels});
  }
  c.set(0, Shape{height, width, channels});
}

/// [..., height, width, channels] of an image to encode, checked.
Shape image_shape(const InferContext& c, std::initializer_list<int64_t> channels) {
  const Shape& s = c.shape(0);
  if (!s.is_fully_known()) return {};
  if (s.rank() < 3) c.fail("image must be at least 3-dimensional, got ", s.to_brackets());
  const int64_t height = s[s.rank() - 3], width = s[s.rank() - 2], depth = s[s.rank() - 1];
  if (std::find(channels.begin(), channels.end(), depth) == channels.end()) {
    c.fail("image has ", depth, " channels, which this format does not know");
  }
  if (height < 1 || width < 1 || height > INT32_MAX || width > INT32_MAX) {
    c.fail("image must not be empty and not wider or higher than 2^31 - 1, got ", s.to_brackets());
  }
  return s;
}

Shape batch_of(const Shape& s) {
  return Shape(std::span<const int64_t>(s.begin(), static_cast<size_t>(s.rank() - 3)));
}

void encode_png_rule(InferContext& c) {
  const int64_t compression = c.attr("compression").as_int();
  if (compression < -1 || compression > 9) {
    c.fail("compression should be in [-1,9], got ", compression);
  }
  if (!c.shape(0).is_fully_known()) return c.set(0, Shape::unknown());
  const Shape s = image_shape(c, {1, 2, 3, 4});
  c.set(0, batch_of(s));
  // Deflate grows what it cannot shrink by less than a thousandth, chunks add 12 bytes in 8 KiB,
  // rows one byte each for their filter.
  const int64_t rows = batch_of(s).num_elements() * s[s.rank() - 3];
  const auto bytes = checked_multiply(s.num_elements(), static_cast<int64_t>(size_of(c.dtype(0))),
                                      "the image's bytes") +
                     rows;
  c.set_string_bytes(0, bytes + bytes / 128 + 4096 * batch_of(s).num_elements());
}

void encode_jpeg_rule(InferContext& c) {
  const std::string& format = c.attr("format").as_string();
  if (!format.empty() && format != "grayscale" && format != "rgb") {
    c.fail("format must be '', 'grayscale' or 'rgb'; given '", format, "'");
  }
  const int64_t quality = c.attr("quality").as_int();
  if (quality < 0 || quality > 100) c.fail("quality must be in [0,100], got ", quality);
  const std::string& unit = c.attr("density_unit").as_string();
  if (unit != "in" && unit != "cm") c.fail("density_unit must be 'in' or 'cm'; given '", unit, "'");
  c.set(0, Shape{});
  if (!c.shape(0).is_fully_known()) return;
  const Shape s = image_shape(c, {1, 3});
  if (s.rank() != 3) c.fail("image must be 3-dimensional, got ", s.to_brackets());
  if (s[0] > 65500 || s[1] > 65500) c.fail("a JPEG has at most 65500 rows and columns");
  if ((format == "grayscale" && s[2] != 1) || (format == "rgb" && s[2] != 3)) {
    c.fail("format '", format, "' does not go with ", s[2], " channels");
  }
  const auto xmp = static_cast<int64_t>(c.attr("xmp_metadata").as_string().size());
  if (xmp > 65000) c.fail("xmp_metadata must be at most 65000 bytes; given ", xmp);
  // Blocks of 16 x 16, each sample at most 16 bits and escapes: TurboJPEG's bound.
  c.set_string_bytes(0, ((s[0] + 15) & ~15) * ((s[1] + 15) & ~15) * 6 + 4096 + 2 * xmp);
}

void jpeg_shape_rule(InferContext& c) {
  check_scalar(c);
  c.set(0, Shape{3});
}

void decode_compressed_rule(InferContext& c) {
  const std::string& type = c.attr("compression_type").as_string();
  if (type != "ZLIB" && type != "GZIP") {
    c.fail("Only ZLIB, GZIP or '' are supported compressions; given '", type, "'");
  }
  c.set(0, c.shape(0));
  if (!text::holds_values(c.call())) return;
  int64_t bytes = 0;
  for (int64_t i = 0; i < c.input(0).num_elements(); ++i) {
    bytes += static_cast<int64_t>(
        codecs::inflated_size(c.op_name(), c.input(0).string_at(i), type == "GZIP"));
  }
  c.set_string_bytes(0, bytes + 1);  // room, so that zlib goes on to the end of its data
}

}  // namespace

TIDEMARK_OP(decode_image_file)
    .doc("The pixels of a PNG, JPEG, GIF or BMP file.")
    .input("contents", kString)
    .attr("channels", AttrKind::integer, 0)
    .attr("dtype", AttrKind::dtype, DType::uint8)
    .among(dtype_set(DType::uint8, DType::uint16))
    .attr("expand_animations", AttrKind::boolean, false)
    .attr("ratio", AttrKind::integer, 1)
    .attr("fancy_upscaling", AttrKind::boolean, true)
    .attr("try_recover_truncated", AttrKind::boolean, false)
    .attr("acceptable_fraction", AttrKind::real, 1.0)
    .attr("dct_method", AttrKind::string, "")
    .output("image", from_attr("dtype"))
    .may_fail()
    .shape(decode_rule)
    .heavy()
    .no_gradient();

TIDEMARK_OP(encode_png)
    .doc("Images as PNG files.")
    .python("tf.io.encode_png", "tf.image.encode_png")
    .input("image", dtype_set(DType::uint8, DType::uint16))
    .attr("compression", AttrKind::integer, -1)
    .output("contents", always(DType::string))
    .shape(encode_png_rule)
    .heavy()
    .no_gradient();

TIDEMARK_OP(encode_jpeg)
    .doc("An image as a JPEG file.")
    .python("tf.io.encode_jpeg", "tf.image.encode_jpeg")
    .input("image", dtype_set(DType::uint8))
    .attr("format", AttrKind::string, "")
    .attr("quality", AttrKind::integer, 95)
    .attr("progressive", AttrKind::boolean, false)
    .attr("optimize_size", AttrKind::boolean, false)
    .attr("chroma_downsampling", AttrKind::boolean, true)
    .attr("density_unit", AttrKind::string, "in")
    .attr("x_density", AttrKind::integer, 300)
    .attr("y_density", AttrKind::integer, 300)
    .attr("xmp_metadata", AttrKind::string, "")
    .output("contents", always(DType::string))
    .shape(encode_jpeg_rule)
    .heavy()
    .no_gradient();

TIDEMARK_OP(extract_jpeg_shape)
    .doc("Height, width and channels of a JPEG file.")
    .python("tf.io.extract_jpeg_shape", "tf.image.extract_jpeg_shape")
    .input("contents", kString)
    .attr("output_type", AttrKind::dtype, DType::int32)
    .among(kIndex)
    .output("image_shape", from_attr("output_type"))
    .may_fail()
    .shape(jpeg_shape_rule)
    .no_gradient();

TIDEMARK_OP(decode_compressed)
    .doc("Strings decompressed from zlib's format or gzip's.")
    .input("bytes", kString)
    .attr("compression_type", AttrKind::string)
    .output("output", always(DType::string))
    .may_fail()
    .shape(decode_compressed_rule)
    .no_gradient();

}  // namespace tidemark
