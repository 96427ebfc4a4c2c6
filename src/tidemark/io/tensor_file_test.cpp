#include "tidemark/io/tensor_file.h"

#include <gtest/gtest.h>
#include <tidemark/create.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace tidemark::io {
namespace {

class TensorFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("tensor_files_" + std::to_string(::getpid()) + "_" + std::to_string(++count_));
    std::filesystem::create_directories(folder_);
    path_ = (folder_ / "all.tidemark").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
  }

  static inline int count_ = 0;
  std::filesystem::path folder_;
  std::string path_;
};

TEST_F(TensorFiles, GivesBackEveryDtypeAndShape) {
  const std::string_view texts[] = {"", "one", std::string_view("a\0b", 3)};
  const NamedTensor all[] = {
      {"numbers", Tensor::of({1.5f, -2.f, 3.f, 4.f, 5.f, 6.f}, {3, 2})},
      {"scalar", Tensor(int64_t{-7})},
      {"empty", zeros({0, 5}, DType::float64)},
      {"flags", Tensor::of({true, false, true})},
      {"texts", Tensor::of_strings(texts, {3})},
  };
  write_tensor_file(path_, "test", "what it is", all);
  const TensorFile file(path_);
  EXPECT_EQ(file.kind(), "test");
  EXPECT_EQ(file.metadata(), "what it is");
  EXPECT_EQ(file.entries().size(), std::size(all));
  for (const NamedTensor& one : all) {
    const Tensor read = file.read(one.name);
    EXPECT_EQ(read.dtype(), one.value.dtype());
    EXPECT_EQ(read.shape(), one.value.shape());
    EXPECT_EQ(read.to_string(), one.value.to_string());
  }
  EXPECT_EQ(file.read("texts").string_at(2).size(), 3u);
  EXPECT_THROW(file.read("other"), NotFoundError);
}

TEST_F(TensorFiles, SaysWhatIsMissingOrCutShort) {
  EXPECT_THROW(TensorFile("/nowhere/at.all"), NotFoundError);
  EXPECT_THROW(TensorFile(folder_.string()), InvalidArgumentError);
  const NamedTensor all[] = {{"x", zeros({100})}};
  write_tensor_file(path_, "test", "", all);
  const std::string whole = bytes();
  for (size_t end = 0; end < whole.size(); end += 7) {
    put(whole.substr(0, end));
    EXPECT_THROW(TensorFile{path_}, DataLossError) << end;
  }
  put(whole + "more");
  EXPECT_THROW(TensorFile{path_}, DataLossError);
}

TEST_F(TensorFiles, NoticesAChangedElement) {
  const NamedTensor all[] = {{"x", zeros({100})}};
  write_tensor_file(path_, "test", "", all);
  std::string changed = bytes();
  changed[changed.size() - 60] ^= 1;
  put(changed);
  const TensorFile file(path_);
  EXPECT_THROW(file.read("x"), DataLossError);
}

TEST_F(TensorFiles, AFailedWriteLeavesTheOldFileAlone) {
  const NamedTensor all[] = {{"x", zeros({3})}};
  write_tensor_file(path_, "test", "", all);
  EXPECT_THROW(write_tensor_file((folder_ / "none" / "x").string(), "test", "", all),
               NotFoundError);
  int files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_)) ++files;
  EXPECT_EQ(files, 1);
  EXPECT_EQ(TensorFile(path_).read("x").num_elements(), 3);
}

}  // namespace
}  // namespace tidemark::io
