// An ONNX model as one graph for all sizes, for those that plan and run graphs themselves.
#pragma once

#include "tidemark/graph/graph.h"
#include "tidemark/io/onnx/file.h"

namespace tidemark::io::onnx {

struct TracedFile {
  std::shared_ptr<graph::Graph> graph;
  std::vector<std::string> inputs, outputs;
};

/// Throws UnimplementedError where what it does depends on values, or on more than tensors.
TIDEMARK_API TracedFile trace_file(const File& file);

/// The only ONNX or TFLite model among the files of a folder; empty: there is none, or there are
/// several.
TIDEMARK_API std::string model_among(const std::vector<std::string>& names);

}  // namespace tidemark::io::onnx
