// Reads models in TensorFlow's format that were damaged. Allowed ends: a model that runs or says
// why not, or one of the typed errors.
//
//   fuzz_foreign_models [files] [seed]
#include "foreign_model.h"

#include <tidemark/create.h>
#include <tidemark/memory.h>
#include <tidemark/saved_model.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "tidemark/base/interrupt.h"

namespace {

using namespace tidemark;

void change(std::string& bytes, std::mt19937_64& random) {
  if (bytes.empty()) return;
  const size_t at = random() % bytes.size();
  switch (random() % 6) {
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
    case 4:  // a part of the file once more: other names, deeper messages
      bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 64));
      break;
    default:
      bytes.insert(at, std::string(1 + random() % 4, static_cast<char>(random())));
  }
}

bool load_and_run(const std::string& folder) {
  const Interrupt soon{.deadline = Interrupt::Clock::now() + std::chrono::seconds(5)};
  const InterruptScope bounded(soon);
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
  const std::filesystem::path folder = place / ("fuzz_foreign_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "saved_model.pb").string();
  const auto put = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
  };
  const std::string whole = fuzz::small_model();
  put(whole);
  if (!load_and_run(folder.string())) {
    std::puts("the model that is not damaged does not load");
    return 1;
  }
  memory::set_limit(memory::stats().live + (int64_t{1} << 28));
  int64_t loaded = 0;
  for (int64_t i = 0; i < files; ++i) {
    std::string bytes = whole;
    for (auto n = 1 + random() % 4; n > 0; --n) change(bytes, random);
    if (random() % 16 == 0) bytes.resize(random() % (bytes.size() + 1));
    put(bytes);
    loaded += load_and_run(folder.string());
  }
  std::filesystem::remove_all(folder);
  std::printf("%lld files, %lld of them still load\n", static_cast<long long>(files),
              static_cast<long long>(loaded));
  return 0;
}
