// Reads ONNX models that were damaged. Allowed ends: outputs, or one of the typed errors.
//
//   fuzz_onnx_models [files] [seed] [folder of well-formed models]
#include <tidemark/bytes.h>
#include <tidemark/create.h>
#include <tidemark/memory.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "tidemark/base/interrupt.h"
#include "tidemark/io/onnx/model.h"

namespace {

using namespace tidemark;
using namespace tidemark::io::onnx;
using Random = std::mt19937_64;

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void change(std::string& bytes, Random& random) {
  if (bytes.empty()) return;
  const size_t at = random() % bytes.size();
  switch (random() % 5) {
    case 0:
      bytes[at] ^= static_cast<char>(1 << random() % 8);
      break;
    case 1:
      bytes[at] = static_cast<char>(random());
      break;
    case 2:
      bytes.erase(at, 1 + random() % 8);
      break;
    case 3:
      bytes.insert(at, bytes.substr(random() % bytes.size(), 1 + random() % 16));
      break;
    default:
      bytes.insert(at, 1 + random() % 4, static_cast<char>(random()));
  }
}

bool make_inputs(const std::vector<Port>& ports, std::vector<Value>& inputs) {
  for (const Port& port : ports) {
    const DType dtype = storage_of(port.type.element);
    if (port.type.kind != Type::Kind::tensor || !kPlain.contains(dtype)) return false;
    Shape shape;
    for (const int64_t dim : port.type.dims) {
      if (dim > 64) return false;
      shape.push_back(dim < 0 ? 2 : dim);
    }
    inputs.emplace_back(zeros(shape, dtype), port.type.element);
  }
  return true;
}

/// True: it was read and run.
bool take(const std::string& path) {
  const Interrupt soon{.deadline = Interrupt::Clock::now() + std::chrono::seconds(5)};
  const InterruptScope bounded(soon);
  try {
    LoadedModel model(path, {});
    std::vector<Value> inputs;
    if (!make_inputs(model.inputs(), inputs)) return false;
    (void)model.call(inputs);
    return true;
  } catch (const Error& error) {
    if (*error.what() == '\0') std::abort();
    return false;
  }
}

}  // namespace

int main(int count, char** words) {
  const long files = count > 1 ? std::atol(words[1]) : 10000;
  const unsigned long seed = count > 2 ? std::strtoul(words[2], nullptr, 10) : 1;
  const std::string folder = count > 3 ? words[3] : "tests/fuzz/corpora/onnx";
  memory::set_limit(MiB(512));
  std::error_code error;
  std::vector<std::string> models;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    models.push_back(read_file(at->path().string()));
  }
  std::ranges::sort(models);  // a seed gives the same run whatever the order of the folder
  if (error || models.empty()) {
    std::fprintf(stderr, "no models in %s; run this in the project's folder, or name one\n",
                 folder.c_str());
    return 1;
  }
  Random random(seed);
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("tidemark_onnx_" + std::to_string(::getpid()) + ".onnx"))
                               .string();
  long run = 0;
  for (long i = 0; i < files; ++i) {
    std::string bytes = models[random() % models.size()];
    for (uint64_t k = 1 + random() % 4; k > 0; --k) change(bytes, random);
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
    run += take(path) ? 1 : 0;
  }
  std::filesystem::remove(path);
  std::printf("%ld models, %ld of them run, seed %lu\n", files, run, seed);
  return 0;
}
