// ModelReader: a saved model's parts, one after the other; <tidemark/saved_model.h> and Python put
// them together.
#pragma once

#include "tidemark/io/graph_reader.h"
#include "tidemark/io/tensor_file.h"

namespace tidemark::io {

class TIDEMARK_API ModelReader {
 public:
  struct VariableInfo {
    std::string name;
    Shape shape;
    bool trainable = false;
  };
  struct TableInfo {
    DType key = DType::invalid, value = DType::invalid;
    Shape value_shape;
  };
  struct FunctionInfo {
    std::string name, graph;
  };
  struct SignatureInfo {
    std::string name;
    uint64_t function = 0;
    std::vector<std::string> inputs, outputs;
  };

  /// Throws NotFoundError where the folder has no model, DataLossError where it is damaged.
  explicit ModelReader(const std::string& folder);

  const std::vector<VariableInfo>& variables() const { return variables_; }
  const std::vector<TableInfo>& tables() const { return tables_; }
  const std::vector<FunctionInfo>& functions() const { return functions_; }
  const std::vector<SignatureInfo>& signatures() const { return signatures_; }
  const std::string& objects() const { return objects_; }

  /// The values, as they were saved. A table comes filled.
  Variable read_variable(size_t index) const;
  std::shared_ptr<HashTable> read_table(size_t index) const;
  /// The same in two steps: of the right size and empty first, so that functions can be read and
  /// planned before the weights are.
  Variable declare_variable(size_t index) const;
  void fill_variable(size_t index, const Variable& declared) const;
  std::shared_ptr<HashTable> declare_table(size_t index) const;
  void fill_table(size_t index, HashTable& declared) const;
  std::vector<Tensor> read_constants() const;
  ReadGraph read_function(size_t index, const GraphParts& parts) const;
  /// Throws DataLossError unless the names fit the function.
  void check(const SignatureInfo& signature, const graph::Graph& graph) const;

 private:
  void read_message();
  [[noreturn]] void damaged(std::string_view what) const;

  TensorFile file_;
  std::vector<VariableInfo> variables_;
  std::vector<TableInfo> tables_;
  std::vector<FunctionInfo> functions_;
  std::vector<SignatureInfo> signatures_;
  std::string objects_;
  uint64_t num_constants_ = 0;
};

}  // namespace tidemark::io
