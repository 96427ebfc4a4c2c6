#include <gtest/gtest.h>
#include <tidemark/create.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tidemark/base/interrupt.h"
#include "tidemark/io/bundle_format.h"
#include "tidemark/io/bundle_reader.h"
#include "tidemark/io/bundle_writer.h"

namespace tidemark::io {
namespace {

class Bundles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("bundles_" + std::to_string(::getpid()) + "_" + std::to_string(++count_));
    std::filesystem::create_directories(folder_);
    prefix_ = (folder_ / "model-1").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write_floats(float value) const {
    BundleWriter writer(prefix_);
    writer.add("w", Tensor::of({value, value + 1}));
    writer.finish();
  }
  static std::string bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void put(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
  }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      out.push_back(entry.path().filename().string());
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  static inline int count_ = 0;
  std::filesystem::path folder_;
  std::string prefix_;
};

TEST_F(Bundles, GiveBackEveryDtypeAndShape) {
  const std::string_view texts[] = {"", "one", std::string_view("a\0b", 3)};
  const std::pair<std::string, Tensor> all[] = {
      {"numbers", Tensor::of({1.5f, -2.f, 3.f, 4.f, 5.f, 6.f}, {3, 2})},
      {"scalar", Tensor(int64_t{-7})},
      {"empty", zeros({0, 5}, DType::float64)},
      {"flags", Tensor::of({true, false, true})},
      {"large", ones({3, 1 << 20})},  // more than one piece
      {"no texts", Tensor::of_strings({}, {0})},
      {"texts", Tensor::of_strings(texts, {3})},
  };
  BundleWriter writer(prefix_);
  for (const auto& [name, value] : all) writer.add(name, value);
  EXPECT_THROW(writer.add("texts", all[0].second), InvalidArgumentError);
  EXPECT_THROW(writer.add("", all[0].second), InvalidArgumentError);
  writer.finish();
  const BundleReader reader(prefix_);
  EXPECT_EQ(reader.entries().size(), std::size(all));
  for (const auto& [name, value] : all) {
    reader.verify(name);
    const Tensor read = reader.read(name);
    EXPECT_EQ(read.dtype(), value.dtype());
    EXPECT_EQ(read.shape(), value.shape());
    EXPECT_EQ(read.to_string(), value.to_string());
  }
  EXPECT_THROW(reader.read("other"), NotFoundError);
}

TEST_F(Bundles, HoldMoreEntriesThanABlock) {
  constexpr int kMany = 20000;
  BundleWriter writer(prefix_);
  for (int i = 0; i < kMany; ++i) writer.add("layer/" + std::to_string(i) + "/kernel", Tensor(i));
  writer.finish();
  const BundleReader reader(prefix_);
  EXPECT_EQ(reader.entries().size(), size_t{kMany});
  for (int i = 0; i < kMany; i += 997) {
    EXPECT_EQ(reader.read("layer/" + std::to_string(i) + "/kernel").item<int32_t>(), i);
  }
}

TEST_F(Bundles, TakeTheirOwnPlaceInOneStep) {
  write_floats(1.f);
  EXPECT_EQ(names(), (std::vector<std::string>{"model-1.data-00000-of-00001", "model-1.index"}));
  const std::string first = bytes(bundle::shard_path(prefix_, 0, 1));
  {
    BundleWriter unfinished(prefix_);
    unfinished.add("w", Tensor::of({5.f, 6.f}));
  }
  EXPECT_EQ(bytes(bundle::shard_path(prefix_, 0, 1)), first);
  EXPECT_EQ(BundleReader(prefix_).read("w").to_string(), "[1. 2.]");
  // What a writer leaves that was killed before it could replace the index.
  put(bundle::shard_path(prefix_, 0, 2), "rubbish");
  write_floats(3.f);
  EXPECT_EQ(BundleReader(prefix_).read("w").to_string(), "[3. 4.]");
  EXPECT_EQ(names(), (std::vector<std::string>{"model-1.data-00000-of-00003", "model-1.index"}));
  remove_bundle(prefix_);
  EXPECT_TRUE(names().empty());
}

TEST_F(Bundles, LeaveOthersAlone) {
  write_floats(1.f);
  for (const char* name : {"model-1.data", "model-1.data-00000-of-x", "model-10.index",
                           "model-1.data-00000-of-00001.copy"}) {
    put((folder_ / name).string(), "mine");
  }
  write_floats(2.f);
  EXPECT_EQ(names().size(), 6u);
}

TEST_F(Bundles, SayWhatIsMissingOrCutShort) {
  EXPECT_THROW(BundleReader("/nowhere/at.all"), NotFoundError);
  write_floats(1.f);
  const std::string index = bytes(prefix_ + ".index");
  for (size_t end = 0; end < index.size(); ++end) {
    put(prefix_ + ".index", index.substr(0, end));
    EXPECT_THROW(BundleReader{prefix_}, DataLossError) << end;
  }
  put(prefix_ + ".index", index);
  const std::string data = bytes(bundle::shard_path(prefix_, 0, 1));
  put(bundle::shard_path(prefix_, 0, 1), data.substr(1));
  EXPECT_THROW(BundleReader(prefix_).read("w"), DataLossError);
  std::filesystem::remove(bundle::shard_path(prefix_, 0, 1));
  EXPECT_THROW(BundleReader(prefix_).read("w"), NotFoundError);
}

TEST_F(Bundles, NoticeEveryChangedByte) {
  write_floats(1.f);
  const std::string index = bytes(prefix_ + ".index");
  // What fills the footer up to its length is nobody's.
  for (size_t at = 0; at < index.size(); ++at) {
    std::string changed = index;
    changed[at] ^= 1;
    put(prefix_ + ".index", changed);
    try {
      EXPECT_EQ(BundleReader(prefix_).read("w").to_string(), "[1. 2.]");
      EXPECT_GE(at, index.size() - 48) << at;
    } catch (const DataLossError&) {
    }
  }
  put(prefix_ + ".index", index);
  const std::string path = bundle::shard_path(prefix_, 0, 1), data = bytes(path);
  for (size_t at = 0; at < data.size(); ++at) {
    std::string changed = data;
    changed[at] ^= 1;
    put(path, changed);
    EXPECT_THROW(BundleReader(prefix_).read("w"), DataLossError);
    EXPECT_THROW(BundleReader(prefix_).verify("w"), DataLossError);
  }
}

/// More than threads read at a time, and no whole number of pieces.
class LargeBundles : public Bundles {
 protected:
  void SetUp() override {
    Bundles::SetUp();
    std::vector<int8_t> values(kBytes);
    for (size_t i = 0; i < kBytes; ++i) values[i] = static_cast<int8_t>(i * 2654435761u >> 24);
    value_ = Tensor::of<int8_t>(values, {int64_t{kBytes}});
    BundleWriter writer(prefix_);
    writer.add("before", Tensor::of({1.f}));
    writer.add("w", value_);
    writer.finish();
    data_ = bundle::shard_path(prefix_, 0, 1);
  }
  static std::string_view bytes_of(const Tensor& value) {
    return {static_cast<const char*>(value.raw_data()), value.nbytes()};
  }

