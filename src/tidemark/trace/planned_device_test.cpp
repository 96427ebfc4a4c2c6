// Functions that are planned on a device: results, the memory the plan promised, waits, failures.
#include <gtest/gtest.h>
#include <tidemark/control_flow.h>
#include <tidemark/create.h>
#include <tidemark/memory.h>
#include <tidemark/ops.h>
#include <tidemark/plan.h>
#include <tidemark/variable.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tidemark/base/attached.h"
#include "tidemark/base/placement.h"
#include "tidemark/base/random_state.h"
#include "tidemark/base/settings.h"
#include "tidemark/exec/versions.h"
#include "tidemark/explain/plan_report.h"
#include "tidemark/memory/device_memory.h"
#include "tidemark/trace/builder.h"

namespace tidemark {
namespace {

/// Opened with a delay that makes what is not waited for come too late, and little memory.
Device emulated() {
  static const Device device = [] {
    setenv("TIDEMARK_EMULATED_DELAY", "200", 1);
    setenv("TIDEMARK_EMULATED_MEMORY", "8MiB", 1);
    setenv("TIDEMARK_EMULATED_WITHOUT", "cumsum", 1);
    return Device::named("emulated:0");
  }();
  return device;
}

Tensor counted(const Shape& shape) {
  const Tensor t = Tensor::uninitialized(DType::float32, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    t.mutable_data<float>()[i] = static_cast<float>(i % 97) / 97.f - 0.4f;
  }
  return t;
}

template <class Code>
std::shared_ptr<const exec::Program> program_of(std::span<const Tensor> inputs, const Code& code) {
  trace::GraphBuilder builder("traced");
  std::vector<Tensor> symbolic, outputs;
  for (const Tensor& t : inputs) symbolic.push_back(builder.add_input(t.dtype(), t.shape()));
  {
    const trace::TraceScope scope(builder);
    outputs = code(symbolic);
  }
  return exec::Program::build(*builder.finish(outputs), exec::Compile::at_once);
}

std::vector<Tensor> run(const exec::Program& program, std::vector<Tensor> inputs) {
  std::vector<Tensor> outputs(program.num_outputs());
  program.run(inputs, outputs);
  return outputs;
}

std::vector<Tensor> on_device(std::span<const Tensor> tensors) {
  std::vector<Tensor> out;
  for (const Tensor& t : tensors) out.push_back(t.to(emulated()));
  return out;
}

void expect_same_bits(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  const Tensor x = a.to(Device()), y = b.to(Device());
  EXPECT_EQ(std::memcmp(x.raw_data(), y.raw_data(), x.nbytes()), 0);
}

plan::GraphPlan plan_of(const exec::Program& program, std::span<const Tensor> inputs) {
  return plan::plan_graph(*exec::specialise(program, inputs));
}

using Inputs = const std::vector<Tensor>&;

std::vector<Tensor> layers(Inputs x) {
  Tensor h = x[0];
  for (int i = 0; i < 4; ++i) h = tanh(matmul(h, x[1]) + x[2]);
  return {h, sum(softmax(h))};
}

/// Some bytes of the device that a run finds taken.
Tensor new_value_there(int round) { return counted({(round % 3) * 1000 + 1}).to(emulated()); }

class PlannedOnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!settings::flag(settings::kPlan)) GTEST_SKIP() << "functions run without plans";
  }
  const std::vector<Tensor> here_{counted({64, 128}), counted({128, 128}), counted({128})};
  const std::vector<Tensor> there_ = on_device(here_);
};

TEST_F(PlannedOnDevice, GivesTheBitsOfTheCpu) {
  const auto program = program_of(here_, layers);
  ASSERT_NE(program->compiled_for(there_), nullptr);
  const std::vector<Tensor> expected = layers(here_);
  for (int i = 0; i < 3; ++i) {
    const std::vector<Tensor> results = run(*program, there_);
    for (size_t k = 0; k < results.size(); ++k) {
      EXPECT_EQ(results[k].device(), emulated());
      expect_same_bits(results[k], expected[k]);
    }
  }
  EXPECT_TRUE(run(*program, here_)[0].device().is_cpu()) << "the CPU has a plan of its own";
}

