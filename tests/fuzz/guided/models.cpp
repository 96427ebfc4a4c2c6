// Saved models. Checksums are made right, as somebody who made the file would.
#include <tidemark/create.h>
#include <tidemark/saved_model.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "targets.h"
#include "tidemark/base/interrupt.h"
#include "tidemark/base/text/crc32c.h"
#include "tidemark/io/model_format.h"

namespace tidemark::fuzz {

namespace {

constexpr size_t kHead = 32, kChecksumAt = 12, kIndexBytesAt = 16, kFileBytesAt = 24;

const std::string& folder() {
  static const std::string place = scratch_folder() + "/model";
  return place;
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

/// False: it is more than a model of this size should be asked.
bool make_inputs(const SignatureSpec& signature, std::vector<Tensor>& inputs) {
  for (const TensorSpec& spec : signature.inputs) {
    Shape shape = spec.shape.has_rank() ? spec.shape : Shape{2};
    for (int i = 0; i < shape.rank(); ++i) {
      if (shape[i] < 0) shape[i] = 2;
      if (shape[i] > 64) return false;
    }
    inputs.push_back(zeros(shape, spec.dtype));
  }
  return true;
}

void take(std::string_view bytes) {
  write_file(path(), with_checksum(std::string(bytes)));
  const Interrupt soon{.deadline = Interrupt::Clock::now() + std::chrono::seconds(2)};
  const InterruptScope bounded(soon);
  try {
    const SavedModel model = load_model(folder());
    for (const SignatureSpec& signature : model.signatures()) {
      std::vector<Tensor> inputs;
      if (make_inputs(signature, inputs)) (void)model.run(signature, inputs);
    }
  } catch (const Error& error) {
    if (*error.what() == '\0') found("an error without words");
  }
}

void start() { save_model(folder()); }

std::map<std::string, std::string> seeds() { return {{"small", read_file(path())}}; }

const AddTarget added("models", {.start = start, .take = take, .seeds = seeds});

}  // namespace

}  // namespace tidemark::fuzz
