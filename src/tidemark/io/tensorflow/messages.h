// TensorFlow's messages about graphs, as views into the bytes of a file that outlives them.
//
//   SavedModelMessage model = read_saved_model(bytes);
//   for (const NodeMessage& node : read_graph_message(model.meta_graphs[0].graph).nodes) ...
//
// Reading checks the form alone and throws DataLossError; what a message means is checked by those
// who use it.
#pragma once

#include <tidemark/export.h>

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace tidemark::io::tensorflow {

using Texts = std::vector<std::string_view>;
/// A map of a message: key → bytes of the value, the last one where a key stands twice.
using BytesByName = std::map<std::string_view, std::string_view>;

/// Throws DataLossError: the file is damaged there.
[[noreturn]] TIDEMARK_API void fail_malformed(std::string_view what);

struct NodeMessage {
  std::string_view name, op;
  Texts inputs;  // "node", "node:1", "^node"; in functions "argument", "node:output:1"
  std::vector<std::pair<std::string_view, std::string_view>> attrs;

  /// The bytes of the attribute's value; null: it has none of this name.
  const std::string_view* find(std::string_view attr) const;
};

/// What an op, or a function, takes and gives.
struct OpMessage {
  struct Argument {
    std::string_view name, number_attr, type_list_attr;
  };
  std::string_view name;
  std::vector<Argument> inputs, outputs;
  BytesByName defaults;  // of attributes
};

struct FunctionMessage {
  OpMessage signature;
  std::vector<NodeMessage> nodes;
  std::map<std::string_view, std::string_view> results;  // output → reference
  Texts control_results;                                 // nodes
};

struct GraphMessage {
  std::vector<NodeMessage> nodes;
  std::map<std::string_view, std::string_view> functions;  // name → bytes
};

struct TensorInfoMessage {
  std::string_view name, tensor;  // tensor is empty for a composite one
  uint64_t dtype = 0;
  std::string_view shape;
  bool has_shape = false;
};

struct SignatureMessage {
  std::string_view name;
  std::vector<TensorInfoMessage> inputs, outputs;  // by name
};

struct AssetMessage {
  std::string_view tensor, file;
};

struct MetaGraphMessage {
  Texts tags;
  std::string_view version;  // of TensorFlow
  std::map<std::string_view, OpMessage> ops;
  BytesByName function_aliases;  // function → alias
  std::string_view graph, objects;
  bool has_objects = false;
  std::string_view filename_tensor, restore_op;
  std::map<std::string_view, Texts> collections;  // those that list nodes
  std::vector<SignatureMessage> signatures;       // by name
  std::vector<AssetMessage> assets;
};

TIDEMARK_API std::vector<std::string_view> read_meta_graphs(std::string_view saved_model);
TIDEMARK_API MetaGraphMessage read_meta_graph(std::string_view bytes);
TIDEMARK_API GraphMessage read_graph_message(std::string_view bytes);
TIDEMARK_API FunctionMessage read_function(std::string_view bytes);

/// One entry of a map.
std::pair<std::string_view, std::string_view> read_entry(std::string_view bytes);

}  // namespace tidemark::io::tensorflow
