#include "tidemark/io/model_reader.h"

#include <filesystem>
#include <set>

#include "tidemark/io/bytes_sink.h"
#include "tidemark/io/file_system.h"
#include "tidemark/io/model_format.h"

namespace tidemark::io {

namespace {

bool take_variable(std::string_view bytes, ModelReader::VariableInfo& out) {
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    if (field.number == kVariableName && field.is_bytes()) out.name = field.bytes;
    if (field.number == kVariableShape && !take_shape(field.bytes, out.shape)) return false;
    if (field.number == kVariableTrainable) out.trainable = field.value != 0;
  }
  return reader.ok();
}

bool take_table(std::string_view bytes, ModelReader::TableInfo& out) {
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    if (field.number == kTableShape && !take_shape(field.bytes, out.value_shape)) return false;
    if (field.number == kTableShape) continue;
    if (field.value == 0 || field.value >= kDTypeSlots) return false;
    if (!kAny.contains(static_cast<DType>(field.value))) return false;
    if (field.number == kTableKey) out.key = static_cast<DType>(field.value);
    if (field.number == kTableValue) out.value = static_cast<DType>(field.value);
  }
  return reader.ok() && out.key != DType::invalid && out.value != DType::invalid;
}

bool take_function(std::string_view bytes, ModelReader::FunctionInfo& out) {
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    if (field.number == kFunctionName) out.name = field.bytes;
    if (field.number == kFunctionGraph) out.graph = field.bytes;
  }
  return reader.ok();
}

bool take_signature(std::string_view bytes, ModelReader::SignatureInfo& out) {
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    if (field.number == kSignatureName) out.name = field.bytes;
    if (field.number == kSignatureFunction) out.function = field.value;
    if (field.number == kSignatureInput) out.inputs.emplace_back(field.bytes);
    if (field.number == kSignatureOutput) out.outputs.emplace_back(field.bytes);
  }
  return reader.ok();
}

std::string file_in(const std::string& folder) {
  const std::filesystem::path path = std::filesystem::path(folder) / kModelFileName;
  std::error_code error;
  if (std::filesystem::exists(path, error)) return path.string();
  if (error) fail_unreadable(path.string(), error);
  fail<NotFoundError>("there is no saved model in ", folder, " (no file ", kModelFileName,
                      " and no saved_model.pb)");
}

}  // namespace

ModelReader::ModelReader(const std::string& folder) : file_(file_in(folder)) {
  if (file_.kind() != kModelKind) damaged("it holds no model");
  read_message();
}

void ModelReader::damaged(std::string_view what) const {
  fail<DataLossError>(file_.path(), " is damaged: ", what);
}

void ModelReader::read_message() {
  WireReader reader(file_.metadata());
  bool fits = true;
  for (WireField field; fits && reader.next(field);) {
    switch (field.number) {
      case kModelVariable:
        fits = take_variable(field.bytes, variables_.emplace_back());
        break;
      case kModelTable:
        fits = take_table(field.bytes, tables_.emplace_back());
        break;
      case kModelFunction:
        fits = take_function(field.bytes, functions_.emplace_back());
        break;
      case kModelSignature:
        fits = take_signature(field.bytes, signatures_.emplace_back());
        break;
      case kModelObjects:
        objects_ = field.bytes;
        break;
      case kModelConstants:
        num_constants_ = field.value;
        break;
      default:
        fits = false;
    }
  }
  if (!fits || !reader.ok()) damaged("what it says of the model is malformed");
  if (num_constants_ > file_.entries().size()) damaged("constants are missing");
  std::set<std::string_view> seen;
  for (const SignatureInfo& signature : signatures_) {
    if (signature.function >= functions_.size()) damaged("a signature without a function");
    if (!seen.insert(signature.name).second) damaged("a signature stands twice");
  }
}

Variable ModelReader::declare_variable(size_t index) const {
  const VariableInfo& info = variables_.at(index);
  return Variable(file_.reserve(variable_key(index)),
                  {.name = info.name, .trainable = info.trainable, .shape = info.shape});
}

void ModelReader::fill_variable(size_t index, const Variable& declared) const {
  file_.fill(variable_key(index), declared.operand());
}

Variable ModelReader::read_variable(size_t index) const {
  Variable out = declare_variable(index);
  fill_variable(index, out);
  return out;
}

std::shared_ptr<HashTable> ModelReader::declare_table(size_t index) const {
  const TableInfo& info = tables_.at(index);
  return HashTable::create(info.key, info.value, info.value_shape);
}

void ModelReader::fill_table(size_t index, HashTable& declared) const {
  const Tensor keys = file_.read(table_key(index, "keys"));
  const Tensor values = file_.read(table_key(index, "values"));
  declared.check_values(keys, values);
  declared.insert(keys, values, true);
}

std::shared_ptr<HashTable> ModelReader::read_table(size_t index) const {
  std::shared_ptr<HashTable> table = declare_table(index);
  fill_table(index, *table);
  return table;
}

std::vector<Tensor> ModelReader::read_constants() const {
  std::vector<Tensor> out;
  for (size_t i = 0; i < num_constants_; ++i) out.push_back(file_.read(constant_key(i)));
  return out;
}

ReadGraph ModelReader::read_function(size_t index, const GraphParts& parts) const {
  return read_graph(functions_.at(index).graph, parts);
}

void ModelReader::check(const SignatureInfo& signature, const graph::Graph& graph) const {
  const auto fits = [](const std::vector<std::string>& names, size_t wanted) {
    return names.size() == wanted &&
           std::set<std::string_view>(names.begin(), names.end()).size() == wanted;
  };
  if (!fits(signature.inputs, graph.inputs().size()) ||
      !fits(signature.outputs, graph.outputs().size())) {
    damaged("the names of a signature do not fit its function");
  }
}

}  // namespace tidemark::io
