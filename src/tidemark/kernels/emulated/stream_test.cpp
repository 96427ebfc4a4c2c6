// Queues of the emulated device: order on one, events between two, errors.

#include "tidemark/kernels/emulated/stream.h"

#include <gtest/gtest.h>
#include <tidemark/error.h>

#include <atomic>

#include "tidemark/graph/specials.h"
#include "tidemark/kernels/queued_kernel.h"

namespace tidemark::emulated {
namespace {

/// Over the host's own memory. It stays: its worker never ends.
EmulatedStream& new_stream() { return *new EmulatedStream(0, 0); }

class QueuedWork final : public graph::PureSpecial {
 public:
  explicit QueuedWork(std::function<void()> work) : work_(std::move(work)) {}
  std::string_view name() const override { return "step"; }
  void run(std::span<Tensor>, std::span<Tensor>) const override {}
  void compute(std::span<const Tensor>, std::span<const Tensor>, void*) const override { work_(); }

 private:
  std::function<void()> work_;
};

void run(EmulatedStream& stream, std::function<void()> work) {
  QueuedKernel queued;
  queued.step = std::make_shared<const QueuedWork>(std::move(work));
  stream.run(std::move(queued));
}

TEST(EmulatedStream, ComesToWorkInItsOrder) {
  EmulatedStream& stream = new_stream();
  std::vector<int> seen;
  for (int i = 0; i < 100; ++i) run(stream, [&, i] { seen.push_back(i); });
  const Moment last = stream.now();
  stream.wait(last);
  EXPECT_TRUE(stream.is_past(last));
  EXPECT_EQ(seen.size(), 100u);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
}

TEST(EmulatedStream, FollowsAMomentOfAnother) {
  EmulatedStream &first = new_stream(), &second = new_stream();
  std::atomic<bool> is_open{false};
  int source = 1, middle = 0, before = -1, after = -1;
  run(first, [&] { is_open.wait(false); });
  first.copy(&middle, &source, sizeof middle);
  const Moment made = first.now();

  second.copy(&before, &middle, sizeof before);
  second.wait(second.now());
  EXPECT_EQ(before, 0) << "two streams have no order of their own";
  second.follow(made);
  second.copy(&after, &middle, sizeof after);
  const Moment read = second.now();
  EXPECT_FALSE(second.is_past(read)) << "and the host did not wait for it";
  EXPECT_FALSE(first.is_past(made));

  is_open = true;
  is_open.notify_all();
  second.wait(read);
  EXPECT_EQ(after, 1);
  EXPECT_TRUE(first.is_past(made));
}

TEST(EmulatedStream, FollowsWhatIsPastOrItsOwnForNothing) {
  EmulatedStream &first = new_stream(), &second = new_stream();
  run(first, [] {});
  first.wait(first.now());
  const uint64_t enqueued = second.now().number;
  second.follow(first.now());
  second.follow(second.now());
  second.follow({});
  EXPECT_EQ(second.now().number, enqueued);
}

TEST(EmulatedStream, LeavesErrorsToWhoeverWaitsForTheirStream) {
  EmulatedStream &first = new_stream(), &second = new_stream();
  std::atomic<bool> is_open{false};
  run(first, [&] { is_open.wait(false); });
  run(first, [] { fail<InvalidArgumentError>("wrong"); });
  bool came = false;
  second.follow(first.now());
  run(second, [&] { came = true; });
  is_open = true;
  is_open.notify_all();
  EXPECT_NO_THROW(second.wait(second.now()));
  EXPECT_TRUE(came);
  EXPECT_THROW(first.wait(first.now()), InvalidArgumentError);
  EXPECT_NO_THROW(first.wait(first.now())) << "told once";
}

}  // namespace
}  // namespace tidemark::emulated
