// How long work took on a GPU, over a driver whose clock counts what a stream was asked to do.

#include "tidemark/kernels/cuda/timings.h"

#include <gtest/gtest.h>

#include "tidemark/kernels/cuda/context.h"
#include "tidemark/kernels/cuda/testing.h"

namespace tidemark::cuda {
namespace {

class CudaTimings : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(context_.driver().create_stream(&stream_), kDone);
    fake_.is_late = true;
  }
  /// A piece of as many pieces of the driver's.
  void work(const char* name, int pieces) {
    timings_->begin(stream_);
    for (int i = 0; i < pieces; ++i) fake_.enqueue(stream_, [] {});
    timings_->end(stream_, {{Device(), name}, nullptr});
  }

  FakeDriver& fake_ = FakeDriver::fresh();
  const Context context_{FakeDriver::table(), 0};
  Handle stream_ = 0;
  std::unique_ptr<Timings> timings_ = std::make_unique<Timings>(context_);
};

TEST_F(CudaTimings, AreToldInOrderOnceTheWorkIsDone) {
  const uint64_t before = observers_time();
  work("add", 3);
  work("matmul", 40);
  EXPECT_TRUE(timings_->take_finished().empty()) << "the stream has not come to it";
  fake_.finish_all();
  const std::vector<TimedWork> told = timings_->take_finished();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_STREQ(told[0].work.name, "add");
  EXPECT_EQ(told[0].work.nanoseconds, 3'000'000u);
  EXPECT_STREQ(told[1].work.name, "matmul");
  EXPECT_EQ(told[1].work.nanoseconds, 40'000'000u);
  EXPECT_GE(told[0].work.began, before);
  EXPECT_EQ(told[1].work.began - told[0].work.began, 3'000'000u);
  EXPECT_TRUE(timings_->take_finished().empty()) << "each is told once";
}

TEST_F(CudaTimings, KeepNoMoreThanTheyAreBoundTo) {
  size_t told = 0;
  for (int i = 0; i < 5000; ++i) {
    work("add", 1);
    told += timings_->take_finished().size();
    ASSERT_LE(fake_.events.size(), 2u * 1025 + 40);
  }
  EXPECT_GE(told, 5000u - 1025) << "the host has waited for these";
  fake_.finish_all();
  EXPECT_EQ(told + timings_->take_finished().size(), 5000u);
  EXPECT_LE(fake_.events.size(), 40u);
}

TEST_F(CudaTimings, ARefusedCallLosesATimeAndNothingElse) {
  int refused = 0;
  do {
    timings_ = std::make_unique<Timings>(context_);
    fake_.calls = 0;
    fake_.refused_call = ++refused;
    work("add", 2);
    fake_.finish_all();
    const std::vector<TimedWork> told = timings_->take_finished();
    EXPECT_EQ(told.size(), fake_.calls < refused ? 1u : 0u) << "call " << refused;
    for (const TimedWork& one : told) EXPECT_EQ(one.work.nanoseconds, 2'000'000u);
  } while (fake_.calls >= refused);
  EXPECT_GE(refused, 10) << "three events, each made and recorded, one waited for, the times";
  fake_.refused_call = 0;
  timings_.reset();
  EXPECT_TRUE(fake_.events.empty()) << "all events went back";
}

}  // namespace
}  // namespace tidemark::cuda
