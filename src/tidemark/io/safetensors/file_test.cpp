#include "tidemark/io/safetensors/file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tidemark/io/input_file.h"

namespace tidemark::io::safetensors {

namespace {

std::string file_of(std::string_view header, std::string_view data) {
  const uint64_t length = header.size();
  std::string out(reinterpret_cast<const char*>(&length), sizeof(length));
  return out.append(header).append(data);
}

std::string bytes_of(const Tensors& tensors, const Metadata& metadata = {}) {
  std::string out;
  write(tensors, metadata, [&](std::string_view piece) { out += piece; });
  return out;
}

/// What reading says is wrong; empty: nothing.
std::string complaint(const std::string& bytes) {
  try {
    const File file{std::string_view(bytes)};
    return {};
  } catch (const DataLossError& error) {
    return error.what();
  }
}

TEST(SafeTensors, WritesWideTypesFirstAndPadsTheHeader) {
  const std::string bytes =
      bytes_of({{"b", Tensor::of({true})}, {"a", Tensor(1.f)}, {"c", Tensor(int64_t{2})}});
  const std::string header = R"({"c":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
                             R"("a":{"dtype":"F32","shape":[],"data_offsets":[8,12]},)"
                             R"("b":{"dtype":"BOOL","shape":[1],"data_offsets":[12,13]}})";
  EXPECT_EQ(bytes.substr(8, header.size()), header);
  EXPECT_EQ((bytes.size() - 13) % 8, 0u);
}

TEST(SafeTensors, TensorsLieInTheMappedFile) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "tidemark_test.safetensors").string();
  write_file(path, {{"w", Tensor::of({1.f, 2.f})}, {"u", Tensor::of({true, false})}}, {{"k", "v"}});
  const auto file = std::make_unique<const File>(path);
  const Tensor w = file->read("w"), again = file->read("w");
  EXPECT_EQ(w.raw_data(), again.raw_data());
  EXPECT_NE(file->read("u").raw_data(), file->read("u").raw_data());
  EXPECT_EQ(file->metadata().at("k"), "v");
  EXPECT_THROW((void)file->read("nobody"), NotFoundError);
  std::filesystem::remove(path);
  EXPECT_EQ(w.to_string(), Tensor::of({1.f, 2.f}).to_string());
}

TEST(SafeTensors, RefusesWhatTheFormatForbids) {
  const auto entry = [](std::string_view name, std::string_view rest) {
    return message("\"", name, "\":{\"dtype\":\"U8\",", rest, "}");
  };
  const std::string two = entry("a", R"("shape":[2],"data_offsets":[0,2])");
  EXPECT_EQ(complaint(file_of("{" + two + "}", "xy")), "");
  const std::pair<std::string, std::string_view> bad[] = {
      {"", "shorter"},
      {file_of("{", ""), "where one belongs"},
      {std::string(8, '\xff'), "header has"},
      {file_of(" {}", ""), "begin with"},
      {file_of("{}x", ""), "behind its end"},
      {file_of("{" + two + "," + two + "}", "xy"), "twice"},
      {file_of("{" + two + "}", "x"), "bytes of data"},
      {file_of("{" + two + "}", "xyz"), "bytes of data"},
      {file_of("{" + two + "," + entry("b", R"("shape":[2],"data_offsets":[1,3])") + "}", "xyz"),
       "begin at"},
      {file_of("{" + entry("a", R"("shape":[2],"data_offsets":[1,3])") + "}", "xyz"), "begin at"},
      {file_of("{" + entry("a", R"("shape":[3],"data_offsets":[0,2])") + "}", "xy"),
       "not those of"},
      {file_of("{" + entry("a", R"("shape":[2],"data_offsets":[2,0])") + "}", "xy"),
       "not those of"},
      {file_of("{" + entry("a", R"("shape":[4294967296,4294967296],"data_offsets":[0,0])") + "}",
               ""),
       "impossible"},
      {file_of("{" + entry("a", R"("shape":[-1],"data_offsets":[0,2])") + "}", "xy"),
       "whole number"},
      {file_of("{" + entry("a", R"("shape":[2],"data_offsets":[0,2,2])") + "}", "xy"), "more than"},
      {file_of("{" + entry("a", R"("shape":[2])") + "}", "xy"), "lacks"},
      {file_of("{" + entry("a", R"("shape":[2],"shape":[2],"data_offsets":[0,2])") + "}", "xy"),
       "each once"},
      {file_of(R"({"a":{"dtype":"U7","shape":[],"data_offsets":[0,0]}})", ""), "unknown dtype"},
      {file_of(R"({"__metadata__":{"a":1}})", ""), "where one belongs"},
      {file_of(R"({"__metadata__":{"a":"1","a":"2"}})", ""), "twice"},
      {file_of("{\"\xff\":{}}", ""), "UTF-8"},
      {file_of(R"({"\ud800":{}})", ""), "surrogates"},
  };
  for (const auto& [bytes, word] : bad) {
    EXPECT_NE(complaint(bytes).find(word), std::string::npos) << word << ": " << complaint(bytes);
  }
}

TEST(SafeTensors, NamesAllThatHaveNoForm) {
  const std::string_view text = "t";
  const Tensor strings = Tensor::of_strings({&text, 1}, {});
  try {
    (void)bytes_of({{"one", strings}, {"two", strings}});
    FAIL();
  } catch (const UnimplementedError& error) {
    EXPECT_NE(std::string(error.what()).find("'one' of string\n  'two'"), std::string::npos);
  }
  const std::string narrow =
      file_of(R"({"a":{"dtype":"F4","shape":[4],"data_offsets":[0,2]}})", "xy");
  const File file{std::string_view(narrow)};
  EXPECT_THROW(file.check_all_readable(), UnimplementedError);
  EXPECT_THROW((void)file.read("a"), UnimplementedError);
}

}  // namespace

}  // namespace tidemark::io::safetensors
