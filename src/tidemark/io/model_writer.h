// ModelWriter: collects functions and what they use, then writes them as one file.
#pragma once

#include "tidemark/io/graph_writer.h"

namespace tidemark::io {

class TIDEMARK_API ModelWriter {
 public:
  /// Variables are numbered in the order of their first use or addition.
  uint64_t add_variable(const Variable& variable) { return parts_.add(variable); }
  uint64_t add_constant(const Tensor& constant) { return parts_.add(constant); }
  uint64_t add_table(int64_t number) { return parts_.add_table(number); }
  /// Throws InvalidArgumentError where the graph needs Python.
  uint64_t add_function(const std::string& name, const graph::Graph& graph);
  /// Names of the function's inputs and outputs, in its order.
  void add_signature(const std::string& name, uint64_t function,
                     const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs);
  void set_objects(std::string objects) { objects_ = std::move(objects); }
  /// Makes the folder where it is not there. A model that was there is replaced in one moment.
  void write(const std::string& folder) const;

 private:
  struct Function {
    std::string bytes;
    size_t num_inputs, num_outputs;
  };
  SharedParts parts_;
  std::vector<Function> functions_;
  std::vector<std::string> signatures_;
  std::string objects_;
};

}  // namespace tidemark::io
