// Reads ONNX models that were damaged. Allowed ends: outputs, or one of the typed errors.
//
//   fuzz_onnx_models [files] [seed] [folder of well-formed models]
#include <tidemark/bytes.h>
#include <tidemark/create.h>
#include <tidemark/memory.h>

#include <algorithm>
#include <cstdio>

#include "damaged_files.h"
#include "tidemark/base/interrupt.h"
#include "tidemark/io/onnx/model.h"

namespace {

using namespace tidemark;
using namespace tidemark::io::onnx;

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
  return fuzz::ends_well([&] {
    LoadedModel model(path, {});
    std::vector<Value> inputs;
    if (!make_inputs(model.inputs(), inputs)) return false;
    (void)model.call(inputs);
    return true;
  });
}

}  // namespace

int main(int count, char** words) {
  const fuzz::Extent extent(count, words, 10000);
  const std::string corpus = count > 3 ? words[3] : "tests/fuzz/corpora/onnx";
  memory::set_limit(MiB(512));
  std::error_code error;
  std::vector<std::string> models;
  for (std::filesystem::directory_iterator at(corpus, error), end; !error && at != end;
       at.increment(error)) {
    models.push_back(fuzz::read_bytes(at->path().string()));
  }
  std::ranges::sort(models);  // a seed gives the same run whatever the order of the folder
  if (error || models.empty()) {
    std::fprintf(stderr, "no models in %s; run this in the project's folder, or name one\n",
                 corpus.c_str());
    return 1;
  }
  fuzz::Random random(extent.seed);
  const fuzz::ScratchFolder folder("fuzz_onnx");
  const std::string path = folder.file("damaged.onnx");
  long long run = 0;
  for (int64_t i = 0; i < extent.files; ++i) {
    std::string bytes = models[random() % models.size()];
    fuzz::damage_often(bytes, random);
    fuzz::put_bytes(path, bytes);
    run += take(path) ? 1 : 0;
  }
  std::printf("%lld models, %lld of them run\n", static_cast<long long>(extent.files), run);
  return 0;
}
