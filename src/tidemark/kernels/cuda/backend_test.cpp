// Memory, copies and streams of a GPU over a driver that refuses any of its calls.

#include "tidemark/kernels/cuda/backend.h"

#include <gtest/gtest.h>
#include <tidemark/error.h>
#include <tidemark/op.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "tidemark/kernels/cuda/code.h"
#include "tidemark/kernels/cuda/pages.h"
#include "tidemark/kernels/cuda/refusing_testing.h"
#include "tidemark/kernels/cuda/staging.h"
#include "tidemark/kernels/cuda/stream.h"
#include "tidemark/kernels/cuda/testing.h"
#include "tidemark/kernels/queued_kernel.h"

namespace tidemark::cuda {
namespace {

constexpr size_t kPage = FakeDriver::kPage;

constexpr Makers kNone = {
    .compiler = []() -> const SourceCompiler& { fail<FailedPreconditionError>("there is none"); },
    .products = []() -> const ProductLibrary* { return nullptr; },
    .convolutions = []() -> const ConvolutionLibrary* { return nullptr; },
    .transforms = []() -> const TransformLibrary* { return nullptr; },
};

std::unique_ptr<Accelerator> open_fake() { return open(FakeDriver::table(), kNone, 0); }

char* at(void* base, size_t page) { return static_cast<char*>(base) + page * kPage; }

TEST(CudaPages, AnyPageGoesBackByItself) {
  FakeDriver& fake = FakeDriver::fresh();
  const auto gpu = open_fake();
  EXPECT_EQ(gpu->capacity(), fake.capacity);
  void* base = gpu->reserve(gpu->capacity());
  ASSERT_TRUE(base);
  ASSERT_TRUE(gpu->commit(at(base, 3), 4 * kPage));
  EXPECT_EQ(fake.created(), 4 * kPage);
  std::memset(at(base, 3), 1, 4 * kPage);
  gpu->decommit(at(base, 4), kPage);
  EXPECT_EQ(fake.created(), 3 * kPage);
  EXPECT_FALSE(fake.accessible.contains(reinterpret_cast<Address>(at(base, 4))));
  ASSERT_TRUE(gpu->commit(at(base, 4), kPage));
  gpu->decommit(at(base, 3), 4 * kPage);
  EXPECT_EQ(fake.created(), 0u);
  EXPECT_TRUE(fake.mapped.empty());
  EXPECT_EQ(fake.depth, 0) << "this thread's GPU is what it was";
}

TEST(CudaPages, WithoutMemoryNothingHasChanged) {
  FakeDriver& fake = FakeDriver::fresh();
  const auto gpu = open_fake();
  void* base = gpu->reserve(2 * gpu->capacity());
  ASSERT_TRUE(gpu->commit(base, 60 * kPage));
  EXPECT_FALSE(gpu->commit(at(base, 60), 5 * kPage)) << "four are left";
  EXPECT_EQ(fake.created(), 60 * kPage);
  EXPECT_EQ(fake.mapped.size(), 60u);
  EXPECT_TRUE(gpu->commit(at(base, 60), 4 * kPage));
}

TEST(CudaPages, EachRefusedCallLeavesThemAsTheyWere) {
  for (const int refusal : {kOutOfMemory, 999}) {
    FakeDriver& fake = FakeDriver::fresh();
    const auto gpu = open_fake();
    void* base = gpu->reserve(gpu->capacity());
    bool is_there = false;
    const int calls = refuse_each_call(
        refusal,
        [&] {
          is_there = gpu->commit(base, 3 * kPage);
          return is_there;
        },
        [&](int call) {
          EXPECT_EQ(fake.created(), is_there ? 3 * kPage : 0) << "call " << call;
          EXPECT_EQ(fake.mapped.size(), is_there ? 3u : 0u) << "call " << call;
          EXPECT_EQ(fake.depth, 0) << "call " << call;
        });
    EXPECT_EQ(calls, 1 + 3 * 2 + 1) << "the context, two for each page, and access to all";
  }
}

/// Numbers on their way to a GPU and back.
struct Numbers {
  Accelerator& gpu;
  void* base = gpu.reserve(gpu.capacity());
  std::vector<int> from, to;

