// Reads ONNX models that were damaged. Allowed ends: outputs, or one of the typed errors.
#include "graph_models.h"

namespace {

using namespace tidemark;

class OnnxModels final : public fuzz::GraphModels {
 public:
  explicit OnnxModels(const fuzz::Settings& settings) : GraphModels(settings, "onnx") {}
};

const fuzz::AddFuzzer added("onnx_models", fuzz::make<OnnxModels>);

}  // namespace
