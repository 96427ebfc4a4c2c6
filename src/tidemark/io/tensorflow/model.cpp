#include "tidemark/io/tensorflow/model.h"

#include <filesystem>

#include "tidemark/io/file_system.h"
#include "tidemark/io/input_file.h"
#include "tidemark/trace/builder.h"

namespace tidemark::io::tensorflow {

namespace {

namespace fs = std::filesystem;

/// What a protocol buffer may take at most.
constexpr uint64_t kLargestFile = uint64_t{1} << 31;
constexpr std::string_view kInitSignature = "__saved_model_init_op";

std::string joined(const auto& items) {
  std::string out;
  for (const auto& item : items) out += (out.empty() ? "" : ", ") + message("'", item, "'");
  return out;
}

std::string read_file(const std::string& folder) {
  const std::string path = (fs::path(folder) / kModelFile).string();
  const InputFile file(path);
  if (file.size() > kLargestFile) fail_damaged(path, "it is larger than any message");
  return file.read(0, file.size());
}

}  // namespace

uint64_t stored_bytes(const std::string& folder) {
  std::error_code error;
  uint64_t out = fs::file_size(fs::path(folder) / kModelFile, error);
  if (error) out = 0;
  const fs::path variables = fs::path(folder) / "variables";
  for (const std::string& name : names_in(variables.string(), error)) {
    if (name.find(".data-") == std::string::npos) continue;
    const uint64_t size = fs::file_size(variables / name, error);
    if (!error) out += size;
  }
  return out;
}

Model::Model(const std::string& folder, const std::vector<std::string>& tags)
    : folder_(folder), bytes_(read_file(folder)) {
  choose(tags);
  for (SignatureMessage& signature : meta_graph_.signatures) {
    if (!signature.name.starts_with("__saved_model_")) signatures_.push_back(signature);
    if (signature.name == kInitSignature) {
      for (const TensorInfoMessage& output : signature.outputs) {
        starts_.push_back(output.tensor.substr(0, output.tensor.find(':')));
      }
    }
  }
  for (std::string_view name : {"saved_model_main_op", "legacy_init_op"}) {
    if (!starts_.empty()) break;
    const auto found = meta_graph_.collections.find(name);
    if (found != meta_graph_.collections.end()) starts_ = found->second;
  }
  if (meta_graph_.has_objects) objects_ = read_objects(meta_graph_.objects);
  importer_ = std::make_unique<Importer>(read_graph_message(meta_graph_.graph), meta_graph_.ops);
  importer_->folder = folder;
  const std::string prefix = (fs::path(folder) / "variables" / "variables").string();
  std::error_code error;
  if (fs::exists(prefix + ".index", error)) {
    importer_->bundle = std::make_shared<BundleReader>(prefix);
  }
  if (error) fail_unreadable(prefix + ".index", error);
}

void Model::choose(const std::vector<std::string>& tags) {
  const std::vector<std::string_view> all = read_meta_graphs(bytes_);
  if (all.empty()) fail_malformed("it has no meta graph");
  std::string found;
  const std::set<std::string_view> wanted(tags.begin(), tags.end());
  for (std::string_view bytes : all) {
    MetaGraphMessage one = read_meta_graph(bytes);
    const std::set<std::string_view> own(one.tags.begin(), one.tags.end());
    const bool fits = tags.empty() ? own.contains("serve") || all.size() == 1 : own == wanted;
    if (fits) {
      meta_graph_ = std::move(one);
      return;
    }
    found += (found.empty() ? "" : "; ") + joined(own);
  }
  fail<NotFoundError>("no meta graph of ", folder_, " has the tags ",
                      tags.empty() ? "'serve'" : joined(tags), "; there are: ", found);
}

void Model::check_signatures() const {
  std::vector<std::string_view> nodes;
  for (const SignatureMessage& signature : signatures_) {
    for (const TensorInfoMessage& output : signature.outputs) {
      if (!output.tensor.empty()) nodes.push_back(output.tensor);
    }
  }
  importer_->check_supported(nodes, {});
}

std::vector<std::pair<std::string_view, Value>> Model::fed_assets() const {
  std::vector<std::pair<std::string_view, Value>> out;
  for (size_t i = 0; i < meta_graph_.assets.size(); ++i) {
    if (meta_graph_.assets[i].tensor.empty()) continue;
    out.emplace_back(meta_graph_.assets[i].tensor, Value(asset_path(i)));
  }
  return out;
}

Tensor Model::asset_path(size_t index) const {
  if (index >= meta_graph_.assets.size()) fail_malformed("an asset is missing");
  const std::string path =
      (fs::path(folder_) / "assets" / std::string(meta_graph_.assets[index].file)).string();
  const std::string_view one[] = {path};
  return Tensor::of_strings(one, Shape{});
}

Model::Function Model::read_signature(const SignatureMessage& signature) {
  const NoHandlers outside;
  trace::GraphBuilder builder{std::string(signature.name)};
  std::vector<std::pair<std::string_view, Value>> feeds = fed_assets();
  std::vector<std::string_view> fetches;
  const auto check = [&](const TensorInfoMessage& info) {
    if (!info.tensor.empty() && info.tensor.find(':') != std::string_view::npos) return;
    fail<UnimplementedError>("signature '", signature.name, "': '", info.name,
                             "' is a sparse or composite tensor, which is not read");
  };
  for (const TensorInfoMessage& info : signature.inputs) {
    check(info);
    const Shape shape = info.has_shape ? read_shape(info.shape) : Shape::unknown();
    feeds.emplace_back(info.tensor, builder.add_input(read_dtype(info.dtype), shape));
  }
  for (const TensorInfoMessage& info : signature.outputs) {
    check(info);
    fetches.push_back(info.tensor);
  }
  std::vector<Tensor> outputs;
  {
    const trace::TraceScope scope(builder);
    for (Value& value : importer_->run_graph(fetches, feeds)) {
      if (value.kind == Value::Kind::variable) value = Value(value.variable.value());
      if (value.kind != Value::Kind::tensor) fail_malformed("a signature gives no tensor");
      outputs.push_back(value.tensor);
    }
  }
  return {builder.finish(outputs), builder.variables()};
}

void Model::restore() {
  const NoHandlers outside;
  std::vector<std::pair<std::string_view, Value>> feeds = fed_assets();
  if (importer_->bundle && !meta_graph_.restore_op.empty()) {
    if (!meta_graph_.filename_tensor.empty()) {
      const std::string_view prefix[] = {importer_->bundle->prefix()};
      feeds.emplace_back(meta_graph_.filename_tensor, Value(Tensor::of_strings(prefix, Shape{})));
    }
    const std::string_view op = meta_graph_.restore_op;
    importer_->run_graph({op.substr(0, op.find(':'))}, feeds);
  }
  if (!starts_.empty()) importer_->run_graph(starts_, fed_assets());
}

std::vector<Variable> Model::variables() const {
  std::vector<Variable> out;
  for (const auto& [name, value] : importer_->resources()) {
    if (value.kind == Value::Kind::variable) out.push_back(value.variable);
  }
  return out;
}

std::vector<std::shared_ptr<HashTable>> Model::tables() const {
  std::vector<std::shared_ptr<HashTable>> out;
  for (const auto& [name, value] : importer_->resources()) {
    if (value.kind == Value::Kind::table) out.push_back(value.table);
  }
  return out;
}

// --- the object graph's functions ----------------------------------------------------------------

Values Model::bound_of(const std::string& name, const std::map<int, Value>& bound) const {
  const auto found = objects_.functions.find(name);
  if (found == objects_.functions.end()) fail_malformed("a function of the objects is missing");
  Values out;
  for (int number : found->second.bound) {
    const auto value = bound.find(number);
    if (value == bound.end()) {
      fail<UnimplementedError>("the function '", name, "' of the saved model captures object ",
                               number, ", which is no variable, table, asset or constant");
    }
    out.push_back(value->second);
  }
  return out;
}

Model::Function Model::read_function(const std::string& name, const std::map<int, Value>& bound) {
  const NoHandlers outside;
  const Values captured = bound_of(name, bound);
  const FunctionMessage& message = importer_->function(name);
  if (message.signature.inputs.size() < captured.size()) fail_malformed("a function's arguments");
  const size_t own = message.signature.inputs.size() - captured.size();
  const std::vector<SpecMessage>& specs = objects_.functions.at(name).inputs;
  if (specs.size() != own) {
    fail<UnimplementedError>("the function '", name,
                             "' of the saved model takes composite tensors");
  }
  importer_->check_supported({}, {message.signature.name});
  trace::GraphBuilder builder(name);
  Values arguments;
  for (size_t i = 0; i < own; ++i) {
    arguments.emplace_back(builder.add_input(read_dtype(specs[i].dtype), specs[i].shape));
  }
  arguments.insert(arguments.end(), captured.begin(), captured.end());
  std::vector<Tensor> outputs;
  {
    const trace::TraceScope scope(builder);
    for (Value& value : importer_->call_function(message.signature.name, arguments)) {
      if (value.kind == Value::Kind::variable) value = Value(value.variable.value());
      if (value.kind != Value::Kind::tensor) fail_malformed("a function gives no tensor");
      outputs.push_back(value.tensor);
    }
  }
  return {builder.finish(outputs), builder.variables()};
}

Values Model::run_function(const std::string& name, const std::map<int, Value>& bound) {
  const NoHandlers outside;
  const FunctionMessage& message = importer_->function(name);
  importer_->check_supported({}, {message.signature.name});
  return importer_->call_function(message.signature.name, bound_of(name, bound));
}

Tensor Model::read_constant(std::string_view node) {
  const NodeMessage* found = importer_->node(node);
  if (!found || found->op != "Const") fail_malformed("a constant of the objects is missing");
  const std::string_view* value = found->find("value");
  const AttrValue tensor = value ? read_attr_value(*value) : AttrValue();
  if (tensor.kind != AttrValue::Kind::tensor) fail_malformed("a constant without a value");
  return importer_->constant(*found, tensor.texts[0]);
}

}  // namespace tidemark::io::tensorflow
