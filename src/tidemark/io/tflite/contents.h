// What a .tflite file says, as plain values whose texts and bytes are views of the file.
//
//   const Contents model = read_contents(bytes, path);
//   for (const Operator& op : model.graphs[0].operators) std::cout << op.name << "\n";
//
// Reading checks places, counts and numbers of tensors, buffers and graphs; no tensor is made.
#pragma once

#include "tidemark/io/onnx/messages.h"

namespace tidemark::io::tflite {

using onnx::Attribute;
using onnx::Element;

inline constexpr std::string_view kIdentifier = "TFL3";
/// Whether the bytes begin as such a file does.
inline bool is_tflite(std::string_view bytes) {
  return bytes.size() >= 8 && bytes.substr(4, 4) == kIdentifier;
}

/// real = (number - zero) * scale, with one of both for all, or one for each place along `axis`.
struct Quantisation {
  std::vector<float> scales;
  Ints zeros;
  int64_t axis = 0;
};

struct TensorInfo {
  std::string_view name;
  Element element = Element::undefined;
  bool is_resource = false, is_variable = false, is_sparse = false, is_constant = false;
  Ints shape;      // for the sizes that the file was written for
  Ints signature;  // -1: any size
  std::string_view data;
  Quantisation quantisation;

  bool is_quantised() const { return !quantisation.scales.empty() && element != Element::float32; }
};

/// Operators that read files of this kind; what each is called and what its options hold.
struct OperatorKind;

struct Operator {
  std::string name;                    // as the format's: "CONV_2D"; of a custom one its own name
  const OperatorKind* kind = nullptr;  // null: not read
  Ints inputs, outputs;                // -1: left out
  std::vector<Attribute> attributes;
};

struct GraphInfo {
  std::string_view name;
  std::vector<TensorInfo> tensors;
  Ints inputs, outputs;
  std::vector<Operator> operators;
};

struct SignatureInfo {
  std::string_view key;
  std::vector<std::pair<std::string_view, int64_t>> inputs, outputs;  // names and tensors
  int64_t graph = 0;
};

struct Contents {
  std::string_view description;
  std::vector<GraphInfo> graphs;
  std::vector<SignatureInfo> signatures;
};

/// Throws DataLossError where the bytes are no such file.
TIDEMARK_API Contents read_contents(std::string_view bytes, const std::string& path);

}  // namespace tidemark::io::tflite