  static constexpr size_t kBytes = (size_t{9} << 20) + 12345;
  Tensor value_;
  std::string data_;
};

TEST_F(LargeBundles, GiveBackEveryByteAndNoticeChangedOnes) {
  const BundleReader reader(prefix_);
  reader.verify("w");
  EXPECT_TRUE(bytes_of(reader.read("w")) == bytes_of(value_));
  const std::string all = bytes(data_);
  for (const size_t at : {size_t{4}, size_t{4} << 20, (size_t{5} << 20) + 1, all.size() - 1}) {
    std::string changed = all;
    changed[at] ^= 16;
    put(data_, changed);
    EXPECT_THROW(BundleReader(prefix_).verify("w"), DataLossError) << at;
    EXPECT_THROW(BundleReader(prefix_).read("w"), DataLossError) << at;
  }
}

TEST_F(LargeBundles, NoticeAFileThatShrinksAfterItWasOpened) {
  const BundleReader reader(prefix_);
  reader.verify("w");
  for (const size_t left : {kBytes - 1, size_t{5} << 20, size_t{0}}) {
    std::filesystem::resize_file(data_, left);
    EXPECT_THROW(reader.verify("w"), DataLossError) << left;
    EXPECT_THROW(reader.read("w"), DataLossError) << left;
  }
}

TEST_F(LargeBundles, AreReadUntilSomebodyStopsIt) {
  const BundleReader reader(prefix_);
  const std::atomic<bool> stopped = true;
  const Interrupt interrupt{.is_cancelled = &stopped};
  const InterruptScope scope(interrupt);
  EXPECT_THROW(reader.verify("w"), CancelledError);
  EXPECT_THROW(reader.read("w"), CancelledError);
}

}  // namespace
}  // namespace tidemark::io
