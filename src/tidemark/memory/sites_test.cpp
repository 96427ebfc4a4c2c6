#include "tidemark/memory/sites.h"

#include "tidemark/memory/buffer.h"
#include "tidemark/memory/context.h"
#include "tidemark/memory/symbolize.h"

#include <tidemark/memory.h>

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <vector>

namespace tidemark::memory {
namespace {

class CountingSource final : public SiteSource {
 public:
  std::string describe(uintptr_t first, uintptr_t second) override {
    return "script.py:" + std::to_string(second) + " in f" + std::to_string(first);
  }
  void forget(uintptr_t, uintptr_t) noexcept override { ++forgotten; }
  std::atomic<int64_t> forgotten{0};
};

CountingSource& source() {
  static auto* instance = new CountingSource;
  return *instance;
}

PlaceUse use_of(const std::string& place) {
  for (const PlaceUse& p : places()) {
    if (p.place == place) return p;
  }
  return {};
}

TEST(Sites, AreTheSameForTheSameWords) {
  Site* site = intern(source(), 1, 2);
  EXPECT_EQ(intern(source(), 1, 2), site);
  EXPECT_NE(intern(source(), 2, 1), site);
  EXPECT_EQ(describe(*site), "script.py:2 in f1");
}

TEST(Sites, CountTheBuffersAllocatedInTheirScope) {
  Buffer* b = nullptr;
  {
    ScopedSite outer(intern(source(), 1, 10));
    ScopedSite inner(intern(source(), 1, 11));  // the outermost is the user's line
    b = allocate({.bytes = 1000});
  }
  EXPECT_EQ(thread_context.site, nullptr);
  const PlaceUse use = use_of("script.py:10 in f1");
  EXPECT_EQ(use.live_bytes, static_cast<int64_t>(b->charged));
  EXPECT_EQ(use.live_count, 1);
  EXPECT_EQ(use.holder, "value");
  bool listed = false;
  for (const LiveBuffer& live : live_buffers()) listed |= live.place == "script.py:10 in f1";
  EXPECT_TRUE(listed);
  release(b);
}

TEST(Sites, RememberWhoMadeThePeak) {
  reset_peak();
  const auto allocate_at = [](uintptr_t line, size_t bytes) {
    ScopedSite here(intern(source(), 7, line));
    return allocate({.bytes = bytes});
  };
  const auto at_peak = [](const char* place) { return use_of(place).bytes_at_process_peak; };
  Buffer* early = allocate_at(1, 1 << 20);
  Buffer* gone = allocate_at(2, 2 << 20);
  Buffer* top = allocate_at(3, 4 << 20);  // the peak: 7 MiB
  const int64_t peak = stats().peak;
  release(gone);
  release(top);
  Buffer* later = allocate_at(4, 3 << 20);
  release(early);
  Buffer* after = allocate_at(1, 3 << 20);
  EXPECT_EQ(stats().peak, peak);
  EXPECT_EQ(at_peak("script.py:1 in f7"), MiB(1) + 128);
  EXPECT_EQ(at_peak("script.py:2 in f7"), MiB(2) + 128);
  EXPECT_EQ(at_peak("script.py:3 in f7"), MiB(4) + 128);
  EXPECT_EQ(at_peak("script.py:4 in f7"), 0);
  EXPECT_EQ(reset_peak(), peak);
  EXPECT_EQ(stats().peak, stats().live);
  EXPECT_EQ(at_peak("script.py:3 in f7"), 0);
  EXPECT_EQ(at_peak("script.py:4 in f7"), MiB(3) + 128);
  release(later);
  release(after);
}

TEST(Sites, AreBoundedAndForgottenWhenUnused) {
  Buffer* b = nullptr;
  Site* kept = intern(source(), 99, 1);
  {
    ScopedSite here(kept);
    b = allocate({.bytes = 8});
  }
  const uint64_t generation = site_generation();
  const int64_t forgotten = source().forgotten;
  for (uintptr_t i = 0; i < kMostSites + 1000; ++i) {
    ASSERT_NE(intern(source(), 1000, i), &other_places);
  }
  EXPECT_LE(site_count(), kMostSites);
  EXPECT_GT(site_generation(), generation);
  EXPECT_GE(source().forgotten - forgotten, 1000);
  EXPECT_EQ(intern(source(), 99, 1), kept);  // it has live bytes
  EXPECT_EQ(describe(*kept), "script.py:1 in f99");
  release(b);
}

TEST(Sites, FullOfLiveOnesFallBackToOtherPlaces) {
  std::vector<Buffer*> buffers;
  for (uintptr_t i = 0; i < kMostSites + 10; ++i) {
    ScopedSite here(intern(source(), 2000, i));
    buffers.push_back(allocate({.bytes = 8}));
  }
  EXPECT_EQ(buffers.back()->site, &other_places);
  EXPECT_EQ(describe(*buffers.back()->site), "(other places)");
  EXPECT_EQ(site_count(), kMostSites);
  for (Buffer* b : buffers) release(b);
  EXPECT_NE(intern(source(), 3000, 1), &other_places);
}

[[gnu::noinline]] Site* called_from_somewhere() {
  return site_of_address(__builtin_return_address(0));
}

TEST(AddressSites, NameTheLineOfTheCall) {
  Site* site = called_from_somewhere();
  const int line = __LINE__ - 1;
  const std::string text = describe(*site);
  EXPECT_EQ(site_of_address(reinterpret_cast<void*>(site->first)), site);
  if (text.find(".cpp:") == std::string::npos) GTEST_SKIP() << "no libdw or no lines: " << text;
  EXPECT_EQ(text.substr(0, text.find(' ')), "sites_test.cpp:" + std::to_string(line));
  EXPECT_NE(text.find("NameTheLineOfTheCall"), std::string::npos);
}

TEST(AddressSites, AreReadableWithoutSymbolsToo) {
  EXPECT_EQ(describe_address(reinterpret_cast<void*>(0x11)), "0x10");
}

}  // namespace
}  // namespace tidemark::memory
