// Damages well-formed files and messages and reads them. Allowed ends: a result whose every byte
// can be read, or a typed error; nothing is left behind.
#include <tidemark/call.h>
#include <tidemark/memory.h>

#include <string>
#include <vector>

#include "fuzzer.h"
#include "live_memory.h"

namespace {

using namespace tidemark;
using fuzz::Random;

Tensor string_tensor(std::string_view text, const Shape& shape = {}) {
  return Tensor::of_strings({&text, 1}, shape);
}

struct Reader {
  const char* op;
  std::string seed;
  std::vector<std::pair<std::string, Attr>> attrs;
  Tensor second;  // a further input; empty: none
  bool vector = false;
};

std::string bytes_of(const Tensor& t) { return std::string(t.string_at(0)); }

std::string gif_file() {
  std::string file("GIF89a\x03\x00\x02\x00\x80\x00\x00", 13);
  file += std::string("\x00\x00\x00\xFF\xFF\xFF", 6);
  file += std::string("!\xF9\x04\x01\x05\x00\x01\x00", 8);
  file += std::string(",\x00\x00\x00\x00\x03\x00\x02\x00\x00", 10);
  file += std::string("\x02\x03\x44\x62\x50\x00", 6);
  file += std::string(",\x01\x00\x00\x00\x02\x00\x02\x00\x40", 10);
  return file + std::string("\x02\x03\x0C\x10\x05\x00", 6) + ";";
}

std::string bmp_file() {
  std::string file(54 + 2 * 8, '\x11');
  file.replace(0, 2, "BM");
  const auto put = [&](size_t at, std::initializer_list<int> bytes) {
    for (int b : bytes) file[at++] = static_cast<char>(b);
  };
  put(10, {54, 0, 0, 0});
  put(18, {2, 0, 0, 0, 2, 0, 0, 0, 1, 0, 24, 0});
  return file;
}

std::vector<Reader> readers() {
  Tensor pixels = Tensor::uninitialized(DType::uint8, {9, 7, 3});
  for (int64_t i = 0; i < pixels.num_elements(); ++i) {
    pixels.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i * 37);
  }
  const std::string png = bytes_of(call("encode_png", {pixels}));
  const std::string jpeg = bytes_of(call("encode_jpeg", {pixels}));
  const std::string message = bytes_of(call("serialize_tensor", {pixels}));
  const std::string texts = bytes_of(call("serialize_tensor", {string_tensor("tide", {1})}));
  const std::string floats("\x08\x01\x12\x04\x12\x02\x08\x03*\x08\0\0\x80?\0\0\0@", 18);
  const std::string example(
      "\x0A\x1D\x0A\x0B\x0A\x01\x6B\x12\x06\x1A\x04\x0A\x02\x01\x02\x0A\x0E\x0A\x01\x73\x12\x09\x0A"
      "\x07\x0A\x05\x74\x69\x64\x65\x73",
      31);
  const std::string zlib(
      "\x78\x9C\x2B\xC9\x4C\x49\x55\x28\x4E\x4D\x2E\x4A\x2D\x49\x05\x62\x3C\x3C\x00\x62\xE4\x10"
      "\x99",
      23);
  std::vector<Reader> out;
  for (const std::string& file : {png, jpeg, gif_file(), bmp_file()}) {
    out.push_back({"decode_image_file", file, {{"expand_animations", true}}, {}});
    out.push_back({"decode_image_file", file, {{"channels", 3}}, {}});
  }
  out.push_back({"decode_image_file",
                 jpeg,
                 {{"try_recover_truncated", true}, {"acceptable_fraction", 0.2}},
                 {}});
  out.push_back({"decode_image_file", png, {{"dtype", DType::uint16}, {"channels", 4}}, {}});
  out.push_back({"extract_jpeg_shape", jpeg, {}, {}});
  const Tensor samples = Tensor::of({0.5f, -0.25f, 1.f, 0.f}, {2, 2});
  const std::string wav = bytes_of(call("encode_wav", {samples, Tensor(8000)}));
  out.push_back({"decode_wav", wav, {}, {}});
  out.push_back({"decode_wav", wav, {{"desired_channels", 3}, {"desired_samples", 5}}, {}});
  out.push_back({"parse_tensor", message, {{"out_type", DType::uint8}}, {}});
  out.push_back({"parse_tensor", texts, {{"out_type", DType::string}}, {}});
  out.push_back({"parse_tensor", floats, {{"out_type", DType::float32}}, {}});
  out.push_back({"parse_example_fixed",
                 example,
                 {{"key", "k"}, {"dense_shape", Ints{2}}},
                 Tensor::of({int64_t{7}}),
                 true});
  out.push_back({"parse_example_fixed",
                 example,
                 {{"key", "s"}, {"dense_shape", Ints{}}},
                 string_tensor("none", {1}),
                 true});
  out.push_back({"parse_example_var", example, {{"key", "k"}, {"dtype", DType::int64}}, {}, true});
  out.push_back({"parse_example_var", example, {{"key", "s"}, {"dtype", DType::string}}, {}, true});
  out.push_back({"decode_compressed", zlib, {{"compression_type", "ZLIB"}}, {}});
  out.push_back({"decode_base64", "dGlkZSBtYXJr", {}, {}});
  out.push_back({"split_csv", "a,\"b\"\"c\",,d", {{"columns", 4}}, {}});
  out.push_back({"string_to_number", " -12.5e+3 ", {}, {}});
  out.push_back({"unicode_decode",
                 "h\xC3\xA9\xE2\x82\xAC\xF0\x9F\x8C\x8A",
                 {{"input_encoding", "UTF-8"}},
                 {}});
  out.push_back({"string_lower", "\xC3\x89\xCE\xA3 A", {{"encoding", "utf-8"}}, {}});
  out.push_back({"string_split", " a  b c", {}, {}});
  return out;
}

