// Reads safetensors files that were damaged: in a byte, in a number or a word of the header, with
// the header's length made right. Allowed ends: tensors whose every byte can be read, or a typed
// error.
#include <tidemark/memory.h>

#include <cstring>

#include "damaged_files.h"
#include "tidemark/io/safetensors/file.h"

namespace {

using namespace tidemark;
using namespace tidemark::io::safetensors;
using fuzz::Random;

constexpr size_t kLengthBytes = sizeof(uint64_t);

std::string small_file() {
  const Tensors all = {{"layer/kernel", Tensor::of({1.f, 2.f, 3.f, 4.f}, {2, 2})},
                       {"layer/bias", Tensor::of({0.5f, -0.5f})},
                       {"flags", Tensor::of({true, false})},
                       {"steps", Tensor(int64_t{7})},
                       {"none", Tensor::of<float>({}, {0, 3})}};
  std::string out;
  write(all, {{"format", "tf"}, {"note", "\"quoted\"\n"}},
        [&](std::string_view piece) { out += piece; });
  return out;
}

std::string some_number(Random& random) {
  const char* const odd[] = {"0",
                             "-1",
                             "1e3",
                             "18446744073709551615",
                             "18446744073709551616",
                             "9223372036854775807",
                             "4294967296"};
  return random() % 2 ? odd[random() % std::size(odd)] : std::to_string(random() % 64);
}

/// A number of the header becomes another.
void change_number(std::string& header, Random& random) {
  const size_t from = random() % header.size();
  const size_t at = header.find_first_of("0123456789", from);
  if (at == header.npos) return;
  const size_t end = header.find_first_not_of("0123456789", at);
  header.replace(at, end - at, some_number(random));
}

/// Any damage, or a character that means something in JSON.
void change_byte(std::string& bytes, Random& random) {
  if (random() % 4) return fuzz::damage(bytes, random);
  bytes[random() % bytes.size()] = "{}[]\",:\\u0"[random() % 10];
}

std::string changed(const std::string& whole, Random& random) {
  uint64_t length = 0;
  std::memcpy(&length, whole.data(), kLengthBytes);
  const size_t data_at = kLengthBytes + length;
  std::string header = whole.substr(kLengthBytes, length);
  for (auto n = 1 + random() % 3; n > 0 && !header.empty(); --n) {
    random() % 2 ? change_number(header, random) : change_byte(header, random);
  }
  length = random() % 16 ? header.size() : random();
  std::string out(reinterpret_cast<const char*>(&length), kLengthBytes);
  out += header;
  out += std::string_view(whole).substr(data_at);
  if (random() % 8 == 0) out.resize(out.size() - random() % out.size());
  return out;
}

bool read_everything(std::string_view bytes) {
  return fuzz::ends_well([&] {
    const File file(bytes);
    for (const auto& [name, entry] : file.entries()) {
      if (entry.type->dtype == DType::invalid) continue;
      const Tensor value = file.read(name);
      if (value.nbytes() > bytes.size()) fuzz::found("more bytes than the file has");
      if (value.to_string().empty()) fuzz::found("a tensor without words");
    }
    return true;
  });
}

class SafetensorsFiles final : public fuzz::Fuzzer {
 public:
  SafetensorsFiles() {
    memory::set_limit(int64_t{64} << 20);
    if (!read_everything(whole_)) fuzz::found("the file that is not damaged is not read");
  }

  bool execute(Random& random) override {
    std::string bytes = random() % 4 ? changed(whole_, random) : whole_;
    if (bytes.size() == whole_.size()) change_byte(bytes, random);
    return read_everything(bytes);
  }

 private:
  const std::string whole_ = small_file();
};

const fuzz::AddFuzzer added("safetensors_files", fuzz::make<SafetensorsFiles>);

}  // namespace
