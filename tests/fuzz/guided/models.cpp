// Saved models. Checksums are made right, as somebody who made the file would.
#include <algorithm>
#include <cstring>

#include "../run_model.h"
#include "targets.h"
#include "tidemark/base/text/crc32c.h"
#include "tidemark/io/model_format.h"

namespace tidemark::fuzz {

namespace {

constexpr size_t kHead = 32, kChecksumAt = 12, kIndexBytesAt = 16, kFileBytesAt = 24;

const std::string& folder() {
  static const MemoryFolder place("model");
  return place.path();
}
std::string path() { return folder() + "/" + std::string(io::kModelFileName); }

std::string with_checksum(std::string bytes) {
  if (bytes.size() < kHead) return bytes;
  uint64_t index = 0;
  std::memcpy(&index, bytes.data() + kIndexBytesAt, sizeof(index));
  index = std::min<uint64_t>(index, bytes.size() - kHead);
  const uint32_t sum = text::crc32c(std::string_view(bytes).substr(kHead, index));
  const uint64_t size = bytes.size();
  std::memcpy(bytes.data() + kChecksumAt, &sum, sizeof(sum));
  std::memcpy(bytes.data() + kIndexBytesAt, &index, sizeof(index));
  std::memcpy(bytes.data() + kFileBytesAt, &size, sizeof(size));
  return bytes;
}

void take(std::string_view bytes) {
  put_bytes(path(), with_checksum(std::string(bytes)));
  try {
    load_and_run(folder(), std::chrono::seconds(2));
  } catch (const Error& error) {
    if (*error.what() == '\0') found("an error without words");
  }
}

std::map<std::string, std::string> seeds() {
  const std::string written = scratch_folder() + "/model";
  save_model(written);
  return {{"small", read_bytes(written + "/" + std::string(io::kModelFileName))}};
}

const AddTarget added("models", {.take = take, .seeds = seeds});

}  // namespace

}  // namespace tidemark::fuzz
