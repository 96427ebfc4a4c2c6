#include "tidemark/io/weights/weights_file.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "tidemark/io/bundle_format.h"
#include "tidemark/io/bundle_reader.h"
#include "tidemark/io/input_file.h"
#include "tidemark/io/keras/weights.h"
#include "tidemark/io/mapped_file.h"
#include "tidemark/io/object_graph.h"
#include "tidemark/io/safetensors/file.h"
#include "tidemark/io/tflite/contents.h"
#include "tidemark/io/zip_archive.h"

namespace tidemark::io::weights {

const Entry& WeightsFile::entry(std::string_view name, const std::string& path) const {
  const auto found = entries().find(name);
  if (found == entries().end()) fail<NotFoundError>("there is no '", name, "' in ", path);
  if (found->second.dtype == DType::invalid) {
    fail<UnimplementedError>("'", name, "' has elements of ", found->second.type,
                             ", which nothing here holds");
  }
  return found->second;
}

namespace {

Entry entry_of(DType dtype, const Shape& shape, uint64_t bytes) {
  return {std::string(name_of(dtype)), dtype, shape, bytes};
}

class SafetensorsFile final : public WeightsFile {
 public:
  explicit SafetensorsFile(const std::string& path) : file_(path) {
    for (const auto& [name, one] : file_.entries()) {
      entries_.emplace(name, Entry{std::string(one.type->name), one.type->dtype, one.shape,
                                   one.end - one.begin});
    }
  }
  std::string_view format() const override { return "safetensors"; }
  const Entries& entries() const override { return entries_; }
  Tensor read(std::string_view name) const override { return file_.read(name); }

 private:
  safetensors::File file_;
  Entries entries_;
};

class KerasFile final : public WeightsFile {
 public:
  explicit KerasFile(const std::string& path) : file_(keras::open_weights(path)) {
    for (const auto& [name, one] : file_.arrays()) {
      entries_.emplace(name, entry_of(one.dtype, one.shape, one.bytes));
    }
  }
  std::string_view format() const override { return "hdf5"; }
  const Entries& entries() const override { return entries_; }
  Tensor read(std::string_view name) const override { return file_.read(name); }

 private:
  keras::Hdf5File file_;
  Entries entries_;
};

/// Names of variables where a SavedModel's keys are numbers: key → name.
std::map<std::string, std::string> names_of_variables(const BundleReader& file) {
  std::map<std::string, std::string> out;
  std::set<std::string> taken;
  const std::string graph(file.read(kObjectGraphKey).string_at(0));
  for (const ObjectNode& node : read_object_graph(graph)) {
    for (const ObjectNode::Attribute& one : node.attributes) {
      if (one.full_name.empty() || file.entries().contains(one.full_name)) continue;
      if (taken.insert(one.full_name).second) out.emplace(one.key, one.full_name);
    }
  }
  return out;
}

class Checkpoint final : public WeightsFile {
 public:
  /// `is_named`: by the names of variables, where it has them.
  explicit Checkpoint(std::string prefix, bool is_named = false) : file_(std::move(prefix)) {
    const bool has_objects = file_.entries().contains(kObjectGraphKey);
    std::map<std::string, std::string> names;
    if (is_named && has_objects) names = names_of_variables(file_);
    for (const auto& [key, one] : file_.entries()) {
      if (key == kObjectGraphKey) continue;  // it says what the others are
      const bool is_known = bundle::is_known_dtype(one.dtype);
      const DType dtype = is_known ? static_cast<DType>(one.dtype) : DType::invalid;
      std::string type = dtype == DType::invalid ? message("TensorFlow's type ", one.dtype)
                                                 : std::string(name_of(dtype));
      const auto known = names.find(key);
      const std::string& name = known == names.end() ? key : known->second;
      entries_.emplace(name, Entry{std::move(type), dtype, one.shape, one.bytes});
      keys_.emplace(name, key);
    }
  }
  std::string_view format() const override { return "checkpoint"; }
  const Entries& entries() const override { return entries_; }
  Tensor read(std::string_view name) const override {
    (void)entry(name, file_.prefix());
    return file_.read(keys_.find(name)->second);
  }

 private:
  BundleReader file_;
  Entries entries_;
  std::map<std::string, std::string, std::less<>> keys_;  // by name
};

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

bool has_member(const std::string& path, std::string_view end) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const ZipArchive archive(file->bytes(), path);
  return std::ranges::any_of(archive.members(),
                             [&](const ZipMember& one) { return one.name.ends_with(end); });
}

}  // namespace

std::unique_ptr<WeightsFile> open_weights(const std::string& path) {
  constexpr std::string_view kIndex = ".index";
  if (path.ends_with(kIndex)) {
    return std::make_unique<Checkpoint>(path.substr(0, path.size() - kIndex.size()));
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    const std::string prefix = path + "/variables/variables";
    if (exists(prefix + std::string(kIndex))) return std::make_unique<Checkpoint>(prefix, true);
    return open_saved(path);
  }
  if (!exists(path) && exists(path + std::string(kIndex)))
    return std::make_unique<Checkpoint>(path);
  const InputFile file(path);
  const std::string head = file.read(0, std::min<uint64_t>(file.size(), 16));
  if (head.starts_with("PK")) {
    if (has_member(path, "model.weights.h5")) return std::make_unique<KerasFile>(path);
    if (has_member(path, "data.pkl")) return open_torch(path);
    if (has_member(path, ".npy")) return open_numpy(path);
    fail(path, " is an archive, but none of weights: neither Keras's, PyTorch's nor NumPy's");
  }
  if (head.starts_with("\x93NUMPY")) return open_numpy(path);
  if (head.starts_with("\x89HDF")) return std::make_unique<KerasFile>(path);
  if (head.starts_with("\x80")) return open_torch(path);
  if (path.ends_with(".onnx") || tflite::is_tflite(head)) return open_graph(path);
  // Eight bytes of a length, then the header's first character.
  if (head.size() > 8 && head[8] == '{') return std::make_unique<SafetensorsFile>(path);
  fail(path, " holds no weights in a format that is read: safetensors, npz, pt, h5, keras and ",
       "checkpoints are");
}

}  // namespace tidemark::io::weights
