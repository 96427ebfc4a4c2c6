// Damaged models that are one graph in one file: told what is in them, read, and run on zeros.
#pragma once

#include <tidemark/bytes.h>
#include <tidemark/create.h>
#include <tidemark/memory.h>

#include "damaged_files.h"
#include "tidemark/base/interrupt.h"
#include "tidemark/io/inspect.h"
#include "tidemark/io/onnx/model.h"

namespace tidemark::fuzz {

inline bool make_inputs(const std::vector<io::onnx::Port>& ports,
                        std::vector<io::onnx::Value>& inputs) {
  using namespace io::onnx;
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
inline bool take_model(const std::string& path) {
  const Interrupt soon{.deadline = Interrupt::Clock::now() + std::chrono::seconds(5)};
  const InterruptScope bounded(soon);
  (void)ends_well([&] { return !io::inspect(path).format.empty(); });
  return ends_well([&] {
    io::onnx::LoadedModel model(path, {});
    std::vector<io::onnx::Value> inputs;
    if (!make_inputs(model.inputs(), inputs)) return false;
    (void)model.call(inputs);
    return true;
  });
}

/// `kind`: the folder of well-formed ones, and the ending of their names.
class GraphModels : public Fuzzer {
 public:
  GraphModels(const Settings& settings, const std::string& kind)
      : models_(files_in(settings.corpora + "/" + kind)),
        folder_("fuzz_" + kind),
        path_(folder_.file("damaged." + kind)) {
    memory::set_limit(MiB(512));
  }

  bool execute(Random& random) override {
    std::string bytes = models_[random() % models_.size()];
    damage_often(bytes, random);
    put_bytes(path_, bytes);
    return take_model(path_);
  }

 private:
  const std::vector<std::string> models_;
  const ScratchFolder folder_;
  const std::string path_;
};

}  // namespace tidemark::fuzz
