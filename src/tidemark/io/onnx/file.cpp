#include "tidemark/io/onnx/file.h"

#include <tidemark/call.h>

#include <algorithm>
#include <set>

#include "tidemark/io/onnx/call.h"
#include "tidemark/io/tflite/lowering.h"

namespace tidemark::io::onnx {

namespace {

constexpr int64_t kNewestOpset = 28;

std::string key_of(std::string_view domain, std::string_view name, std::string_view overload) {
  return message(domain, ":", name, ":", overload);
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// What the nodes name that is not in the graph itself.
void collect_free(const Graph& graph, std::set<std::string_view>& out) {
  for (const Node& node : graph.nodes) {
    out.insert(node.inputs.begin(), node.inputs.end());
    for (const Attribute& attribute : node.attributes) {
      if (attribute.graph) collect_free(*attribute.graph, out);
    }
  }
  for (const ValueInfo& output : graph.outputs) out.insert(output.name);
}

std::vector<std::vector<std::string_view>> find_last_uses(std::span<const Node> nodes) {
  std::vector<std::vector<std::string_view>> out(nodes.size());
  std::set<std::string_view> used_later;
  for (size_t i = nodes.size(); i-- > 0;) {
    std::set<std::string_view> used(nodes[i].inputs.begin(), nodes[i].inputs.end());
    for (const Attribute& attribute : nodes[i].attributes) {
      if (attribute.graph) collect_free(*attribute.graph, used);
    }
    used.insert(nodes[i].outputs.begin(), nodes[i].outputs.end());
    for (const std::string_view name : used) {
      if (!name.empty() && used_later.insert(name).second) out[i].push_back(name);
    }
  }
  return out;
}

/// Notes each op that is not read once, with the nodes that have it.
class Unreadable {
 public:
  explicit Unreadable(const Model& model) : home_(model.home), other_(model.not_read) {
    for (const Function& f : model.functions) {
      functions_.insert(key_of(f.domain, f.name, f.overload));
    }
    for (const auto& [domain, version] : model.opsets) {
      if (domain.empty() && version > kNewestOpset) {
        other_.push_back(message("opset ", version, ": the newest that is read is ", kNewestOpset));
      }
    }
    look_at(model.graph);
    for (const Function& f : model.functions) look_at(f.nodes);
  }

  std::vector<std::string> lines() const {
    std::vector<std::string> out = other_;
    for (const auto& [op, nodes] : ops_) {
      std::string line =
          message("op ", op, ", ", nodes.size(), nodes.size() == 1 ? " node" : " nodes");
      constexpr size_t kShown = 5;
      for (size_t i = 0; i < std::min(nodes.size(), kShown); ++i) {
        line += message(i == 0 ? ": " : ", ", nodes[i].empty() ? "(no name)" : nodes[i]);
      }
      out.push_back(line + (nodes.size() > kShown ? ", …" : ""));
    }
    return out;
  }

 private:
  void look_at(const Graph& graph) {
    for (const ValueInfo& input : graph.inputs) {
      if (input.type.kind == Type::Kind::other) {
        other_.push_back(message("input '", input.name, "': maps and sparse tensors"));
      }
    }
    look_at(graph.nodes);
  }
  void look_at(std::span<const Node> nodes) {
    for (const Node& node : nodes) {
      // Nodes of TFLite stand in its own files alone.
      const bool is_at_home = (node.domain == tflite::kDomain) == (home_ == tflite::kDomain);
      const bool is_known =
          functions_.contains(key_of(node.domain, node.op, node.overload)) ||
          (is_at_home && find_entry(node.domain, node.op)) ||
          (node.domain.empty() && OpRegistry::instance().find(Vocabulary::onnx, node.op));
      if (!is_known) {
        const bool is_plain = node.domain.empty() || node.domain == home_;
        ops_[message(is_plain ? "" : node.domain, is_plain ? "" : ".", node.op)].push_back(
            node.name);
      }
      for (const Attribute& attribute : node.attributes) {
        if (attribute.graph) look_at(*attribute.graph);
      }
    }
  }

  std::string_view home_;
  std::set<std::string> functions_;
  std::map<std::string, std::vector<std::string_view>> ops_;
  std::vector<std::string> other_;
};

}  // namespace

std::vector<std::string> find_unreadable(const Model& model) { return Unreadable(model).lines(); }

Model read_any_model(const MappedFile& file, const FileOptions& options) {
  const std::string_view bytes = file.bytes();
  const std::string& signature = options.signature;
  if (tflite::is_tflite(bytes)) {
    return tflite::read_model(bytes, file.path(), signature, options.keeps_states);
  }
  if (!signature.empty()) fail("an ONNX model has no signatures; '", signature, "' was asked for");
  return read_model(bytes);
}

File::File(std::shared_ptr<const MappedFile> file, const FileOptions& options)
    : file_(std::move(file)),
      external_(folder_of(file_->path()), file_->how()),
      model_(read_any_model(*file_, options)) {
  for (const Function& f : model_.functions) {
    functions_.emplace(key_of(f.domain, f.name, f.overload), &f);
  }
  const std::vector<std::string> unreadable = find_unreadable(model_);
  if (!unreadable.empty()) {
    std::string text =
        message("the ", model_.format, " model ", file_->path(), " uses what is not read yet:");
    for (const std::string& line : unreadable) text += "\n  " + line;
    throw UnimplementedError(text);
  }
  check_initializers(model_.graph);
  read_nodes(model_.graph.nodes);
  for (const Function& f : model_.functions) read_nodes(f.nodes);
  if (options.trainable) make_variables();
  file_->forget_pages();
}

void File::check_initializers(const Graph& graph) {
  for (const TensorMessage& t : graph.initializers) weight_bytes_ += check_tensor(t, external_);
  for (const SparseMessage& t : graph.sparse_initializers) {
    weight_bytes_ += read_sparse_value(t, external_).tensor.nbytes();
  }
}

void File::make_variables() {
  const NoHandlers now;
  for (const TensorMessage& t : model_.graph.initializers) {
    if (is_narrow(t.element) || !kFloats.contains(storage_of(t.element))) continue;
    variable_of_.emplace(&t, variables_.size());
    variables_.emplace_back(read_tensor_value(t, external_).tensor,
                            VariableOptions{.name = std::string(t.name)});
  }
}

void File::bind(std::vector<Variable> variables) {
  if (variables.size() != variables_.size()) {
    fail("the ", model_.format, " model has ", variables_.size(), " variables; ", variables.size(),
         " were given");
  }
  for (size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].dtype() != variables_[i].dtype() ||
        variables[i].shape() != variables_[i].shape()) {
      fail("the variable '", variables_[i].name(), "' must keep its dtype and shape");
    }
  }
  variables_ = std::move(variables);
}

