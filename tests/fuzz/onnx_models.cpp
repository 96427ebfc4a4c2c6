// Reads ONNX models that were damaged. Allowed ends: outputs, or one of the typed errors.
#include <tidemark/bytes.h>
#include <tidemark/create.h>
#include <tidemark/memory.h>

#include <algorithm>

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

std::vector<std::string> files_in(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> files;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    files.push_back(fuzz::read_bytes(at->path().string()));
  }
  std::ranges::sort(files);  // a seed gives the same whatever the order of the folder
  if (error || files.empty()) fuzz::found("no models in " + folder + "; --corpora= says where");
  return files;
}

class OnnxModels final : public fuzz::Fuzzer {
 public:
  explicit OnnxModels(const fuzz::Settings& settings)
      : models_(files_in(settings.corpora + "/onnx")) {
    memory::set_limit(MiB(512));
  }

  bool execute(fuzz::Random& random) override {
    std::string bytes = models_[random() % models_.size()];
    fuzz::damage_often(bytes, random);
    fuzz::put_bytes(path_, bytes);
    return take(path_);
  }

 private:
  const std::vector<std::string> models_;
  const fuzz::ScratchFolder folder_{"fuzz_onnx"};
  const std::string path_ = folder_.file("damaged.onnx");
};

const fuzz::AddFuzzer added("onnx_models", fuzz::make<OnnxModels>);

}  // namespace
