// Reads saved models that were damaged, or made by somebody who knows the checksums. Allowed ends:
// a model, or one of the typed errors; a model that loads also runs or says why not.
//
//   fuzz_saved_files [files] [seed]
#include <tidemark/control_flow.h>
#include <tidemark/create.h>
#include <tidemark/memory.h>
#include <tidemark/saved_model.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

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

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void change(std::string& bytes, std::mt19937_64& random, size_t from, size_t to) {
  if (from >= to) return;
  const size_t at = from + random() % (to - from);
  switch (random() % 5) {
    case 0:
      bytes[at] ^= static_cast<char>(1 << random() % 8);
      break;
    case 1:
      bytes[at] = static_cast<char>(random());
      break;
    case 2:
      bytes[at] = static_cast<char>(random() % 2 ? 0x7f : 0xff);
      break;
    case 3:
      bytes.erase(at, 1 + random() % 4);
      break;
    default:
      bytes.insert(at, std::string(1 + random() % 4, static_cast<char>(random())));
  }
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

std::string damaged(const std::string& whole, std::mt19937_64& random) {
  std::string bytes = whole;
  if (random() % 8 == 0) return bytes.substr(0, random() % bytes.size());
  uint64_t index_bytes = 0;
  std::memcpy(&index_bytes, whole.data() + kIndexBytesAt, sizeof(index_bytes));
  const bool knows_checksums = random() % 4 != 0;
  const size_t before = bytes.size();
  for (auto n = 1 + random() % 3; n > 0; --n) {
    change(bytes, random, knows_checksums ? kHead : 0,
           knows_checksums ? kHead + index_bytes : bytes.size());
  }
  if (knows_checksums) sign(bytes, index_bytes + bytes.size() - before);
  return bytes;
}

bool load_and_run(const std::string& folder) {
  try {
    const SavedModel model = load_model(folder);
    for (const SignatureSpec& signature : model.signatures()) {
      std::vector<Tensor> inputs;
      for (const TensorSpec& spec : signature.inputs) {
        Shape shape = spec.shape.has_rank() ? spec.shape : Shape{2};
        for (int i = 0; i < shape.rank(); ++i) {
          if (shape[i] < 0) shape[i] = 2;
          if (shape[i] > 64) return true;
        }
        inputs.push_back(zeros(shape, spec.dtype));
      }
      (void)model.run(signature, inputs);
    }
    return true;
  } catch (const Error& error) {
    if (*error.what() == '\0') std::abort();
    return false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t files = argc > 1 ? std::atoll(argv[1]) : 20000;
  std::mt19937_64 random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  const std::filesystem::path in_memory = "/dev/shm";  // many small files, none worth a disk
  const std::filesystem::path place =
      ::access(in_memory.c_str(), W_OK) == 0 ? in_memory : std::filesystem::temp_directory_path();
  const std::string folder = (place / ("fuzz_saved_" + std::to_string(::getpid()))).string();
  save(folder);
  const std::string path = folder + "/" + std::string(io::kModelFileName);
  const std::string whole = read_file(path);
  memory::set_limit(int64_t{256} << 20);
  int64_t loaded = load_and_run(folder) ? 1 : 0;
  if (!loaded) std::abort();
  for (int64_t i = 0; i < files; ++i) {
    const std::string bytes = damaged(whole, random);
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
    loaded += load_and_run(folder) ? 1 : 0;
  }
  std::filesystem::remove_all(folder);
  std::printf("%lld files: %lld loaded\n", static_cast<long long>(files),
              static_cast<long long>(loaded));
  return 0;
}
