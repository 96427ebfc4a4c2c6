// Files by names that are tensors.
#include <tidemark/io.h>

#include <glob.h>

#include <filesystem>
#include <set>

#include "tidemark/io/file_writer.h"
#include "tidemark/nn/building.h"
#include "tidemark/nn/functions/when_run.h"

namespace tidemark::io {

namespace {

void write_now(const std::string& path, std::string_view contents) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) {
    fail<FailedPreconditionError>("[write_file] the folder ", folder.string(),
                                  " cannot be made: ", error.message());
  }
  FileWriter file(path);
  file.write(contents);
  file.commit();
}

Tensor matching_now(const Tensor& patterns) {
  std::set<std::string> names;
  for (int64_t i = 0; i < patterns.num_elements(); ++i) {
    glob_t found{};
    const int status = glob(std::string(patterns.string_at(i)).c_str(), 0, nullptr, &found);
    for (size_t k = 0; status == 0 && k < found.gl_pathc; ++k) names.emplace(found.gl_pathv[k]);
    globfree(&found);
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  return Tensor::of_strings(views, {static_cast<int64_t>(views.size())});
}

}  // namespace

void write_file(const Tensor& filename, const Tensor& contents) {
  TIDEMARK_HERE;
  for (const Tensor* one : {&filename, &contents}) {
    if (one->dtype() == DType::string && one->shape() == Shape{}) continue;
    fail("[write_file] filename and contents are scalar strings. Received: ", name_of(one->dtype()),
         " of shape ", one->shape());
  }
  nn::when_run(
      "write_file",
      [](const std::vector<Tensor>& given) {
        write_now(std::string(given[0].string_at(0)), given[1].string_at(0));
        return std::vector<Tensor>{};
      },
      {filename, contents}, {}, nn::Effect::must_run);
}

Tensor matching_files(const Tensor& pattern) {
  TIDEMARK_HERE;
  if (pattern.dtype() != DType::string) {
    fail("[matching_files] patterns are strings. Received: ", name_of(pattern.dtype()));
  }
  return nn::when_run(
      "matching_files",
      [](const std::vector<Tensor>& given) { return std::vector{matching_now(given[0])}; },
      {pattern}, {{DType::string, {kUnknownDim}}}, nn::Effect::must_run)[0];
}

}  // namespace tidemark::io
