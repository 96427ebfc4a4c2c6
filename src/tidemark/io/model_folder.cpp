#include "tidemark/io/model_folder.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "tidemark/io/input_file.h"
#include "tidemark/io/model_format.h"
#include "tidemark/io/onnx/served.h"
#include "tidemark/io/tensor_file.h"
#include "tidemark/io/tensorflow/model.h"

namespace tidemark::io {

namespace fs = std::filesystem;

ModelFolder find_model(const std::string& folder) {
  std::error_code error;
  if (fs::is_regular_file(folder, error)) return {ModelFormat::graph, folder};
  const std::vector<std::string> names = names_in(folder, error);
  const bool is_there =
      error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory;
  if (error && is_there) fail_unreadable(folder, error);
  const fs::path place = folder;
  const auto holds = [&](std::string_view name) { return std::ranges::count(names, name) != 0; };
  if (!holds(kModelFileName)) {
    if (holds(tensorflow::kModelFile)) {
      return {ModelFormat::tensorflow, (place / tensorflow::kModelFile).string()};
    }
    const std::string graph = onnx::model_among(names);
    if (!graph.empty()) return {ModelFormat::graph, (place / graph).string()};
  }
  return {ModelFormat::own, (place / kModelFileName).string()};
}

std::set<std::string> files_of_models() {
  return {std::string(kModelFileName),
          std::string(tensorflow::kModelFile),
          "saved_model.pbtxt",
          "fingerprint.pb",
          "variables",
          "assets"};
}

size_t weight_bytes_in(const std::string& folder) {
  const ModelFolder found = find_model(folder);
  switch (found.format) {
    case ModelFormat::tensorflow:
      return tensorflow::stored_bytes(folder);
    case ModelFormat::graph:
      return InputFile(found.file).size();
    case ModelFormat::own:
      break;
  }
  const TensorFile file(found.file);
  size_t bytes = 0;
  for (const auto& [key, entry] : file.entries()) bytes += entry.bytes;
  return bytes;
}

}  // namespace tidemark::io
