// A graph of ours as an ONNX model.
//
//   FileWriter file("net.onnx");
//   write_model(graph, {"x"}, {"y"}, 18, [&](std::string_view bytes) { file.write(bytes); });
//
// Values of variables are written as they are now, each from where it lies. Throws
// UnimplementedError with all that has no form there, before anything is written.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "tidemark/graph/graph.h"

namespace tidemark::io::onnx {

inline constexpr int64_t kOldestWritten = 18;

/// Gets the bytes of the model, piece by piece.
using WriteBytes = std::function<void(std::string_view)>;

TIDEMARK_API void write_model(const graph::Graph& graph, std::span<const std::string> inputs,
                              std::span<const std::string> outputs, int64_t opset,
                              const WriteBytes& write);

}  // namespace tidemark::io::onnx
