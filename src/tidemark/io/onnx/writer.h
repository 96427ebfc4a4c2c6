// A graph of ours as an ONNX model.
//
//   const ModelMessage model(graph, {"x"}, {"y"}, 18);
//   model.save("net.onnx");
//
// Values of variables are written as they are when it is saved, each from where it lies. Throws
// UnimplementedError with all that has no form there, before anything is written.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tidemark/graph/graph.h"

namespace tidemark::io::onnx {

inline constexpr int64_t kOldestWritten = 18;

/// Gets the bytes of a file, piece by piece.
using WriteBytes = std::function<void(std::string_view)>;

/// A file in the model's folder that has the large weights.
struct WeightsBeside {
  std::string name;
  WriteBytes write;
};

class TIDEMARK_API ModelMessage {
 public:
  ModelMessage(const graph::Graph& graph, std::span<const std::string> inputs,
               std::span<const std::string> outputs, int64_t opset);
  ~ModelMessage();

  /// Whether it fits into one file: protocol buffers hold 2 GB.
  bool fits_one_file() const;
  void write(const WriteBytes& write, const WeightsBeside* beside = nullptr) const;
  /// As a file that is there as a whole or not at all, with its weights in a file `PATH.data`
  /// beside it (or `PATH.data-2`, while another has that name) where it is asked for or does not
  /// fit.
  void save(const std::string& path, bool weights_beside = false) const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

}  // namespace tidemark::io::onnx
