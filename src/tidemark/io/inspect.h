// What stands in a file of a model or of weights, told without running anything of it.
//
//   const Inspection seen = inspect("net.onnx");
//   for (const std::string& line : seen.not_read) std::cerr << line << "\n";
//
// What is not supported is listed, all of it; only a damaged file throws.
#pragma once

#include <tidemark/saved_model.h>

namespace tidemark::io {

struct Inspection {
  struct Parameter {
    std::string name, type;
    Shape shape;
    uint64_t bytes = 0;
  };
  /// One node of the model's own graph, for pictures.
  struct Step {
    std::string op, name;
    std::vector<std::string> inputs, outputs;
  };

  std::string format;  // "ONNX", "TFLite", "SavedModel", "Tidemark", "safetensors", …
  std::vector<SignatureSpec> signatures;
  std::map<std::string, int64_t> ops;  // how often each stands in the file, inner graphs included
  std::vector<Parameter> parameters;
  std::vector<std::string> not_read;
  std::vector<Step> steps;
};

/// `path`: a file, a folder with a model, or a checkpoint's prefix. Throws DataLossError for what
/// is damaged, NotFoundError where there is nothing.
TIDEMARK_API Inspection inspect(const std::string& path);

}  // namespace tidemark::io
