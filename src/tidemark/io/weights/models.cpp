// What models hold, as weights by name.
#include <algorithm>

#include "tidemark/io/mapped_file.h"
#include "tidemark/io/model_reader.h"
#include "tidemark/io/onnx/file.h"
#include "tidemark/io/weights/weights_file.h"

namespace tidemark::io::weights {

namespace {

class GraphWeights final : public WeightsFile {
 public:
  explicit GraphWeights(const std::string& path)
      : file_(MappedFile::open(path), {}), format_(file_.model().format) {
    for (const onnx::TensorMessage& one : file_.model().graph.initializers) {
      Entry made{std::string(onnx::name_of(one.element)), onnx::storage_of(one.element),
                 Shape(std::span<const int64_t>(one.dims)), 0};
      if (made.dtype == DType::string) made.dtype = DType::invalid;
      if (made.dtype != DType::invalid) {
        made.bytes = static_cast<uint64_t>(made.shape.num_elements()) * size_of(made.dtype);
      }
      entries_.emplace(one.name, std::move(made));
      messages_.emplace(one.name, &one);
    }
  }
  std::string_view format() const override { return format_; }
  const Entries& entries() const override { return entries_; }
  Tensor read(std::string_view name) const override {
    (void)entry(name, "the model");
    return file_.tensor(*messages_.find(name)->second).tensor;
  }

 private:
  onnx::File file_;
  std::string format_;
  Entries entries_;
  std::map<std::string, const onnx::TensorMessage*, std::less<>> messages_;
};

class SavedVariables final : public WeightsFile {
 public:
  explicit SavedVariables(const std::string& folder) : reader_(folder) {
    for (size_t i = 0; i < reader_.variables().size(); ++i) {
      const Variable declared = reader_.declare_variable(i);
      std::string name = reader_.variables()[i].name;
      if (entries_.contains(name)) name = message(name, " (", i, ")");
      numbers_.emplace(name, i);
      entries_.emplace(std::move(name),
                       Entry{std::string(name_of(declared.dtype())), declared.dtype(),
                             declared.operand().shape(), declared.operand().nbytes()});
    }
  }
  std::string_view format() const override { return "Tidemark"; }
  const Entries& entries() const override { return entries_; }
  Tensor read(std::string_view name) const override {
    (void)entry(name, "the saved model");
    return reader_.read_variable(numbers_.find(name)->second).value();
  }

 private:
  ModelReader reader_;
  Entries entries_;
  std::map<std::string, size_t, std::less<>> numbers_;
};

}  // namespace

std::unique_ptr<WeightsFile> open_graph(const std::string& path) {
  return std::make_unique<GraphWeights>(path);
}
std::unique_ptr<WeightsFile> open_saved(const std::string& folder) {
  return std::make_unique<SavedVariables>(folder);
}

}  // namespace tidemark::io::weights