  Numbers(Accelerator& on, size_t bytes) : gpu(on), from(bytes / sizeof(int)), to(from.size()) {
    EXPECT_TRUE(gpu.commit(base, (bytes / kPage + 1) * kPage));
    std::iota(from.begin(), from.end(), 7);
  }
  size_t bytes() const { return from.size() * sizeof(int); }
  void go() {
    std::vector<int> read = from;
    gpu.upload_stream().copy_in(base, read.data(), bytes());
    std::fill(read.begin(), read.end(), -1);  // as whoever called may
    gpu.stream().follow(gpu.upload_stream().now());
  }
  void come_back() { gpu.stream().copy_out(to.data(), base, bytes()); }
};

TEST(CudaStream, CopiesWhatIsLargerThanItsStaging) {
  FakeDriver& fake = FakeDriver::fresh();
  fake.capacity = 1024 * kPage;
  fake.is_late = true;  // what is copied is waited for where it has to be
  const auto gpu = open_fake();
  Numbers numbers(*gpu, (Staging::kSlots + 3) * Staging::kSlotBytes + 12);
  for (int times = 0; times < 3; ++times) {
    numbers.go();
    numbers.come_back();
    EXPECT_EQ(numbers.from, numbers.to);
  }
  EXPECT_LE(fake.pinned.size(), 2u * Staging::kSlots) << "two streams, a bound each";
}

TEST(CudaStream, CopiesOfFewBytesNeedNoPinnedMemory) {
  FakeDriver& fake = FakeDriver::fresh();
  fake.is_late = true;
  const auto gpu = open_fake();
  Numbers numbers(*gpu, 4096);
  numbers.go();
  EXPECT_TRUE(fake.pinned.empty());
  numbers.come_back();
  EXPECT_EQ(numbers.from, numbers.to);
  EXPECT_EQ(fake.pinned.size(), 1u) << "one after the other needs one slot";
}

TEST(CudaStream, CopiesOfManyThreadsDoNotWaitForEachOther) {
  FakeDriver& fake = FakeDriver::fresh();
  fake.capacity = 1024 * kPage;
  const auto gpu = open_fake();
  const Context context(FakeDriver::table(), 0);
  Staging staging(context, "of this test");
  std::vector<Staging::Slot> taken;
  for (int i = 0; i < Staging::kSlots; ++i) taken.push_back(staging.take());
  EXPECT_FALSE(staging.take_if_free()) << "all are taken, and this returns";
  taken.pop_back();
  EXPECT_TRUE(staging.take_if_free());
}

TEST(CudaStream, ASlotIsNotUsedAgainWhileItIsCopied) {
  // Each call refused in turn, the one that marks where a copy ends among them.
  FakeDriver& fake = FakeDriver::fresh();
  fake.capacity = 1024 * kPage;
  fake.is_late = true;
  const auto gpu = open_fake();
  Numbers numbers(*gpu, Staging::kSlotBytes / 2);
  for (int call = 1; call < 12; ++call) {
    fake.calls = 0;
    fake.refused_call = call;
    bool arrived = false;
    try {
      numbers.go();
      arrived = true;
    } catch (const Error&) {
      fake.refused_call = 0;
    }
    const bool was_refused = fake.calls >= call;
    fake.refused_call = 0;
    if (!arrived) {
      // The slot is wanted at once for other bytes, which go elsewhere.
      std::vector<char> other(Staging::kSlotBytes / 2, 9);
      gpu->upload_stream().copy_in(static_cast<char*>(numbers.base) + numbers.bytes(), other.data(),
                                   kPage / 2);
      gpu->stream().follow(gpu->upload_stream().now());
    }
    numbers.come_back();
    if (arrived) {
      EXPECT_EQ(numbers.from, numbers.to) << "call " << call;
    }
    EXPECT_EQ(std::count(numbers.to.begin(), numbers.to.end(), 0x09090909), 0) << "call " << call;
    if (!was_refused) break;
  }
}

TEST(CudaStream, KnowsWhereItHasComeTo) {
  FakeDriver& fake = FakeDriver::fresh();
  const auto gpu = open_fake();
  void* base = gpu->reserve(gpu->capacity());
  ASSERT_TRUE(gpu->commit(base, 2 * kPage));
  Stream& stream = gpu->stream();
  EXPECT_TRUE(stream.is_past(stream.now())) << "before everything";
  fake.is_behind = true;
  stream.copy(at(base, 1), base, kPage);
  const Moment first = stream.now();
  stream.copy(base, at(base, 1), kPage);
  EXPECT_FALSE(stream.is_past(first));
  stream.wait(first);
  EXPECT_TRUE(stream.is_past(first));
  fake.is_behind = false;
  EXPECT_TRUE(stream.is_past(stream.now()));
}

TEST(CudaStream, KeepsFewEventsHoweverLongItRuns) {
  FakeDriver& fake = FakeDriver::fresh();
  const auto gpu = open_fake();
  void* base = gpu->reserve(gpu->capacity());
  ASSERT_TRUE(gpu->commit(base, 2 * kPage));
  for (int i = 0; i < 100'000; ++i) gpu->stream().copy(at(base, 1), base, 16);
  EXPECT_LE(fake.events.size(), 3u);
}

TEST(CudaStream, EachRefusedCallIsATypedError) {
  FakeDriver& fake = FakeDriver::fresh();
  const auto gpu = open_fake();
  void* base = gpu->reserve(gpu->capacity());
  ASSERT_TRUE(gpu->commit(base, 2 * kPage));
  std::vector<char> bytes(kPage, 3);
  const int calls = refuse_each_call(
      999,
      [&] {
        gpu->upload_stream().copy_in(base, bytes.data(), kPage);
        gpu->stream().follow(gpu->upload_stream().now());
        gpu->stream().copy(at(base, 1), base, kPage);
        gpu->stream().copy_out(bytes.data(), at(base, 1), kPage);
        gpu->stream().wait(gpu->stream().now());
        return true;
      },
      [&](int call) { EXPECT_EQ(fake.depth, 0) << "call " << call; });
  EXPECT_GT(calls, 8);
  EXPECT_EQ(bytes, std::vector<char>(kPage, 3));
}

/// Kernels that copy bytes: each what it reads to where it writes.
std::vector<QueuedKernel> copies_of(std::vector<std::pair<void*, void*>> from_and_to) {
  std::vector<QueuedKernel> kernels;
  for (const auto& [from, to] : from_and_to) {
    QueuedKernel kernel;
    kernel.op = &OpRegistry::instance().get("identity");
    kernel.kernel.run = [](KernelContext& k) {
      static_cast<CudaStream&>(stream_of(k)).copy_here(k.out<void>(0), k.in<void>(0), kPage);
    };
    const Shape shape{static_cast<int64_t>(kPage)};
    kernel.inputs = {{DType::uint8, shape, from, Tensor()}};
    kernel.outputs = {{DType::uint8, shape, to, Tensor()}};
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

TEST(CudaStream, AFailureNamesWhatMayHaveFailed) {
  FakeDriver& fake = FakeDriver::fresh();
  fake.is_late = true;
  const auto gpu = open_fake();
  void* base = gpu->reserve(gpu->capacity());
  ASSERT_TRUE(gpu->commit(base, 2 * kPage));
  Stream& stream = gpu->stream();
  stream.run(std::move(copies_of({{base, at(base, 1)}})[0]));
  stream.wait(stream.now());
  auto later = copies_of({{base, at(base, 1)}});
  later[0].op = &OpRegistry::instance().get("tanh");
  stream.run(std::move(later[0]));
  const Moment now = stream.now();
  for (int call = 1; call < 6; ++call) {
    fake.calls = 0;
    fake.refused_call = call;
    try {
      stream.wait(now);
      break;
    } catch (const Error& error) {
      if (std::string(error.what()).find("cuEventSynchronize") == std::string::npos) continue;
      EXPECT_NE(std::string(error.what()).find("the last first: tanh"), std::string::npos)
          << error.what();
      EXPECT_EQ(std::string(error.what()).find("identity"), std::string::npos) << error.what();
      fake.refused_call = 0;
      stream.wait(now);
      return;
    }
  }
  ADD_FAILURE() << "nothing was refused while the host waited";
}

TEST(CudaRecording, IsDoneAsAWholeAndWhenItIsToldTo) {
  FakeDriver& fake = FakeDriver::fresh();
  fake.is_late = true;
  const auto gpu = open_fake();
  void* base = gpu->reserve(gpu->capacity());
  ASSERT_TRUE(gpu->commit(base, 3 * kPage));
  const auto kernels = copies_of({{base, at(base, 1)}, {at(base, 1), at(base, 2)}});
  Stream& stream = gpu->stream();
  std::memset(base, 5, kPage);
  std::memset(at(base, 2), 0, kPage);
  const auto work = stream.record(kernels);
  ASSERT_TRUE(work);
  stream.wait(stream.now());
  EXPECT_EQ(*at(base, 2), 0) << "recorded, not done";
  for (char value = 6; value < 9; ++value) {
    std::memset(base, value, kPage);
    fake.calls = 0;
    stream.run(*work, {});
    EXPECT_LE(fake.calls, 2) << "the context, and one call for all of it";
    stream.wait(stream.now());
    EXPECT_EQ(*at(base, 2), value);
  }
}

TEST(CudaRecording, EachRefusedCallLeavesNoneBehind) {
  FakeDriver& fake = FakeDriver::fresh();
  const auto gpu = open_fake();
  void* base = gpu->reserve(gpu->capacity());
  ASSERT_TRUE(gpu->commit(base, 2 * kPage));
  const auto kernels = copies_of({{base, at(base, 1)}, {base, at(base, 1)}});
  Stream& stream = gpu->stream();
  int recorded = 0;
  refuse_each_call(
      999,
      [&] {
        const auto work = stream.record(kernels);
        if (!work) return false;
        ++recorded;
        stream.run(*work, {});
        return true;
      },
      [&](int call) {
        EXPECT_TRUE(fake.recordings.empty()) << "call " << call;
        EXPECT_EQ(fake.depth, 0) << "call " << call;
        std::memset(base, call, kPage);
        stream.run(QueuedKernel(kernels[0]));  // nothing is being recorded any more
        stream.wait(stream.now());
        EXPECT_EQ(*at(base, 1), static_cast<char>(call));
      });
  EXPECT_GE(recorded, 2);
}

TEST(CudaRecording, IsBoundedAndListed) {
  FakeDriver::fresh();
  const auto gpu = open_fake();
  void* base = gpu->reserve(gpu->capacity());
  ASSERT_TRUE(gpu->commit(base, 2 * kPage));
  const auto kernels = copies_of(std::vector<std::pair<void*, void*>>(500, {base, at(base, 1)}));
  std::vector<std::shared_ptr<const RecordedWork>> all;
  while (auto work = gpu->stream().record(kernels)) all.push_back(std::move(work));
  EXPECT_GE(static_cast<int64_t>(all.size()) * 501 * Recordings::kPieceBytes,
            Recordings::kMostBytes);
  EXPECT_LE(static_cast<int64_t>(all.size() - 1) * 501 * Recordings::kPieceBytes,
            Recordings::kMostBytes);
  all.pop_back();
  EXPECT_TRUE(gpu->stream().record(kernels)) << "there is room again";
  all.clear();
  EXPECT_TRUE(FakeDriver::now().recordings.empty());
}

TEST(CudaBackend, OpensOrSaysWhatTheDriverAnswered) {
  FakeDriver& fake = FakeDriver::fresh();
  std::unique_ptr<Accelerator> gpu;
  refuse_each_call(
      999,
      [&] {
        gpu = open_fake();
        return true;
      },
      [&](int call) {
        EXPECT_EQ(fake.streams.size(), gpu ? 2u : 0u) << "call " << call;
        EXPECT_EQ(fake.depth, 0) << "call " << call;
      });
  gpu.reset();
  EXPECT_TRUE(fake.streams.empty());
  EXPECT_TRUE(fake.events.empty());
  EXPECT_TRUE(fake.pinned.empty());
}

TEST(CudaBackend, TellsWhatIsTakenBesideItsPages) {
  FakeDriver& fake = FakeDriver::fresh();
  const std::unique_ptr<Accelerator> gpu = open_fake();
  void* space = gpu->reserve(8 * kPage);
  ASSERT_TRUE(gpu->commit(space, 3 * kPage));
  const std::optional<TakenMemory> taken = gpu->taken();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->bytes, 3 * kPage + fake.context + fake.others);
  EXPECT_EQ(taken->by_this_process, 3 * kPage + fake.context);
  gpu->decommit(space, 3 * kPage);
  EXPECT_EQ(gpu->taken()->bytes, fake.context + fake.others);
}

TEST(CudaBackend, WithoutAGpuSaysWhy) {
  std::string why;
  if (count_gpus(why) > 0) GTEST_SKIP() << "there is one";
  EXPECT_FALSE(why.empty());
  EXPECT_THROW(open(0), InvalidArgumentError);
}

}  // namespace
}  // namespace tidemark::cuda
