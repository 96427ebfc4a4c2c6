#include "tidemark/base/code_pages.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "tidemark/base/settings.h"

namespace tidemark {
namespace {

constexpr size_t kPage = 4096, kPages = 64;

/// A file whose pages hold their numbers, mapped privately.
class MappedFile : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "pages_of_test_" + std::to_string(getpid()) + ".so";
    const int file = open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    ASSERT_GE(file, 0);
    for (size_t i = 0; i < kPages; ++i) {
      const std::string page(kPage, static_cast<char>('A' + i % 26));
      ASSERT_EQ(write(file, page.data(), kPage), static_cast<ssize_t>(kPage));
    }
    data_ = static_cast<char*>(
        mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0));
    close(file);
    ASSERT_NE(static_cast<void*>(data_), MAP_FAILED);
  }
  void TearDown() override {
    munmap(data_, kPages * kPage);
    unlink(path_.c_str());
  }

  void touch_all() {
    for (size_t i = 0; i < kPages; ++i) sum_ = sum_ + data_[i * kPage];
  }
  /// As a loader leaves what it has relocated: written to, then only read.
  void relocate(size_t page) {
    data_[page * kPage] = '!';
    ASSERT_EQ(mprotect(data_, kPages * kPage, PROT_READ), 0);
  }

  std::string path_;
  char* data_ = nullptr;
  volatile int sum_ = 0;
};

const std::string_view kOfTest[] = {"pages_of_test_"};

TEST_F(MappedFile, GivesBackWhatIsAsInTheFileAndNothingElse) {
  relocate(3);
  touch_all();
  EXPECT_EQ(release_code_pages(kOfTest), (kPages - 1) * kPage);
  EXPECT_EQ(data_[3 * kPage], '!');
  for (size_t i = 0; i < kPages; ++i) {
    EXPECT_EQ(data_[i * kPage + 1], static_cast<char>('A' + i % 26)) << i;
  }
}

TEST_F(MappedFile, LeavesWhatMayBeWrittenTo) {
  touch_all();
  EXPECT_EQ(release_code_pages(kOfTest), 0u);
  const std::string_view others[] = {"another"};
  ASSERT_EQ(mprotect(data_, kPages * kPage, PROT_READ), 0);
  EXPECT_EQ(release_code_pages(others), 0u);
  EXPECT_GT(release_code_pages(kOfTest), 0u);
}

TEST(CodePages, CodeGoesOnRunningWhileItIsGivenBack) {
  std::atomic<bool> stop = false;
  std::atomic<int64_t> rounds = 0;
  std::thread runs([&] {
    while (!stop) {
      ASSERT_EQ(settings::integer(settings::kPlanTime), settings::integer(settings::kPlanTime));
      ++rounds;
    }
  });
  const std::string_view own[] = {"libtidemark", "libstdc++", "libc.so", "test_"};
  size_t released = 0;
  for (int i = 0; i < 100; ++i) released += release_code_pages(own);
  stop = true;
  runs.join();
  EXPECT_GT(released, 100 * kPage);
  EXPECT_GT(rounds, 0);
}

}  // namespace
}  // namespace tidemark