TEST_F(PlannedOnDevice, PeakIsWhatThePlanSays) {
  const auto program = program_of(here_, layers);
  const plan::GraphPlan plan = plan_of(*program, there_);
  ASSERT_EQ(plan.devices.size(), 2u);
  const plan::DevicePlan& device = plan.fullest();
  EXPECT_EQ(device.device, emulated());
  EXPECT_EQ(plan.host().arena_bytes, 0) << "all of it is on the device";
  EXPECT_GE(device.peak, device.lower_bound);
  EXPECT_EQ(device.peak, device.arena_bytes + device.outside);
  for (int i = 0; i < 2; ++i) run(*program, there_);
  memory::reset_peak(emulated());
  const int64_t before = memory::stats(emulated()).live;
  run(*program, there_);
  const int64_t measured = memory::stats(emulated()).peak - before;
  EXPECT_GE(measured, device.peak);
  EXPECT_LE(measured, device.peak + 3 * 256) << "but for what sizes are rounded to";
}

TEST_F(PlannedOnDevice, AStepAllocatesNothing) {
  Variable w(there_[1]);
  const auto code = [&](Inputs x) {
    const Tensor h = matmul(x[0], w.operand());
    w.assign_sub(matmul(transpose(x[0]), h) * Tensor(1e-4f));
    return std::vector<Tensor>{};
  };
  const std::vector<Tensor> here{here_[0]}, there{there_[0]};
  const auto program = program_of(here, code);
  ASSERT_NE(program->compiled_for(there), nullptr);
  for (int i = 0; i < 3; ++i) run(*program, there);
  memory::DeviceMemory& device = memory::memory_of(emulated());
  const int64_t allocations = device.allocations(), on_host = memory::stats().allocations;
  const int64_t committed = memory::stats(emulated()).committed;
  for (int i = 0; i < 200; ++i) run(*program, there);
  EXPECT_EQ(device.allocations(), allocations);
  EXPECT_EQ(memory::stats().allocations, on_host);
  EXPECT_EQ(memory::stats(emulated()).committed, committed);
  Variable expected(here_[1]);
  for (int i = 0; i < 203; ++i) {
    const Tensor h = matmul(here[0], expected.operand());
    expected.assign_sub(matmul(transpose(here[0]), h) * Tensor(1e-4f));
  }
  expect_same_bits(w.operand(), expected.operand());
}

/// A plan whose nodes can be looked at.
struct Planned {
  std::shared_ptr<graph::Graph> graph;
  plan::GraphPlan plan;

  Planned(const exec::Program& program, std::span<const Tensor> inputs)
      : graph(exec::specialise(program, inputs)), plan(plan::plan_graph(*graph)) {}

  /// Steps by the name of their op or special, where and how they run.
  int64_t count(std::string_view name, Device device, plan::PlannedStep::Kind kind) const {
    return std::count_if(plan.steps.begin(), plan.steps.end(), [&](const auto& step) {
      return graph::kind_of(*step.node) == name && step.device == device && step.kind == kind;
    });
  }
  int64_t count_queued(std::string_view name) const {
    return count(name, emulated(), plan::PlannedStep::Kind::queued);
  }
};

class FusedOnDevice : public PlannedOnDevice {
 protected:
  void SetUp() override {
    PlannedOnDevice::SetUp();
    if (settings::text(settings::kFusion) == "off") GTEST_SKIP() << "nothing is fused";
  }
};

TEST_F(FusedOnDevice, GroupsAndProductsAreEnqueued) {
  const auto code = [](Inputs x) {
    const Tensor h = tanh(matmul(x[0], x[1]) + x[2]);
    return std::vector{h, sum(exp(h) * h + Tensor(1.f), Ints{0})};
  };
  const auto program = program_of(here_, code);
  const Planned planned(*program, there_);
  EXPECT_EQ(planned.count_queued("matmul+fused"), 1);
  EXPECT_EQ(planned.count_queued("tanh") + planned.count_queued("exp"), 0);
  EXPECT_EQ(planned.plan.steps.size(), plan_of(*program, here_).steps.size()) << "as on the CPU";
  const std::vector<Tensor> expected = run(*program, here_);
  for (int i = 0; i < 3; ++i) {
    const std::vector<Tensor> results = run(*program, there_);
    for (size_t k = 0; k < results.size(); ++k) expect_same_bits(results[k], expected[k]);
  }
}

