// Files of safetensors: read where they lie, every byte of every tensor, and written again.
#include "targets.h"
#include "tidemark/io/input_file.h"
#include "tidemark/io/safetensors/file.h"

namespace tidemark::fuzz {

namespace {

using namespace io::safetensors;

std::string bytes_of(const Tensors& tensors, const Metadata& metadata) {
  std::string out;
  write(tensors, metadata, [&](std::string_view piece) { out += piece; });
  return out;
}

void take(std::string_view bytes) {
  static const std::string path = scratch_folder() + "/fuzzed.safetensors";
  put_bytes(path, bytes);
  try {
    const File file(path);
    Tensors tensors;
    uint64_t total = 0;
    for (const auto& [name, entry] : file.entries()) {
      if (entry.type->dtype == DType::invalid) return;
      total += tensors.emplace(name, file.read(name)).first->second.nbytes();
    }
    if (total > bytes.size()) found("more bytes than the file has");
    const std::string again = bytes_of(tensors, file.metadata());
    const File copy{std::string_view(again)};
    if (copy.entries().size() != tensors.size() || copy.metadata() != file.metadata()) {
      found("what was read is not what was written");
    }
  } catch (const Error& error) {
    if (*error.what() == '\0') found("an error without words");
  }
}

std::map<std::string, std::string> seeds() {
  const Tensors all = {{"layer/kernel", Tensor::of({1.f, 2.f, 3.f, 4.f}, {2, 2})},
                       {"flags", Tensor::of({true, false})},
                       {"steps", Tensor(int64_t{7})}};
  return {{"small", bytes_of(all, {{"format", "tf"}})}, {"empty", bytes_of({}, {})}};
}

const AddTarget added("safetensors", {.take = take, .seeds = seeds});

}  // namespace

}  // namespace tidemark::fuzz
