// TrackableObjectGraph: which objects a checkpoint is of, and under which key each one's state is.
//
//   std::vector<ObjectNode> objects = read_object_graph(bytes);      // objects[0] is the root
#pragma once

#include <tidemark/export.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::io {

inline constexpr std::string_view kObjectGraphKey = "_CHECKPOINTABLE_OBJECT_GRAPH";

struct ObjectNode {
  struct Child {
    std::string name;
    uint64_t node;
  };
  /// A part of the state: its name, the variable's name as TensorFlow 1 had it, the tensor's key.
  struct Attribute {
    std::string name, full_name, key;
  };
  /// What an optimizer of Keras 2 keeps for a variable.
  struct Slot {
    uint64_t variable, slot;
    std::string name;
  };
  std::vector<Child> children;
  std::vector<Attribute> attributes;
  std::vector<Slot> slots;
};

TIDEMARK_API std::string write_object_graph(const std::vector<ObjectNode>& objects);

/// Throws DataLossError for what is malformed; every number is one of an object that is there.
TIDEMARK_API std::vector<ObjectNode> read_object_graph(std::string_view bytes);

}  // namespace tidemark::io
