// Pictures in folders, one for each class.
#include <tidemark/data.h>
#include <tidemark/error.h>
#include <tidemark/handler.h>
#include <tidemark/ops.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "tidemark/data/dataset.h"
#include "tidemark/memory/context.h"

namespace tidemark::data {

namespace {

namespace files = std::filesystem;

std::vector<files::path> sorted_entries(const files::path& folder,
                                        bool (*wanted)(const files::path&)) {
  std::error_code failed;
  std::vector<files::path> out;
  for (const auto& entry : files::directory_iterator(folder, failed)) {
    if (wanted(entry.path())) out.push_back(entry.path());
  }
  if (failed) {
    fail<NotFoundError>("[from_image_folder] \"", folder.string(), "\": ", failed.message());
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool is_class(const files::path& path) {
  return files::is_directory(path) && path.filename().string().front() != '.';
}

bool is_picture(const files::path& path) {
  constexpr std::array<std::string_view, 5> kEndings = {".bmp", ".gif", ".jpeg", ".jpg", ".png"};
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end() &&
         files::is_regular_file(path);
}

void check(const ImageFolderOptions& options) {
  if (options.size.size() != 2 || options.size[0] < 1 || options.size[1] < 1) {
    fail<InvalidArgumentError>(
        "[from_image_folder] `size` is a height and a width, both positive. Received: ",
        Shape(options.size));
  }
  const int64_t channels = options.channels;
  if (channels != 1 && channels != 3 && channels != 4) {
    fail<InvalidArgumentError>("[from_image_folder] `channels` is 1, 3 or 4. Received: ", channels);
  }
  if (options.parallel < 1) {
    fail<InvalidArgumentError>("[from_image_folder] `parallel` must be positive. Received: ",
                               options.parallel);
  }
}

/// (name of a file, class) to (pixels, class).
Function reading(const ImageFolderOptions& options) {
  return [options](Element&& element) {
    const NoHandlers now;
    const Tensor pixels =
        decode_image_file(read_file(element.at(0)), {.channels = options.channels});
    const Tensor batch = expand_dims(cast(pixels, DType::float32), 0);
    const Tensor size = Tensor::of(std::span<const int64_t>(options.size), {2});
    const Tensor sized = resize_images(batch, size, {.method = options.method});
    return Element{squeeze(sized, Ints{0}), element.at(1)};
  };
}

}  // namespace

std::vector<std::string> image_classes(const std::string& folder) {
  std::vector<std::string> out;
  for (const files::path& path : sorted_entries(folder, is_class)) {
    out.push_back(path.filename().string());
  }
  return out;
}

Pipeline from_image_folder(const std::string& folder, const ImageFolderOptions& options) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  check(options);
  std::vector<std::string> names;
  std::vector<int32_t> classes;
  int32_t next = 0;
  for (const files::path& of_class : sorted_entries(folder, is_class)) {
    for (const files::path& path : sorted_entries(of_class, is_picture)) {
      names.push_back(path.string());
      classes.push_back(next);
    }
    ++next;
  }
  if (names.empty()) {
    fail<NotFoundError>("[from_image_folder] \"", folder,
                        "\" has no folders with pictures in them (.png, .jpg, .jpeg, .bmp, .gif)");
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  const Shape count{static_cast<int64_t>(names.size())};
  const DatasetRef rows = slices(
      {Tensor::of_strings(views, count), Tensor::of(std::span<const int32_t>(classes), count)});
  return Pipeline(map(rows, on_host(reading(options)), options.parallel));
}

}  // namespace tidemark::data