TEST_F(FusedOnDevice, NoGroupCrossesDevices) {
  const auto code = [](Inputs x) {
    const Tensor h = abs(x[0]) * Tensor(2.f);
    Tensor there;
    {
      const PlacementScope scope(emulated());
      there = maximum(h, Tensor(0.5f)) + Tensor(1.f);
    }
    return std::vector{there, minimum(h, Tensor(0.5f)) - Tensor(1.f)};
  };
  const std::vector<Tensor> here{here_[0]};
  const auto program = program_of(here, code);
  const Planned planned(*program, here);
  EXPECT_EQ(planned.count_queued("fused"), 1);
  for (const plan::PlannedStep& step : planned.plan.steps) {
    if (graph::kind_of(*step.node) != "fused") continue;
    for (const Tensor& t : step.node->inputs) EXPECT_EQ(t.device(), step.device);
    for (const graph::OutputInfo& out : step.node->outputs) EXPECT_EQ(out.device, step.device);
  }
  for (int i = 0; i < 3; ++i) {
    const std::vector<Tensor> results = run(*program, here);
    EXPECT_EQ(results[0].device(), emulated());
    EXPECT_TRUE(results[1].device().is_cpu());
    expect_same_bits(results[0], code(here)[0]);
    expect_same_bits(results[1], code(here)[1]);
  }
}

TEST_F(FusedOnDevice, SweepsAreOneADeviceAndLeaveOldValuesToTheirHolders) {
  Variable a(there_[2]), b(there_[2]), c(here_[2]), d(here_[2]);
  const auto code = [&](Inputs x) {
    for (Variable* v : {&a, &b, &c, &d}) v->assign_sub(x[0] * Tensor(0.5f));
    return std::vector<Tensor>{};
  };
  const std::vector<Tensor> here{here_[2]}, there{there_[2]};
  const auto program = program_of(here, code);
  const Planned planned(*program, there);
  EXPECT_EQ(planned.count_queued("sweep"), 1);
  EXPECT_EQ(planned.count("sweep", Device(), plan::PlannedStep::Kind::computing), 1);
  run(*program, there);  // until now they share their memory with what they were made of
  const void* lies = b.operand().raw_data();
  const Tensor held = a.operand(), once = here_[2] - here_[2] * Tensor(0.5f);
  run(*program, there);
  expect_same_bits(held, once);
  for (Variable* v : {&a, &b, &c, &d}) {
    expect_same_bits(v->operand(), once - here_[2] * Tensor(0.5f));
  }
  EXPECT_EQ(a.operand().device(), emulated());
  EXPECT_NE(a.operand().raw_data(), held.raw_data());
  EXPECT_EQ(b.operand().raw_data(), lies) << "written where it lies";
}

TEST_F(FusedOnDevice, ADrawIsFusedWithWhatUsesIt) {
  const auto code = [](Inputs x) {
    return std::vector{
        stateless_random_normal(Tensor::of<int32_t>({64, 128}), Tensor::of<int32_t>({1, 2})) *
            x[0] +
        x[0]};
  };
  const std::vector<Tensor> here{here_[0]}, there{there_[0]};
  const auto program = program_of(here, code);
  EXPECT_EQ(Planned(*program, there).count_queued("fused"), 1);
  for (int i = 0; i < 3; ++i) expect_same_bits(run(*program, there)[0], code(here)[0]);
}

