#include <gtest/gtest.h>
#include <tidemark/checkpoint.h>
#include <tidemark/create.h>
#include <tidemark/layers.h>
#include <tidemark/memory.h>
#include <tidemark/sequential.h>

#include <filesystem>
#include <fstream>

namespace tidemark {
namespace {

class Checkpoints : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        (std::filesystem::temp_directory_path() / ("checkpoints_" + std::to_string(::getpid())))
            .string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
};

/// A model that was called, and an optimizer that has taken a step of all ones.
struct Trained {
  nn::Sequential model{nn::Dense(3, {.activation = "relu"}), nn::Dense(2)};
  optimizers::Adam adam;
  Variable epoch{Tensor(int64_t{0})};

  explicit Trained(int steps) {
    model(zeros({1, 4}));
    for (int i = 0; i < steps; ++i) step();
  }
  void step() {
    std::vector<Tensor> gradients;
    for (const Variable& one : model.parameters()) gradients.push_back(ones(one.shape()));
    adam.apply(gradients, model.parameters());
    epoch.assign_add(Tensor(int64_t{1}));
  }
  Checkpoint checkpoint() const {
    return Checkpoint({{"model", model}, {"optimizer", adam}, {"epoch", epoch}});
  }
  std::string text() const {
    std::string out;
    for (const auto& one : model.named_variables()) out += one.variable.value().to_string();
    for (const Variable& one : adam.variables()) out += one.value().to_string();
    return out + epoch.value().to_string();
  }
};

TEST_F(Checkpoints, TrainingGoesOnAsIfItHadNotEnded) {
  Trained one(3), other(0);
  one.checkpoint().save(path("ckpt-1"));
  other.adam.build(other.model.parameters());
  other.checkpoint().restore(path("ckpt-1"));
  EXPECT_EQ(other.text(), one.text());
  one.step();
  other.step();
  EXPECT_EQ(other.text(), one.text());
}

TEST_F(Checkpoints, BuildingAnOptimizerChangesNothing) {
  Trained one(0);
  const std::string before = one.model.variable("dense.kernel").value().to_string();
  one.adam.build(one.model.parameters());
  EXPECT_EQ(one.model.variable("dense.kernel").value().to_string(), before);
  EXPECT_EQ(one.adam.iterations().value().item<int64_t>(), 0);
  EXPECT_EQ(one.adam.variables().size(), 2u + 2 * 4);
}

TEST_F(Checkpoints, WhatDoesNotFitChangesNothing) {
  const Trained one(2);
  one.checkpoint().save(path("ckpt-1"));
  Trained other(1);
  const std::string before = other.text();
  EXPECT_THROW(other.checkpoint().restore(path("none")), NotFoundError);
  const Checkpoint more({{"model", other.model}, {"other", other.epoch}});
  EXPECT_THROW(more.restore(path("ckpt-1")), NotFoundError);
  const nn::Sequential wider{nn::Dense(5), nn::Dense(2)};
  wider(zeros({1, 4}));
  EXPECT_THROW(Checkpoint({{"model", wider}}).restore(path("ckpt-1")), InvalidArgumentError);
  // One byte of the data is another.
  const std::string data = path("ckpt-1.data-00000-of-00001");
  std::fstream file(data, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(5);
  file.put('?');
  file.close();
  try {
    other.checkpoint().restore(path("ckpt-1"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::data_loss);
  }
  EXPECT_EQ(other.text(), before);
}

TEST_F(Checkpoints, AManagerKeepsTheNewest) {
  Trained one(0);
  one.adam.build(one.model.parameters());
  {
    CheckpointManager manager(one.checkpoint(), folder_, {.max_to_keep = 2});
    EXPECT_FALSE(manager.restore_latest());
    for (int i = 0; i < 3; ++i) {
      one.step();
      manager.save();
    }
    EXPECT_EQ(manager.checkpoints(), (std::vector{path("ckpt-2"), path("ckpt-3")}));
  }
  EXPECT_FALSE(std::filesystem::exists(path("ckpt-1.index")));
  EXPECT_EQ(latest_checkpoint(folder_), path("ckpt-3"));
  const std::string at_three = one.text();
  one.step();
  CheckpointManager again(one.checkpoint(), folder_);
  EXPECT_TRUE(again.restore_latest());
  EXPECT_EQ(one.text(), at_three);
  EXPECT_EQ(again.save(), path("ckpt-4"));
  EXPECT_EQ(latest_checkpoint(path("nowhere")), "");
}

TEST_F(Checkpoints, PartsNeedNamesAndSavingStaysFlat) {
  const Variable v(Tensor(1.f));
  EXPECT_THROW(Checkpoint({{"a", v}, {"a", v}}), InvalidArgumentError);
  EXPECT_THROW(Checkpoint({{"", v}}), InvalidArgumentError);
  EXPECT_THROW(Checkpoint({{"a/b", v}}), InvalidArgumentError);
  const Trained one(1);
  CheckpointManager manager(one.checkpoint(), folder_, {.max_to_keep = 1});
  const auto round = [&] {
    manager.save();
    manager.restore_latest();
  };
  round();
  const int64_t before = memory::stats().live;
  for (int i = 0; i < 10; ++i) round();
  EXPECT_EQ(memory::stats().live, before);
}

}  // namespace
}  // namespace tidemark
