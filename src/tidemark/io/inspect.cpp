#include "tidemark/io/inspect.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "tidemark/graph/graph.h"
#include "tidemark/graph/node.h"
#include "tidemark/io/input_file.h"
#include "tidemark/io/keras/description.h"
#include "tidemark/io/keras/weights.h"
#include "tidemark/io/model_folder.h"
#include "tidemark/io/model_reader.h"
#include "tidemark/io/onnx/file.h"
#include "tidemark/io/tensorflow/attr_values.h"
#include "tidemark/io/tensorflow/model.h"
#include "tidemark/io/tflite/contents.h"
#include "tidemark/io/tflite/lowering.h"
#include "tidemark/io/weights/weights_file.h"

namespace tidemark::io {

namespace {

// --- ONNX and TFLite ---

TensorSpec spec_of(const onnx::ValueInfo& info) {
  const DType dtype = onnx::storage_of(info.type.element);
  return {std::string(info.name), dtype,
          info.type.has_shape ? Shape(std::span<const int64_t>(info.type.dims)) : Shape::unknown()};
}

class GraphFile {
 public:
  GraphFile(const onnx::Model& model, Inspection& out) : model_(model), out_(out) {}

  void look() {
    std::set<std::string_view> in_file;
    for (const onnx::TensorMessage& t : model_.graph.initializers) in_file.insert(t.name);
    SignatureSpec signature{"serving_default", {}, {}};
    for (const onnx::ValueInfo& info : model_.graph.inputs) {
      if (!in_file.contains(info.name)) signature.inputs.push_back(spec_of(info));
    }
    for (const onnx::ValueInfo& info : model_.graph.outputs) {
      signature.outputs.push_back(spec_of(info));
    }
    out_.format = model_.format;
    out_.signatures.push_back(std::move(signature));
    out_.not_read = onnx::find_unreadable(model_);
    look_at(model_.graph);
    for (const onnx::Function& f : model_.functions) count(f.nodes);
    for (const onnx::Node& node : model_.graph.nodes) {
      out_.steps.push_back({std::string(node.op),
                            std::string(node.name),
                            {node.inputs.begin(), node.inputs.end()},
                            {node.outputs.begin(), node.outputs.end()}});
    }
  }

 private:
  void look_at(const onnx::Graph& graph) {
    if (!seen_.insert(&graph).second) return;
    for (const onnx::TensorMessage& t : graph.initializers) add(t, t.name);
    count(graph.nodes);
  }

  void add(const onnx::TensorMessage& t, std::string_view name) {
    Inspection::Parameter made{std::string(name), std::string(onnx::name_of(t.element)), {}, 0};
    const bool is_shape = t.dims.size() <= Shape::kMaxRank &&
                          std::ranges::all_of(t.dims, [](int64_t size) { return size >= 0; });
    if (is_shape) made.shape = Shape(std::span<const int64_t>(t.dims));
    const DType dtype = onnx::storage_of(t.element);
    made.bytes = t.has_raw ? t.raw.size() : 0;
    if (!t.has_raw && dtype != DType::invalid && dtype != DType::string) {
      made.bytes = static_cast<uint64_t>(made.shape.num_elements()) * size_of(dtype);
    }
    out_.parameters.push_back(std::move(made));
  }

  void count(std::span<const onnx::Node> nodes) {
    for (const onnx::Node& node : nodes) {
      // Small letters: what reading a TFLite file puts between its operators.
      const bool is_ours = node.domain == tflite::kDomain && node.op[0] >= 'a';
      const bool is_plain = node.domain.empty() || node.domain == model_.home;
      if (!is_ours) ++out_.ops[message(is_plain ? "" : node.domain, is_plain ? "" : ".", node.op)];
      for (const onnx::Attribute& attribute : node.attributes) {
        if (attribute.graph) look_at(*attribute.graph);
        const bool is_value = attribute.tensor && node.op == "Constant" && !node.outputs.empty();
        if (is_value) add(*attribute.tensor, node.outputs[0]);
      }
    }
  }

