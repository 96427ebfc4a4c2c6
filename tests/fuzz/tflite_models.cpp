// Reads TFLite models that were damaged. Allowed ends: outputs, or one of the typed errors.
#include "graph_models.h"

namespace {

using namespace tidemark;

class TfliteModels final : public fuzz::GraphModels {
 public:
  explicit TfliteModels(const fuzz::Settings& settings) : GraphModels(settings, "tflite") {}
};

const fuzz::AddFuzzer added("tflite_models", fuzz::make<TfliteModels>);

}  // namespace
