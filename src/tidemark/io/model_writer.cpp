#include "tidemark/io/model_writer.h"

#include <tidemark/call.h>

#include <filesystem>
#include <set>

#include "tidemark/io/bytes_sink.h"
#include "tidemark/io/folder_writer.h"
#include "tidemark/io/model_folder.h"
#include "tidemark/io/model_format.h"
#include "tidemark/io/tensor_file.h"
#include "tidemark/trace/builder.h"

namespace tidemark::io {

namespace {

void check_names(const std::string& signature, const char* what, size_t wanted,
                 const std::vector<std::string>& names) {
  if (names.size() != wanted) {
    fail("signature '", signature, "': the function has ", wanted, " ", what, "; ", names.size(),
         " names were given");
  }
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) {
      fail("signature '", signature, "': two ", what, " have the name '", name, "'");
    }
  }
}

}  // namespace

uint64_t ModelWriter::add_function(const std::string& name, const graph::Graph& graph) {
  BytesSink function;
  put_bytes_field(function, kFunctionName, name);
  put_bytes_field(function, kFunctionGraph, write_graph(graph, parts_));
  functions_.push_back({std::move(function.bytes), graph.inputs().size(), graph.outputs().size()});
  return functions_.size() - 1;
}

void ModelWriter::add_signature(const std::string& name, uint64_t function,
                                const std::vector<std::string>& inputs,
                                const std::vector<std::string>& outputs) {
  if (function >= functions_.size()) fail("there is no function of number ", function);
  check_names(name, "inputs", functions_[function].num_inputs, inputs);
  check_names(name, "outputs", functions_[function].num_outputs, outputs);
  BytesSink signature;
  put_bytes_field(signature, kSignatureName, name);
  put_varint_field(signature, kSignatureFunction, function);
  for (const std::string& input : inputs) put_bytes_field(signature, kSignatureInput, input);
  for (const std::string& output : outputs) put_bytes_field(signature, kSignatureOutput, output);
  signatures_.push_back(std::move(signature.bytes));
}

void ModelWriter::write(const std::string& folder) const {
  const NoHandlers outside;
  BytesSink model;
  std::vector<NamedTensor> tensors;
  for (size_t i = 0; i < parts_.variables.size(); ++i) {
    const Variable& variable = parts_.variables[i];
    BytesSink one;
    put_bytes_field(one, kVariableName, variable.name());
    put_shape(one, kVariableShape, variable.shape());
    put_varint_field(one, kVariableTrainable, variable.trainable());
    put_bytes_field(model, kModelVariable, one.bytes);
    tensors.push_back({variable_key(i), variable.operand()});
  }
  for (size_t i = 0; i < parts_.tables.size(); ++i) {
    const HashTable& table = *parts_.tables[i];
    BytesSink one;
    put_varint_field(one, kTableKey, static_cast<uint64_t>(table.key_dtype()));
    put_varint_field(one, kTableValue, static_cast<uint64_t>(table.value_dtype()));
    put_shape(one, kTableShape, table.value_shape());
    put_bytes_field(model, kModelTable, one.bytes);
    const Attr number(table.number());
    const std::vector<Tensor> all =
        call_all(OpRegistry::instance().get("table_export"), {}, {&number, 1});
    tensors.push_back({table_key(i, "keys"), all[0]});
    tensors.push_back({table_key(i, "values"), all[1]});
  }
  for (size_t i = 0; i < parts_.constants.size(); ++i) {
    tensors.push_back({constant_key(i), parts_.constants[i]});
  }
  put_varint_field(model, kModelConstants, parts_.constants.size());
  for (const Function& function : functions_) {
    put_bytes_field(model, kModelFunction, function.bytes);
  }
  for (const std::string& one : signatures_) put_bytes_field(model, kModelSignature, one);
  put_bytes_field(model, kModelObjects, objects_);
  FolderWriter place(folder, files_of_models());
  const std::string path = (std::filesystem::path(place.path()) / kModelFileName).string();
  write_tensor_file(path, kModelKind, model.bytes, tensors);
  place.commit();
}

}  // namespace tidemark::io
