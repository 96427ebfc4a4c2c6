// File: an ONNX model that was read and found readable: its messages and the tensors inside it.
#pragma once

#include <tidemark/variable.h>

#include <mutex>
#include <unordered_map>

#include "tidemark/io/onnx/tensors.h"

namespace tidemark::io::onnx {

struct FileOptions {
  /// Floating-point initializers of the model's graph become variables that can be trained.
  bool trainable = false;
  /// Of a TFLite model: which of its signatures; empty: that of its first graph.
  std::string signature = {};
  /// Of a TFLite model: what outlives a call is given and told by further inputs and outputs.
  bool keeps_states = false;
};

class TIDEMARK_API File {
 public:
  /// Throws DataLossError for a damaged file and UnimplementedError with every op, element type and
  /// version that is not read, before any tensor is made.
  File(std::shared_ptr<const MappedFile> file, const FileOptions& options);

  const Model& model() const { return model_; }
  /// Null: the node's op is no function of the model.
  const Function* find_function(const Node& node) const;
  /// A tensor of a graph. Read anew each time: a graph that was traced keeps what it uses, often in
  /// another layout, and the file's own form need not stay.
  Value initializer(const TensorMessage& tensor) const;
  Value initializer(const SparseMessage& tensor) const;
  /// A tensor in an attribute, made when it is asked for.
  Value tensor(const TensorMessage& tensor) const;
  Value sparse(const SparseMessage& tensor) const;
  /// From now on tensors stay once they are read: for models that run node by node.
  void keep_tensors();
  const std::vector<Variable>& variables() const { return variables_; }
  /// Others of the same number, dtypes and shapes in their place.
  void bind(std::vector<Variable> variables);
  size_t weight_bytes() const { return weight_bytes_; }
  /// Pages of the file that were read go back to the system.
  void forget_pages() const noexcept { file_->forget_pages(); }
  /// For each of these nodes, what no later one uses.
  const std::vector<std::vector<std::string_view>>& last_uses(std::span<const Node> nodes) const;

 private:
  void check_initializers(const Graph& graph);
  void make_variables();
  void read_nodes(std::span<const Node> nodes);

  std::shared_ptr<const MappedFile> file_;
  mutable ExternalFiles external_;
  Model model_;
  std::map<std::string, const Function*, std::less<>> functions_;
  mutable std::mutex mutex_;
  bool keeps_tensors_ = false;
  mutable std::unordered_map<const void*, Value> tensors_;  // kept ones, by the message
  std::unordered_map<const void*, size_t> variable_of_;
  std::vector<Variable> variables_;
  size_t weight_bytes_ = 0;
  std::unordered_map<const void*, std::vector<std::vector<std::string_view>>> last_uses_;
};

/// Of either format, told from the bytes; the file must outlive the model.
TIDEMARK_API Model read_any_model(const MappedFile& file, const FileOptions& options = {});
/// Each thing in the model that is not read, one line each; empty: all of it is.
TIDEMARK_API std::vector<std::string> find_unreadable(const Model& model);

}  // namespace tidemark::io::onnx
