// How a graph stands in a saved model: messages in the wire format; docs/saved-model.md.
//
// Values are numbered: the graph's inputs, then the outputs of its nodes in order. A reference is
// 2 * value, or 2 * constant + 1 for one of the model's constants.
#pragma once

#include <cstdint>

namespace tidemark::io {

enum class NodeKind : uint64_t {
  op = 0,
  constant = 1,
  read_variable = 2,
  update_variable = 3,
  cond = 4,
  loop = 5,
  pass = 6,  // gives its inputs again: all that is left of a custom gradient
  gradient = 7,
};
inline constexpr uint64_t kNodeKinds = 8;

enum GraphField : uint32_t { kGraphName = 1, kGraphInput = 2, kGraphNode = 3, kGraphOutput = 4 };
enum NodeField : uint32_t {
  kNodeKind = 1,
  kNodeOp = 2,
  kNodeAttr = 3,
  kNodeInput = 4,   // a reference
  kNodeBefore = 5,  // number of a node that runs first
  kNodeOutput = 6,  // a value
  kNodeVariable = 7,
  kNodeBody = 8,
  kNodeCount = 9,    // loop: its variables; gradient: inputs that none goes past
  kNodeSource = 10,  // gradient: 0 for a tensor, 1 + variable
  kNodeSeed = 11,    // gradient: whether the target has one
  kNodeLabel = 12,
  kNodeTable = 13,
};
enum ValueField : uint32_t { kValueDType = 1, kValueShape = 2 };
enum BodyField : uint32_t { kBodyGraph = 1, kBodyCaptured = 2 };
enum AttrField : uint32_t {
  kAttrNone = 1,
  kAttrBool = 2,
  kAttrInt = 3,
  kAttrReal = 4,
  kAttrDType = 5,
  kAttrString = 6,
  kAttrInts = 7,
};

/// Branches inside of loops inside of branches: deeper ones are refused.
inline constexpr int kDeepestBody = 48;

}  // namespace tidemark::io
