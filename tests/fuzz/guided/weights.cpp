// Files of weights in all formats: told what is in them, and every tensor read.
#include "targets.h"
#include "tidemark/io/inspect.h"
#include "tidemark/io/weights/weights_file.h"

namespace tidemark::fuzz {

namespace {

/// No byte of a file stands for more than these: deflate's most.
constexpr uint64_t kMostExpansion = 1040;

void take(std::string_view bytes) {
  static const std::string path = scratch_folder() + "/fuzzed.weights";
  put_bytes(path, bytes);
  try {
    if (io::inspect(path).format.empty()) found("a file of no format");
    const auto file = io::weights::open_weights(path);
    for (const auto& [name, entry] : file->entries()) {
      if (entry.dtype == DType::invalid) continue;
      if (entry.bytes > kMostExpansion * bytes.size()) found("more bytes than the file has");
      if (file->read(name).nbytes() != entry.bytes) found("another size than was said");
    }
  } catch (const Error& error) {
    if (*error.what() == '\0') found("an error without words");
  }
}

/// An empty archive; the folder of inputs has real files.
std::map<std::string, std::string> seeds() {
  return {{"empty", std::string("PK\5\6") + std::string(18, '\0')}};
}

const AddTarget added("weights", {.take = take, .seeds = seeds});

}  // namespace

}  // namespace tidemark::fuzz
