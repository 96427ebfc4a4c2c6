// Ops on the emulated device: results, placement, memory, failures.

#include "tidemark/exec/device_call.h"

#include <gtest/gtest.h>
#include <tidemark/call.h>
#include <tidemark/memory.h>
#include <tidemark/variable.h>

#include <cstdlib>
#include <cstring>

#include "tidemark/base/backend.h"
#include "tidemark/base/placement.h"
#include "tidemark/kernels/fusion/compiler.h"
#include "tidemark/kernels/queued_kernel.h"
#include "tidemark/memory/workspace.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::exec {
namespace {

/// Opened with a delay that makes what is not waited for come too late, and little memory.
Device emulated() {
  static const Device device = [] {
    setenv("TIDEMARK_EMULATED_DELAY", "300", 1);
    setenv("TIDEMARK_EMULATED_DEVICES", "3", 1);
    setenv("TIDEMARK_EMULATED_MEMORY", "8MiB", 1);
    setenv("TIDEMARK_EMULATED_WITHOUT", "cumsum", 1);
    return Device::named("emulated:0");
  }();
  return device;
}

Tensor counted(int64_t n) {
  const Tensor t = Tensor::uninitialized(DType::float32, {n});
  for (int64_t i = 0; i < n; ++i) t.mutable_data<float>()[i] = static_cast<float>(i % 97);
  return t;
}

TEST(DeviceCall, NamesOfDevices) {
  EXPECT_EQ(Device::named("/job:localhost/replica:0/task:0/device:EMULATED:0"), emulated());
  EXPECT_EQ(emulated().name(), "emulated:0");
  EXPECT_TRUE(Device::named("CPU").is_cpu());
  EXPECT_THROW(Device::named("emulated:99"), InvalidArgumentError);
  EXPECT_THROW(Device::named("emulated:x"), InvalidArgumentError);
  EXPECT_THROW(Device::named("quantum"), InvalidArgumentError);
}

TEST(DeviceCall, LogicalDevicesAreSetBeforeTheFirstIsUsed) {
  emulated();
  EXPECT_THROW(set_logical_devices("emulated", {{.physical = 0}}), FailedPreconditionError);
  EXPECT_THROW(set_logical_devices("cpu", {{.physical = 0}}), InvalidArgumentError);
  EXPECT_THROW(set_logical_devices("gpu", {{.physical = -1}}), InvalidArgumentError);
  EXPECT_THROW(set_logical_devices("gpu", {{.physical = 0, .memory_limit = 0}}),
               InvalidArgumentError);
}

TEST(DeviceCall, RunsWhereItsInputsAre) {
  const Tensor a = counted(1000), b = a.to(emulated());
  const Tensor y = call("add", {call("square", {b}), b});
  EXPECT_EQ(y.device(), emulated());
  const Tensor want = call("add", {call("square", {a}), a});
  EXPECT_TRUE(want.device().is_cpu());
  EXPECT_EQ(std::memcmp(y.to(Device()).raw_data(), want.raw_data(), want.nbytes()), 0);
  EXPECT_EQ(y.to_string(), want.to_string());
}

TEST(DeviceCall, RunsWhereTheScopeSays) {
  Tensor y, sizes;
  {
    const PlacementScope scope(emulated());
    y = call("add", {counted(100), Tensor(1.f)});
    sizes = call("add", {call("shape", {y}), Tensor(int32_t{1})});
  }
  EXPECT_EQ(y.device(), emulated());
  EXPECT_TRUE(sizes.device().is_cpu()) << "what shapes are made of stays on the host";
  EXPECT_EQ(sizes.to_ints(), std::vector<int64_t>{101});
  EXPECT_TRUE(call("add", {counted(3), Tensor(1.f)}).device().is_cpu());
}

TEST(DeviceCall, ViewsAndValuesThatShapesDependOn) {
  const Tensor x = counted(24).to(emulated());
  const Tensor matrix = call("reshape", {x, Tensor::of({int32_t{4}, int32_t{6}})});
  EXPECT_EQ(matrix.raw_data(), x.raw_data());
  EXPECT_EQ(matrix.device(), emulated());
  const Tensor found = call("nonzero", {call("greater", {x, Tensor(20.f)})});
  EXPECT_EQ(found.to_ints(), (std::vector<int64_t>{21, 22, 23}));
  const std::vector<Tensor> remainders = {call("floormod", {x, Tensor(3.f)})};
  const Tensor unique = call_all("unique", remainders)[0];
  EXPECT_EQ(unique.shape(), Shape{3});
  EXPECT_EQ(unique.to_string(), "[0. 1. 2.]");
}

TEST(DeviceCall, TheHostCannotReadItsMemory) {
  const Tensor x = counted(10).to(emulated());
  EXPECT_THROW(x.data<float>(), FailedPreconditionError);
  EXPECT_DEATH(
      {
        volatile float value = *static_cast<const float*>(x.raw_data());
        static_cast<void>(value);
      },
      "");
}

TEST(DeviceCall, MemoryIsReusedInTheOrderOfTheStream) {
  // Every step frees what the queue has not come to yet, and takes its place.
  Tensor x = counted(100000).to(emulated());
  memory::reset_peak(emulated());
  const int64_t before = memory::stats(emulated()).live;
  for (int i = 0; i < 50; ++i) x = call("add", {x, Tensor(1.f)});
  EXPECT_EQ(memory::stats(emulated()).live, before);
  EXPECT_LE(memory::stats(emulated()).peak, 3 * before);
  EXPECT_EQ(x.to(Device()).data<float>()[96], 96.f + 50.f);
}

TEST(DeviceCall, UploadsWaitForTheLastUseOfTheirBytes) {
  // Each upload gets the bytes of the one before, which the queue has yet to read.
  std::vector<Tensor> sums;
  for (int i = 0; i < 10; ++i) {
    const Tensor x = Tensor::uninitialized(DType::float32, {1000});
    std::fill_n(x.mutable_data<float>(), 1000, static_cast<float>(i));
    const Tensor there = x.to(emulated());
    Tensor y = there;
    for (int late = 0; late < 5; ++late) y = call("negative", {y});
    sums.push_back(call("sum", {call("subtract", {there, y})}, {}));
  }
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(sums[static_cast<size_t>(i)].to(Device()).data<float>()[0],
              2000.f * static_cast<float>(i));
  }
}

