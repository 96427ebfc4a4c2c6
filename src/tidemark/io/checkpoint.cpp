#include <tidemark/checkpoint.h>
#include <tidemark/handler.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "tidemark/io/bundle_reader.h"
#include "tidemark/io/bundle_writer.h"
#include "tidemark/io/file_writer.h"
#include "tidemark/io/object_graph.h"
#include "tidemark/memory/context.h"

namespace tidemark {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kValue = "VARIABLE_VALUE", kListFile = "checkpoint";

std::vector<std::string> split(const std::string& name) {
  std::vector<std::string> out(1);
  for (const char c : name) {
    if (c == '.') {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

/// The objects that names such as "model.dense.kernel" speak of, the root first, and the key of
/// each variable.
struct Objects {
  std::vector<io::ObjectNode> nodes = std::vector<io::ObjectNode>(1);

  uint64_t child(uint64_t of, const std::string& name) {
    for (const io::ObjectNode::Child& one : nodes[of].children) {
      if (one.name == name) return one.node;
    }
    nodes[of].children.push_back({name, nodes.size()});
    nodes.emplace_back();
    return nodes.size() - 1;
  }
  std::string add(const std::string& name) {
    uint64_t node = 0;
    std::string key;
    for (const std::string& part : split(name)) {
      node = child(node, part);
      key += part + "/";
    }
    key += message(".ATTRIBUTES/", kValue);
    nodes[node].attributes.push_back({std::string(kValue), name, key});
    return key;
  }
};

/// The key of the variable of that name; null: the checkpoint has none.
const std::string* find_key(const std::vector<io::ObjectNode>& objects, const std::string& name) {
  uint64_t node = 0;
  for (const std::string& part : split(name)) {
    const auto& children = objects[node].children;
    const auto found = std::find_if(children.begin(), children.end(),
                                    [&](const auto& child) { return child.name == part; });
    if (found == children.end()) return nullptr;
    node = found->node;
  }
  for (const io::ObjectNode::Attribute& one : objects[node].attributes) {
    if (one.name == kValue) return &one.key;
  }
  return nullptr;
}

void make_folder(const fs::path& folder) {
  if (folder.empty()) return;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail<FailedPreconditionError>("cannot make ", folder.string(), ": ", error.message());
}

}  // namespace

CheckpointPart::CheckpointPart(std::string name, Variables variables)
    : name_(std::move(name)), variables_(std::move(variables)) {}
CheckpointPart::CheckpointPart(std::string name, const nn::Module& module)
    : CheckpointPart(std::move(name), [module] { return module.named_variables(); }) {}
CheckpointPart::CheckpointPart(std::string name, const Variable& variable)
    : CheckpointPart(std::move(name), [variable] {
        return std::vector<nn::NamedVariable>{{"", variable}};
      }) {}

std::vector<nn::NamedVariable> CheckpointPart::numbered(const std::vector<Variable>& all) {
  std::vector<nn::NamedVariable> out;
  // Keras's optimizers have them in a list of this name.
  for (const Variable& one : all) out.push_back({message("_variables.", out.size()), one});
  return out;
}

Checkpoint::Checkpoint(std::vector<CheckpointPart> parts) : parts_(std::move(parts)) {
  for (const CheckpointPart& one : parts_) {
    const auto has_it = [&](const CheckpointPart& other) { return other.name() == one.name(); };
    const bool twice = std::count_if(parts_.begin(), parts_.end(), has_it) > 1;
    if (twice || one.name().empty() || one.name().find_first_of("./") != std::string::npos) {
      fail("[Checkpoint] each part needs a name of its own, without dots and slashes. Received: \"",
           one.name(), "\"", twice ? " twice" : "");
    }
  }
}

std::vector<nn::NamedVariable> Checkpoint::variables() const {
  std::vector<nn::NamedVariable> out;
  for (const CheckpointPart& part : parts_) {
    for (nn::NamedVariable& one : part.variables()) {
      const std::string tail = one.name.empty() ? "" : "." + one.name;
      out.push_back({part.name() + tail, std::move(one.variable)});
    }
  }
  return out;
}

void Checkpoint::save(const std::string& prefix) const {
  const NoHandlers outside;
  make_folder(fs::path(prefix).parent_path());
  io::BundleWriter bundle(prefix);
  Objects objects;
  for (const auto& [name, variable] : variables()) {
    bundle.add(objects.add(name), variable.value().to(Device()));
  }
  const std::string graph = io::write_object_graph(objects.nodes);
  const std::string_view text = graph;
  bundle.add(std::string(io::kObjectGraphKey), Tensor::of_strings({&text, 1}, {}));
  bundle.finish();
}

void Checkpoint::restore(const std::string& prefix) const {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  const NoHandlers outside;
  const io::BundleReader bundle(prefix);
  if (!bundle.entries().contains(io::kObjectGraphKey)) {
    fail<NotFoundError>(prefix, " names no objects: it is of TensorFlow 1's Saver. Read it with ",
                        "tf.train.load_checkpoint in Python");
  }
  const std::vector<io::ObjectNode> objects =
      io::read_object_graph(bundle.read(io::kObjectGraphKey).string_at(0));
  std::vector<std::pair<Variable, std::string>> found;
  for (auto& [name, variable] : variables()) {
    const std::string* key = find_key(objects, name);
    if (!key || !bundle.entries().contains(*key)) {
      fail<NotFoundError>(prefix, " has no value for ", name,
                          "; nothing was restored. It was saved from other objects");
    }
    const io::BundleReader::Entry& entry = bundle.entries().find(*key)->second;
    if (entry.dtype != static_cast<uint64_t>(variable.dtype()) ||
        entry.shape != variable.value().shape()) {
      fail(prefix, " has a value of shape ", entry.shape, " for ", name, ", which is ",
           name_of(variable.dtype()), " of shape ", variable.shape(), "; nothing was restored");
    }
    bundle.verify(*key);
    found.emplace_back(variable, *key);
  }
  for (auto& [variable, key] : found) variable.assign(bundle.read(key));
}

namespace {

/// What `field: "value"` lines of the list say, in order; TensorFlow's text form of its
/// CheckpointState.
std::vector<std::string> values_of(const std::string& text, const std::string& field) {
  std::vector<std::string> out;
  const std::string start = field + ": \"";
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (line.starts_with(start) && line.ends_with('"') && line.size() > start.size()) {
      out.emplace_back(line.substr(start.size(), line.size() - start.size() - 1));
    }
    at = end + 1;
  }
  return out;
}

std::string placed(const std::string& folder, const std::string& path) {
  return fs::path(path).is_absolute() ? path : (fs::path(folder) / path).string();
}

std::string list_of(const std::string& folder) {
  const std::string path = (fs::path(folder) / kListFile).string();
  if (std::error_code error; !fs::exists(path, error)) return "";
  const io::InputFile file(path);
  constexpr uint64_t kMost = 1 << 20;
  return file.read(0, std::min(file.size(), kMost));
}

bool exists(const std::string& prefix) {
  std::error_code error;
  return fs::exists(prefix + ".index", error);
}

}  // namespace

std::string latest_checkpoint(const std::string& folder) {
  const std::vector<std::string> found = values_of(list_of(folder), "model_checkpoint_path");
  if (found.empty()) return "";
  const std::string prefix = placed(folder, found.back());
  return exists(prefix) ? prefix : "";
}

CheckpointManager::CheckpointManager(Checkpoint checkpoint, std::string folder,
                                     CheckpointManagerOptions options)
    : checkpoint_(std::move(checkpoint)), folder_(std::move(folder)), options_(std::move(options)) {
  if (options_.max_to_keep < 0) {
    fail("[CheckpointManager] `max_to_keep` is 0 (all) or more. Received: ", options_.max_to_keep);
  }
  for (const std::string& path : values_of(list_of(folder_), "all_model_checkpoint_paths")) {
    const std::string prefix = placed(folder_, path);
    if (!exists(prefix)) continue;
    kept_.push_back(prefix);
    const size_t dash = prefix.rfind('-');
    if (dash != std::string::npos) {
      last_number_ = std::max<int64_t>(last_number_, std::atoll(prefix.c_str() + dash + 1));
    }
  }
}

std::string CheckpointManager::save() {
  const std::string name = message(options_.name, "-", last_number_ + 1);
  const std::string prefix = (fs::path(folder_) / name).string();
  checkpoint_.save(prefix);
  ++last_number_;
  kept_.push_back(prefix);
  std::vector<std::string> old;
  const auto most = static_cast<size_t>(options_.max_to_keep);
  while (most > 0 && kept_.size() > most) {
    old.push_back(kept_.front());
    kept_.erase(kept_.begin());
  }
  write_list();  // first, so that it never names one that is gone
  for (const std::string& one : old) io::remove_bundle(one);
  return prefix;
}

bool CheckpointManager::restore_latest() const {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  if (kept_.empty()) return false;
  checkpoint_.restore(kept_.back());
  return true;
}

void CheckpointManager::write_list() const {
  const auto named = [&](const std::string& prefix) {
    const fs::path path(prefix);
    return path.parent_path() == fs::path(folder_) ? path.filename().string() : prefix;
  };
  io::FileWriter file((fs::path(folder_) / kListFile).string());
  file.write(message("model_checkpoint_path: \"", named(kept_.back()), "\"\n"));
  for (const std::string& one : kept_) {
    file.write(message("all_model_checkpoint_paths: \"", named(one), "\"\n"));
  }
  file.commit();
}

}  // namespace tidemark