std::string damaged(std::string bytes, Random& random) {
  for (auto n = 1 + random() % 4; n > 0 && !bytes.empty(); --n) {
    const size_t at = random() % bytes.size();
    switch (random() % 6) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
        break;
      case 2:
        bytes.erase(at, 1 + random() % 4);
        break;
      case 3:
        bytes.insert(at, 1 + random() % 3, static_cast<char>(random()));
        break;
      case 4:
        bytes[at] = random() % 2 ? '\xFF' : '\x7F';
        break;
      default:
        if (random() % 3 == 0) bytes.resize(at);
    }
  }
  return bytes;
}

uint64_t read_all(const Tensor& t) {
  uint64_t sum = 0;
  if (t.dtype() == DType::string) {
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      for (char c : t.string_at(i)) sum += static_cast<unsigned char>(c);
    }
    return sum;
  }
  const auto* bytes = static_cast<const unsigned char*>(t.raw_data());
  for (size_t i = 0; i < t.nbytes(); ++i) sum += bytes[i];
  return sum;
}

/// True when there was a result.
bool read_once(const Reader& reader, const std::string& bytes) {
  static volatile uint64_t sum = 0;
  const OpDef& op = OpRegistry::instance().get(reader.op);
  std::vector<Tensor> inputs{string_tensor(bytes, reader.vector ? Shape{1} : Shape{})};
  if (reader.second) inputs.push_back(reader.second);
  std::vector<Attr> attrs;
  for (int index : op.attrs()) {
    const Param& p = op.params()[static_cast<size_t>(index)];
    attrs.push_back(p.fallback);
    for (const auto& [name, value] : reader.attrs) {
      if (name == p.name) attrs.back() = value;
    }
  }
  try {
    for (const Tensor& t : call_all(op, inputs, attrs)) sum = sum + read_all(t);
    return true;
  } catch (const Error&) {
    return false;
  }
}

class FileBytes final : public fuzz::Fuzzer {
 public:
  FileBytes() {
    memory::set_limit(64 << 20);  // files may say they are huge
    for (const Reader& reader : readers_) {
      if (!read_once(reader, reader.seed)) {
        fuzz::found(std::string(reader.op) + " does not read its own seed");
      }
    }
    live_ = fuzz::live_memory();
  }

  bool execute(Random& random) override {
    const Reader& reader = readers_[random() % readers_.size()];
    const bool is_read = read_once(reader, damaged(reader.seed, random));
    if (fuzz::live_memory() != live_) {
      fuzz::found(std::string(reader.op) + " left memory behind");
    }
    return is_read;
  }

 private:
  const std::vector<Reader> readers_ = readers();
  fuzz::LiveMemory live_{};
};

const fuzz::AddFuzzer added("file_bytes", fuzz::make<FileBytes>);

}  // namespace
