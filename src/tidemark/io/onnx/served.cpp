#include "tidemark/io/onnx/served.h"

#include <set>

#include "tidemark/graph/node.h"
#include "tidemark/io/onnx/interpreter.h"
#include "tidemark/trace/builder.h"

namespace tidemark::io::onnx {

namespace {

Value input_of(trace::GraphBuilder& builder, const ValueInfo& info) {
  const DType dtype = storage_of(info.type.element);
  if (info.type.kind != Type::Kind::tensor || dtype == DType::invalid) {
    fail<UnimplementedError>("the input '", info.name, "' of the model is no tensor");
  }
  const Shape shape =
      info.type.has_shape ? Shape(std::span<const int64_t>(info.type.dims)) : Shape::unknown();
  return {builder.add_input(dtype, shape), info.type.element};
}

}  // namespace

TracedFile trace_file(const File& file) {
  const NoHandlers outside;
  const Graph& graph = file.model().graph;
  std::set<std::string_view> in_file;
  for (const TensorMessage& t : graph.initializers) in_file.insert(t.name);
  for (const SparseMessage& t : graph.sparse_initializers) in_file.insert(t.values.name);
  TracedFile out;
  trace::GraphBuilder builder("loaded_model");
  Values inputs;
  for (const ValueInfo& info : graph.inputs) {
    if (in_file.contains(info.name)) {
      inputs.emplace_back();
      continue;
    }
    inputs.push_back(input_of(builder, info));
    out.inputs.emplace_back(info.name);
  }
  std::vector<Tensor> results;
  try {
    const trace::TraceScope scope(builder);
    for (const Value& value : Interpreter(file).run(inputs)) {
      if (!value.is_tensor()) fail<UnimplementedError>("an output of the model is no tensor");
      results.push_back(value.tensor);
    }
  } catch (const ValueUnknownError& e) {
    fail<UnimplementedError>(
        "the ", file.model().format,
        " model is no one graph for all sizes and values: ", std::string_view(e.what()));
  }
  for (const ValueInfo& info : graph.outputs) out.outputs.emplace_back(info.name);
  out.graph = builder.finish(results);
  return out;
}

std::string model_among(const std::vector<std::string>& names) {
  std::string found;
  for (const std::string& name : names) {
    if (!name.ends_with(".onnx") && !name.ends_with(".tflite")) continue;
    if (!found.empty()) return {};
    found = name;
  }
  return found;
}

}  // namespace tidemark::io::onnx