void File::keep_tensors() {
  const std::lock_guard lock(mutex_);
  keeps_tensors_ = true;
}

void File::read_nodes(std::span<const Node> nodes) {
  last_uses_.emplace(nodes.data(), find_last_uses(nodes));
  for (const Node& node : nodes) {
    for (const Attribute& attribute : node.attributes) {
      if (!attribute.graph) continue;
      check_initializers(*attribute.graph);
      read_nodes(attribute.graph->nodes);
    }
  }
}

const Function* File::find_function(const Node& node) const {
  if (functions_.empty()) return nullptr;
  const auto found = functions_.find(key_of(node.domain, node.op, node.overload));
  return found == functions_.end() ? nullptr : found->second;
}

Value File::initializer(const TensorMessage& tensor) const {
  const auto variable = variable_of_.find(&tensor);
  if (variable != variable_of_.end()) return variables_[variable->second].value();
  return File::tensor(tensor);
}
Value File::initializer(const SparseMessage& tensor) const { return sparse(tensor); }

Value File::tensor(const TensorMessage& tensor) const {
  const NoHandlers now;
  const std::lock_guard lock(mutex_);
  if (!keeps_tensors_) return read_tensor_value(tensor, external_);
  const auto found = tensors_.find(&tensor);
  if (found != tensors_.end()) return found->second;
  return tensors_.emplace(&tensor, read_tensor_value(tensor, external_)).first->second;
}
Value File::sparse(const SparseMessage& tensor) const {
  return read_sparse_value(tensor, external_);
}

const std::vector<std::vector<std::string_view>>& File::last_uses(
    std::span<const Node> nodes) const {
  return last_uses_.at(nodes.data());
}

}  // namespace tidemark::io::onnx