/// Holds its stream up until it is told to go on.
class Gate final : public graph::PureSpecial {
 public:
  std::string_view name() const override { return "gate"; }
  void run(std::span<Tensor>, std::span<Tensor>) const override {}
  void compute(std::span<const Tensor>, std::span<const Tensor>, void*) const override {
    opened_.wait(false);
  }
  void open() {
    opened_ = true;
    opened_.notify_all();
  }

 private:
  std::atomic<bool> opened_{false};
};

TEST(DeviceCall, UploadsGoBesideTheWork) {
  Accelerator& accelerator = accelerator_of(emulated());
  memory::release_retained(emulated());
  const auto gate = std::make_shared<Gate>();
  QueuedKernel held;
  held.step = gate;
  accelerator.stream().run(std::move(held));
  const Tensor x = counted(MiB(1)).to(emulated());  // pages that nobody used since they were made
  accelerator.upload_stream().wait(accelerator.upload_stream().now());
  const Moment last = accelerator.stream().now();
  EXPECT_FALSE(accelerator.stream().is_past(last)) << "the gate is shut, and the copy was made";
  const Tensor y = call("add", {x, x});
  gate->open();
  EXPECT_EQ(y.to(Device()).data<float>()[96], 2 * 96.f);
}

TEST(DeviceCall, FusedStepsRunOnItsQueue) {
  const OpRegistry& ops = OpRegistry::instance();
  fusion::Builder b;
  const fusion::Value x = b.load(DType::float32);
  b.output(b.map(ops.get("square"), {b.map(ops.get("add"), {x, x})}));
  const auto step = backend_of(emulated()).fusion().make_group(b.finish(), {Shape{1000}});
  const Tensor host = counted(1000), in = host.to(emulated());
  const Tensor out = new_tensor(DType::float32, {1000}, memory::Holder::value, 0, emulated());
  QueuedKernel queued;
  queued.step = step;
  queued.inputs.push_back({in.dtype(), in.shape(), in.mutable_raw_data(), {}});
  queued.outputs.push_back({out.dtype(), out.shape(), out.mutable_raw_data(), {}});
  const memory::Workspace workspace(step->workspace(), emulated());
  queued.workspace = workspace.data();
  accelerator_of(emulated()).stream().run(std::move(queued));
  const Tensor want = call("square", {call("add", {host, host})});
  EXPECT_EQ(std::memcmp(out.to(Device()).raw_data(), want.raw_data(), want.nbytes()), 0);
}

TEST(DeviceCall, UpdatesOfVariablesStayInTheirMemory) {
  Variable v(counted(1000).to(emulated()));
  const Tensor delta = counted(1000).to(emulated());
  const void* place = v.operand().raw_data();
  memory::reset_peak(emulated());
  const int64_t before = memory::stats(emulated()).live;
  for (int i = 0; i < 5; ++i) v.assign_add(delta);
  EXPECT_EQ(v.operand().raw_data(), place);
  EXPECT_EQ(memory::stats(emulated()).peak, before) << "no second copy";
  const Tensor held = v.operand();
  v.assign_sub(delta);
  EXPECT_NE(v.operand().raw_data(), place) << "somebody holds the old value";
  EXPECT_EQ(held.to(Device()).data<float>()[9], 6 * 9.f);
  EXPECT_EQ(v.operand().to(Device()).data<float>()[9], 5 * 9.f);
}

