// A graph of ours as an ONNX model.
//
//   std::string bytes = write_model(graph, {"x"}, {"y"}, 18);
//
// Values of variables are written as they are now. Throws UnimplementedError with every op that has
// no form there, before anything is written.
#pragma once

#include <span>
#include <string>

#include "tidemark/graph/graph.h"

namespace tidemark::io::onnx {

inline constexpr int64_t kOldestWritten = 18;

TIDEMARK_API std::string write_model(const graph::Graph& graph, std::span<const std::string> inputs,
                                     std::span<const std::string> outputs, int64_t opset);

}  // namespace tidemark::io::onnx