TEST_F(PlannedOnDevice, StepsThatWereRecordedGiveWhatTheyGave) {
  // Arguments that come and go at other addresses, draws that go on, a branch of the host's.
  Variable w(there_[1]);
  const auto code = [&](Inputs x) {
    Tensor h = x[0];
    for (int i = 0; i < 3; ++i) {
      h = tanh(matmul(h, w.operand()) + x[1]);
      h = h * call("random_uniform", {Tensor::of<int32_t>({64, 128})}, {{"seed", 7}});
    }
    w.assign_sub(matmul(transpose(x[0]), h) * Tensor(1e-4f));
    return std::vector<Tensor>{h, sum(h)};
  };
  const std::vector<Tensor> here{here_[0], here_[2]};
  const auto program = program_of(here, code);
  const auto results_of = [&](bool may_record) {
    random_state::set_seed(11);
    w.assign(there_[1]);
    std::vector<std::vector<Tensor>> all;
    for (int i = 0; i < 12; ++i) {
      std::vector<Tensor> inputs;
      for (const Tensor& t : here) {
        inputs.push_back((t * Tensor(1.f + 0.1f * static_cast<float>(i))).to(emulated()));
      }
      const Tensor between =
          new_value_there(i);  // addresses differ from run to run, and come again
      static_cast<void>(between);
      std::vector<Tensor> results;
      if (may_record) {
        results = run(*program, inputs);
      } else {
        struct Nothing final : Observer {
        } static nothing;
        attach(nothing);
        results = run(*program, inputs);
        detach(nothing);
      }
      all.push_back({results[0].to(Device()), results[1].to(Device()), w.operand().to(Device())});
    }
    return all;
  };
  const auto expected = results_of(false);
  const std::vector<Tensor> there = on_device(here);
  EXPECT_EQ(program->compiled_for(there)->num_recordings(), 0u)
      << "an observer is told of each step";
  const auto given = results_of(true);
  EXPECT_GE(program->compiled_for(there)->num_recordings(), 1u);
  for (size_t i = 0; i < given.size(); ++i) {
    for (size_t k = 0; k < given[i].size(); ++k) expect_same_bits(given[i][k], expected[i][k]);
  }
}

TEST_F(PlannedOnDevice, CopiesAreStepsAndTheHostWaitsForThem) {
  // cumsum has no kernel there: it runs on the host between two steps of the device's.
  const auto code = [](Inputs x) {
    const Tensor sums = call("cumsum", {tanh(x[0])}, {{"axis", 0}});
    return std::vector{sums * x[0]};
  };
  const std::vector<Tensor> here{here_[0]}, there{there_[0]};
  const auto program = program_of(here, code);
  const PlanReport report = explain::plan_report(*program, there, "f");
  ASSERT_EQ(report.copies.size(), 2u);
  EXPECT_EQ(report.copies[0].from, "emulated:0");
  EXPECT_EQ(report.copies[0].to, "cpu:0");
  EXPECT_EQ(report.copies[1].op, "cumsum");
  EXPECT_NE(report.to_string().find("2 copies between devices:"), std::string::npos);
  for (int i = 0; i < 3; ++i) expect_same_bits(run(*program, there)[0], code(here)[0]);
  const bool before = set_soft_placement(false);
  EXPECT_THROW(explain::plan_report(*program, there, "f"), InvalidArgumentError);
  set_soft_placement(before);
}

TEST_F(PlannedOnDevice, ScopesInAndAroundAFunction) {
  const auto code = [](Inputs x) {
    const Tensor h = x[0] * Tensor(2.f);
    const PlacementScope scope(emulated());
    return std::vector{h, h + Tensor(1.f)};
  };
  const std::vector<Tensor> here{here_[0]};
  const auto program = program_of(here, code);
  for (int i = 0; i < 3; ++i) {
    const std::vector<Tensor> results = run(*program, here);
    EXPECT_TRUE(results[0].device().is_cpu());
    EXPECT_EQ(results[1].device(), emulated());
    expect_same_bits(results[1], code(here)[1]);
  }
  const PlacementScope around(emulated());
  EXPECT_EQ(run(*program, here)[0].device(), emulated());
}

TEST_F(PlannedOnDevice, CountersAreComparedOnTheHost) {
  const PlacementScope around(emulated());
  EXPECT_TRUE(less(Tensor(1), Tensor(2)).device().is_cpu());
  EXPECT_TRUE(call("logical_not", {less(Tensor(1), Tensor(2))}).device().is_cpu());
  EXPECT_EQ(less(Tensor(1.f), Tensor(2.f)).device(), emulated());
  EXPECT_EQ(less(Tensor(1), Tensor(2).to(emulated())).device(), emulated());
}