TEST(DeviceCall, LimitsAreOfOneDevice) {
  const int64_t old = memory::set_limit(MiB(2), emulated());
  const Tensor kept = Tensor::uninitialized(DType::float32, {MiB(1) / 4}).to(emulated());
  try {
    counted(MiB(2) / 4).to(emulated());
    FAIL() << "the device has no room for it";
  } catch (const ResourceExhaustedError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("over the memory limit of emulated:0"), std::string::npos) << text;
    EXPECT_NE(text.find("limit 2 MiB (emulated:0)"), std::string::npos) << text;
    EXPECT_NE(text.find("1 MiB in 1 buffer"), std::string::npos) << text;
  }
  EXPECT_NO_THROW(counted(MiB(2) / 4)) << "the CPU has room";
  EXPECT_NO_THROW(counted(1000).to(emulated())) << "a smaller request succeeds";
  EXPECT_THROW(memory::set_limit(1000, emulated()), InvalidArgumentError);
  memory::set_limit(old, emulated());
  const memory::DeviceStats s = memory::stats(emulated());
  EXPECT_EQ(s.live + s.planned + s.retained, s.committed);
}

TEST(DeviceCall, ADeviceThatRefusesPagesIsNotOverItsLimit) {
  emulated();
  setenv("TIDEMARK_EMULATED_TAKEN", "6MiB", 1);
  const Device shared = Device::named("emulated:2");
  unsetenv("TIDEMARK_EMULATED_TAKEN");
  try {
    counted(MiB(3) / 4).to(shared);
    FAIL() << "somebody else has the pages";
  } catch (const ResourceExhaustedError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("emulated:2 refused pages within its limit"), std::string::npos) << text;
    EXPECT_NE(text.find("Somebody else may hold"), std::string::npos) << text;
  }
  EXPECT_EQ(memory::stats(shared).committed, 0) << "nothing has changed";
  EXPECT_NO_THROW(counted(MiB(1) / 4).to(shared));
}

TEST(DeviceCall, PagesGoBack) {
  { const Tensor large = counted(MiB(4) / 4).to(emulated()); }
  memory::release_retained(emulated());
  const memory::DeviceStats s = memory::stats(emulated());
  EXPECT_LT(s.committed - s.live, int64_t{256} << 10) << "pages with live bytes, and no others";
}

TEST(DeviceCall, AnOpWithoutAKernelIsCopiedOrNamed) {
  const Tensor x = counted(5).to(emulated());
  const Tensor y = call("cumsum", {x}, {{"axis", 0}});
  EXPECT_TRUE(y.device().is_cpu());
  EXPECT_EQ(y.to_string(), "[ 0.  1.  3.  6. 10.]");
  const bool before = set_soft_placement(false);
  try {
    call("cumsum", {x}, {{"axis", 0}});
    ADD_FAILURE() << "there is no such kernel";
  } catch (const InvalidArgumentError& error) {
    EXPECT_NE(std::string(error.what()).find("[cumsum] has no kernel for float32 on emulated:0"),
              std::string::npos)
        << error.what();
  }
  set_soft_placement(before);
}

TEST(DeviceCall, WorkThatFailsIsToldToWhoeverWaits) {
  const Tensor x = counted(5).to(emulated());
  const Tensor wrong = call("gather", {x, Tensor::of({int32_t{99}}).to(emulated())});
  const Tensor after = call("add", {x, x});  // enqueued behind it
  EXPECT_THROW(wrong.to(Device()), InvalidArgumentError);
  EXPECT_EQ(after.to(Device()).data<float>()[4], 8.f) << "the stream goes on";
}

TEST(DeviceCall, TheReportHasAPartForTheDevice) {
  const Tensor x = counted(70000).to(emulated());
  const std::string text = memory::report();
  const size_t part = text.find("\nemulated:0  live ");
  ASSERT_NE(part, std::string::npos) << text;
  EXPECT_NE(text.find("device_call_test.cpp", part), std::string::npos) << text;
}

TEST(DeviceCall, ManyStepsAreFlatOnBothSides) {
  const Tensor x = counted(64).to(Device::named("emulated:1"));
  const auto step = [&] { return call("sum", {call("multiply", {x, x})}, {}); };
  for (int i = 0; i < 10; ++i) step().to(Device());
  const int64_t host = memory::stats().live;
  const int64_t device = memory::stats(x.device()).committed;
  for (int i = 0; i < 200; ++i) step().to(Device());
  EXPECT_EQ(memory::stats().live, host);
  EXPECT_EQ(memory::stats(x.device()).committed, device);
}

}  // namespace
}  // namespace tidemark::exec