  const onnx::Model& model_;
  Inspection& out_;
  std::set<const onnx::Graph*> seen_;
};

Inspection inspect_graph_file(const std::string& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const onnx::Model model = onnx::read_any_model(*file);
  Inspection out;
  GraphFile(model, out).look();
  return out;
}

// --- Saved models ---

TensorSpec spec_of(const tensorflow::TensorInfoMessage& info) {
  Shape shape = info.has_shape ? tensorflow::read_shape(info.shape) : Shape::unknown();
  return {std::string(info.name), tensorflow::read_dtype(info.dtype), std::move(shape)};
}

void count_nodes(const std::vector<tensorflow::NodeMessage>& nodes, Inspection& out) {
  for (const tensorflow::NodeMessage& node : nodes) ++out.ops[std::string(node.op)];
}

void add_weights(const weights::WeightsFile& file, Inspection& out) {
  for (const auto& [name, entry] : file.entries()) {
    out.parameters.push_back({name, entry.type, entry.shape, entry.bytes});
    if (entry.dtype == DType::invalid) {
      out.not_read.push_back(message("'", name, "' of ", entry.type));
    }
  }
}

/// The lines of an error that lists what is missing, without its first.
std::vector<std::string> listed(std::string_view text) {
  std::vector<std::string> out;
  size_t begin = text.find('\n');
  if (begin == std::string_view::npos) return {std::string(text)};
  while (begin != std::string_view::npos) {
    const size_t from = text.find_first_not_of(" \n", begin), end = text.find('\n', begin + 1);
    if (from != std::string_view::npos) out.emplace_back(text.substr(from, end - from));
    begin = end;
  }
  return out;
}

Inspection inspect_tensorflow(const std::string& folder) {
  Inspection out;
  out.format = "SavedModel";
  const tensorflow::Model model(folder, {});
  for (const tensorflow::SignatureMessage& one : model.signatures()) {
    SignatureSpec spec{std::string(one.name), {}, {}};
    for (const auto& info : one.inputs) spec.inputs.push_back(spec_of(info));
    for (const auto& info : one.outputs) spec.outputs.push_back(spec_of(info));
    out.signatures.push_back(std::move(spec));
  }
  const tensorflow::GraphMessage graph = tensorflow::read_graph_message(model.meta_graph().graph);
  count_nodes(graph.nodes, out);
  for (const auto& [name, bytes] : graph.functions) {
    count_nodes(tensorflow::read_function(bytes).nodes, out);
  }
  for (const tensorflow::NodeMessage& node : graph.nodes) {
    out.steps.push_back({std::string(node.op),
                         std::string(node.name),
                         {node.inputs.begin(), node.inputs.end()},
                         {std::string(node.name)}});
  }
  try {
    model.check_signatures();
  } catch (const UnimplementedError& error) {
    out.not_read = listed(error.what());
  }
  const std::string index = (std::filesystem::path(folder) / "variables/variables.index").string();
  std::error_code ignored;
  if (std::filesystem::exists(index, ignored)) add_weights(*weights::open_weights(folder), out);
  return out;
}

Inspection inspect_own(const std::string& folder) {
  Inspection out;
  out.format = "Tidemark";
  const ModelReader reader(folder);
  GraphParts parts;
  for (size_t i = 0; i < reader.variables().size(); ++i) {
    parts.variables.push_back(reader.declare_variable(i));
    const Variable& variable = parts.variables.back();
    out.parameters.push_back({reader.variables()[i].name, std::string(name_of(variable.dtype())),
                              variable.shape(), variable.operand().nbytes()});
  }
  for (size_t i = 0; i < reader.tables().size(); ++i) {
    parts.tables.push_back(reader.declare_table(i));
  }
  parts.constants = reader.read_constants();
  for (size_t i = 0; i < reader.functions().size(); ++i) {
    const std::shared_ptr<graph::Graph> graph = reader.read_function(i, parts).graph;
    for (const graph::Node* node : graph->nodes()) {
      if (node->op) ++out.ops[std::string(node->op->name())];
    }
  }
  for (const ModelReader::SignatureInfo& info : reader.signatures()) {
    const auto graph = reader.read_function(info.function, parts).graph;
    reader.check(info, *graph);
    SignatureSpec spec{info.name, {}, {}};
    for (size_t i = 0; i < info.inputs.size(); ++i) {
      const Tensor& t = graph->inputs()[i];
      spec.inputs.push_back({info.inputs[i], t.dtype(), t.shape()});
    }
    for (size_t i = 0; i < info.outputs.size(); ++i) {
      const Tensor& t = graph->outputs()[i];
      spec.outputs.push_back({info.outputs[i], t.dtype(), t.shape()});
    }
    out.signatures.push_back(std::move(spec));
  }
  return out;
}

bool has_bytes(const std::string& path, std::string_view wanted, uint64_t at) {
  const InputFile file(path);
  return file.has(at, wanted.size()) && file.read(at, wanted.size()) == wanted;
}

}  // namespace

Inspection inspect(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    const ModelFolder found = find_model(path);
    switch (found.format) {
      case ModelFormat::tensorflow:
        return inspect_tensorflow(path);
      case ModelFormat::graph:
        return inspect_graph_file(found.file);
      case ModelFormat::own:
        break;
    }
    return inspect_own(path);
  }
  const bool is_file = std::filesystem::exists(path, ignored);
  if (is_file && (path.ends_with(".onnx") || has_bytes(path, tflite::kIdentifier, 4))) {
    return inspect_graph_file(path);
  }
  const std::unique_ptr<weights::WeightsFile> file = weights::open_weights(path);
  Inspection out;
  out.format = file->format();
  add_weights(*file, out);
  if (out.format == "hdf5") {
    if (const auto description = keras::find_description(keras::open_weights(path))) {
      out.format = "Keras";
      keras::describe(*description, out);
    }
  }
  return out;
}

}  // namespace tidemark::io