TEST_F(PlannedOnDevice, WorkThatFailsInAQueueIsToldToWhoeverWaits) {
  const auto code = [](Inputs x) {
    const Tensor rows = gather(x[0], x[1]);
    return std::vector{sum(rows * rows), tanh(x[0])};
  };
  const std::vector<Tensor> good{here_[0], Tensor::of<int32_t>({1, 2})};
  const std::vector<Tensor> bad{here_[0], Tensor::of<int32_t>({1, 999})};
  const auto program = program_of(good, code);
  const std::vector<Tensor> given = on_device(good), wrong = on_device(bad);
  run(*program, given);
  const std::vector<Tensor> failed = run(*program, wrong);
  EXPECT_THROW(memory::wait_for(emulated()), InvalidArgumentError);
  expect_same_bits(failed[1], code(good)[1]);
  expect_same_bits(run(*program, given)[0], code(good)[0]);
}

TEST_F(PlannedOnDevice, APlanThatDoesNotFitIsRefusedBeforeItRuns) {
  const auto code = [](Inputs x) {
    std::vector<Tensor> kept;
    Tensor h = x[0];
    for (int i = 0; i < 6; ++i) kept.push_back(h = tanh(matmul(h, x[1])));
    for (const Tensor& t : kept) h = matmul(h, t);
    return std::vector{sum(h)};
  };
  const std::vector<Tensor> here{counted({512, 512}), counted({512, 512})};  // 1 MiB each
  const std::vector<Tensor> there = on_device(here);
  const auto program = program_of(here, code);
  const int64_t old = memory::set_limit(MiB(4), emulated());
  try {
    run(*program, there);
    ADD_FAILURE() << "a product needs three values of 1 MiB beside the arguments";
  } catch (const ResourceExhaustedError& error) {
    EXPECT_NE(std::string(error.what()).find("limit of emulated:0 leaves"), std::string::npos)
        << error.what();
  }
  EXPECT_NO_THROW(run(*program, here)) << "the CPU has room";
  const PlanReport asked = explain::plan_report(*program, there, "f");  // what it would need
  EXPECT_EQ(asked.device, "emulated:0");
  EXPECT_GT(asked.peak, MiB(2));
  EXPECT_NE(asked.over_limit.find("limit of emulated:0 leaves"), std::string::npos);
  EXPECT_NE(asked.to_string().find("no run can have it"), std::string::npos);
  memory::set_limit(old, emulated());
  // 8 MiB are there, 2 of them taken: steps are done twice, and the bits are the same.
  EXPECT_GT(plan_of(*program, there).on(emulated()).peak, MiB(6));
  EXPECT_GT(explain::plan_report(*program, there, "f").repeated, 0);
  expect_same_bits(run(*program, there)[0], code(here)[0]);
}

TEST_F(PlannedOnDevice, BranchesAndLoopsRunThere) {
  const auto code = [](Inputs x) {
    const Tensor large = cond(
        greater(sum(x[0]), Tensor(0.f)), [&] { return tanh(x[0]) * Tensor(2.f); },
        [&] { return x[0] - Tensor(1.f); });
    std::vector<Tensor> rounds =
        while_loop([](std::span<const Tensor> v) { return less(v[0], Tensor(int32_t{3})); },
                   [&](std::span<const Tensor> v) {
                     return std::vector{v[0] + Tensor(int32_t{1}), matmul(v[1], x[1]) + x[2]};
                   },
                   {Tensor(int32_t{0}), large});
    return std::vector{rounds[1]};
  };
  const auto program = program_of(here_, code);
  ASSERT_NE(program->compiled_for(there_), nullptr);
  const Tensor expected = run(*program, here_)[0];  // by the same fused programs
  for (int i = 0; i < 3; ++i) {
    const Tensor result = run(*program, there_)[0];
    EXPECT_EQ(result.device(), emulated());
    expect_same_bits(result, expected);
  }
}

}  // namespace
}  // namespace tidemark
