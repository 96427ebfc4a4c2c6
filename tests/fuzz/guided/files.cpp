// Images, tensors, examples and compressed bytes, as the ops that read them get them. The first
// byte says which op.
#include <tidemark/call.h>
#include <tidemark/memory.h>

#include "../live_memory.h"
#include "targets.h"

namespace tidemark::fuzz {

namespace {

Tensor text(std::string_view bytes, const Shape& shape = {}) {
  return Tensor::of_strings({&bytes, 1}, shape);
}

struct Reader {
  const char* op;
  std::vector<std::pair<std::string, Attr>> attrs;
  Tensor second;  // a further input; empty: none
  bool takes_vector = false;
};

const std::vector<Reader>& readers() {
  static const std::vector<Reader> all = {
      {"decode_image_file", {{"expand_animations", true}}, {}},
      {"decode_image_file", {{"channels", 3}}, {}},
      {"decode_image_file", {{"dtype", DType::uint16}, {"channels", 4}}, {}},
      {"decode_image_file", {{"try_recover_truncated", true}, {"acceptable_fraction", 0.2}}, {}},
      {"extract_jpeg_shape", {}, {}},
      {"parse_tensor", {{"out_type", DType::uint8}}, {}},
      {"parse_tensor", {{"out_type", DType::string}}, {}},
      {"parse_tensor", {{"out_type", DType::float32}}, {}},
      {"parse_example_fixed",
       {{"key", "k"}, {"dense_shape", Ints{2}}},
       Tensor::of({int64_t{7}}),
       true},
      {"parse_example_var", {{"key", "s"}, {"dtype", DType::string}}, {}, true},
      {"decode_compressed", {{"compression_type", "ZLIB"}}, {}},
      {"decode_compressed", {{"compression_type", "GZIP"}}, {}},
      {"decode_base64", {}, {}},
      {"split_csv", {{"columns", 4}}, {}},
      {"string_to_number", {}, {}},
      {"unicode_decode", {{"input_encoding", "UTF-8"}}, {}},
      {"decode_wav", {}, {}},
  };
  return all;
}

size_t read_all(const Tensor& t) {
  size_t sum = 0;
  if (t.dtype() == DType::string) {
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      for (const char c : t.string_at(i)) sum += static_cast<unsigned char>(c);
    }
    return sum;
  }
  const auto* bytes = static_cast<const unsigned char*>(t.raw_data());
  for (size_t i = 0; i < t.nbytes(); ++i) sum += bytes[i];
  return sum;
}

void take(std::string_view bytes) {
  static volatile size_t sum = 0;
  if (bytes.empty()) return;
  const Reader& reader = readers()[static_cast<unsigned char>(bytes[0]) % readers().size()];
  const OpDef& op = OpRegistry::instance().get(reader.op);
  const LiveMemory before = live_memory();
  try {
    std::vector<Tensor> inputs{text(bytes.substr(1), reader.takes_vector ? Shape{1} : Shape{})};
    if (reader.second) inputs.push_back(reader.second);
    std::vector<Attr> attrs;
    for (const int index : op.attrs()) {
      const Param& p = op.params()[static_cast<size_t>(index)];
      attrs.push_back(p.fallback);
      for (const auto& [name, value] : reader.attrs) {
        if (name == p.name) attrs.back() = value;
      }
    }
    for (const Tensor& t : call_all(op, inputs, attrs)) sum = sum + read_all(t);
  } catch (const Error&) {
  }
  if (live_memory() != before) found(std::string(reader.op) + " left memory behind");
}

std::string gif() {
  std::string file("GIF89a\x03\x00\x02\x00\x80\x00\x00", 13);
  file += std::string("\x00\x00\x00\xFF\xFF\xFF!\xF9\x04\x01\x05\x00\x01\x00", 14);
  file += std::string(",\x00\x00\x00\x00\x03\x00\x02\x00\x00\x02\x03\x44\x62\x50\x00", 16);
  return file + ";";
}

std::string bmp() {
  std::string file(54 + 2 * 8, '\x11');
  const std::string sizes("\x02\0\0\0\x02\0\0\0\x01\0\x18\0", 12);
  return file.replace(0, 2, "BM")
      .replace(10, 4, std::string("\x36\0\0\0", 4))
      .replace(18, 12, sizes);
}

std::map<std::string, std::string> seeds() {
  Tensor pixels = Tensor::uninitialized(DType::uint8, {9, 7, 3});
  for (int64_t i = 0; i < pixels.num_elements(); ++i) {
    pixels.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i * 37);
  }
  const auto bytes_of = [](const Tensor& t) { return std::string(t.string_at(0)); };
  const auto as = [](char which, const std::string& bytes) {
    return std::string(1, which) + bytes;
  };
  const std::string png = bytes_of(call("encode_png", {pixels}));
  const std::string jpeg = bytes_of(call("encode_jpeg", {pixels}));
  const std::string example(
      "\x0A\x1D\x0A\x0B\x0A\x01\x6B\x12\x06\x1A\x04\x0A\x02\x01\x02\x0A\x0E\x0A\x01\x73\x12\x09\x0A"
      "\x07\x0A\x05\x74\x69\x64\x65\x73",
      31);
  const std::string zlib(
      "\x78\x9C\x2B\xC9\x4C\x49\x55\x28\x4E\x4D\x2E\x4A\x2D\x49\x05\x62\x3C\x3C\x00\x62\xE4\x10"
      "\x99",
      23);
  return {{"png", as(0, png)},
          {"png16", as(2, png)},
          {"jpeg", as(1, jpeg)},
          {"jpeg_shape", as(4, jpeg)},
          {"gif", as(0, gif())},
          {"bmp", as(1, bmp())},
          {"tensor", as(5, bytes_of(call("serialize_tensor", {pixels})))},
          {"texts", as(6, bytes_of(call("serialize_tensor", {text("tide", {1})})))},
          {"example", as(8, example)},
          {"example_texts", as(9, example)},
          {"zlib", as(10, zlib)},
          {"base64", as(12, "dGlkZSBtYXJr")},
          {"csv", as(13, "a,\"b\"\"c\",,d")}};
}

const AddTarget added("files", {.take = take, .seeds = seeds});

}  // namespace

}  // namespace tidemark::fuzz
