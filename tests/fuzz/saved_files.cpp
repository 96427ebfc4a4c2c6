// Reads saved models that were damaged, or made by somebody who knows the checksums. Allowed ends:
// a model, or one of the typed errors; a model that loads also runs or says why not.
#include <tidemark/control_flow.h>
#include <tidemark/create.h>
#include <tidemark/memory.h>

#include <cstring>

#include "damaged_files.h"
#include "run_model.h"
#include "tidemark/base/text/crc32c.h"
#include "tidemark/io/model_format.h"
#include "tidemark/io/model_writer.h"
#include "tidemark/trace/builder.h"

namespace {

using namespace tidemark;

constexpr size_t kHead = 32, kChecksumAt = 12, kIndexBytesAt = 16, kFileBytesAt = 24;

void save(const std::string& folder) {
  Variable w(Tensor::of({1.f, 2.f, 3.f, 4.f}, {2, 2}), {.name = "w"});
  trace::GraphBuilder builder("small");
  const Tensor x = builder.add_input(DType::float32, {kUnknownDim, 2});
  std::vector<Tensor> out;
  {
    const trace::TraceScope scope(builder);
    w.assign_add(ones({2, 2}));
    const Tensor y = call("concat", {call("matmul", {x, w}), x}, {{"axis", 1}});
    out = while_loop(
        [&](std::span<const Tensor> v) {
          return call("less", {v[1], Tensor(3)});
        },
        [&](std::span<const Tensor> v) {
          return std::vector<Tensor>{v[0] * Tensor(2.f), v[1] + Tensor(1)};
        },
        {y, Tensor(0)}, {.maximum_iterations = 5});
    const TensorsFunction branches[] = {[&] { return std::vector<Tensor>{out[0]}; },
                                        [&] { return std::vector<Tensor>{-out[0]}; }};
    out = switch_case(call("greater", {call("sum", {x}), Tensor(100.f)}), branches);
  }
  io::ModelWriter writer;
  writer.add_signature("serving_default", writer.add_function("small", *builder.finish(out)), {"x"},
                       {"y"});
  writer.set_objects("[]");
  writer.write(folder);
}

/// Makes the checksums right again, as an attacker would.
void sign(std::string& bytes, size_t index_bytes) {
  if (bytes.size() < kHead + index_bytes) return;
  const uint32_t sum = text::crc32c(std::string_view(bytes).substr(kHead, index_bytes));
  const uint64_t size = bytes.size(), index = index_bytes;
  std::memcpy(bytes.data() + kChecksumAt, &sum, sizeof(sum));
  std::memcpy(bytes.data() + kIndexBytesAt, &index, sizeof(index));
  std::memcpy(bytes.data() + kFileBytesAt, &size, sizeof(size));
}

std::string damaged(const std::string& whole, fuzz::Random& random) {
  std::string bytes = whole;
  if (random() % 8 == 0) return bytes.substr(0, random() % bytes.size());
  uint64_t index_bytes = 0;
  std::memcpy(&index_bytes, whole.data() + kIndexBytesAt, sizeof(index_bytes));
  const bool knows_checksums = random() % 4 != 0;
  const size_t before = bytes.size();
  for (auto n = 1 + random() % 3; n > 0; --n) {
    fuzz::damage(bytes, random, knows_checksums ? kHead : 0,
                 knows_checksums ? kHead + index_bytes : bytes.size());
  }
  if (knows_checksums) sign(bytes, index_bytes + bytes.size() - before);
  return bytes;
}

class SavedFiles final : public fuzz::Fuzzer {
 public:
  SavedFiles() {
    const fuzz::ScratchFolder written("fuzz_saved");
    const std::string name(io::kModelFileName);
    save(written.path());
    whole_ = fuzz::read_bytes(written.file(name));
    fuzz::put_bytes(path_, whole_);
    memory::set_limit(int64_t{256} << 20);
    if (!loads()) fuzz::found("the model that is not damaged does not load");
  }

  bool execute(fuzz::Random& random) override {
    fuzz::put_bytes(path_, damaged(whole_, random));
    return loads();
  }

 private:
  bool loads() const {
    return fuzz::ends_well([&] {
      fuzz::load_and_run(folder_.path(), std::chrono::seconds(5));
      return true;
    });
  }

  const fuzz::MemoryFolder folder_{"fuzz_saved"};
  const std::string path_ = folder_.file(std::string(io::kModelFileName));
  std::string whole_;
};

const fuzz::AddFuzzer added("saved_files", fuzz::make<SavedFiles>);

}  // namespace
