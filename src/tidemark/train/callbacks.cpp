#include <tidemark/checkpoint.h>
#include <tidemark/train.h>

#include <limits>

#include "tidemark/train/events.h"

namespace tidemark::train {

namespace {

double monitored(const Run& run, const std::string& name) {
  const auto found = run.logs.find(name);
  if (found != run.logs.end()) return found->second;
  std::string known;
  for (const auto& [other, value] : run.logs) known += (known.empty() ? "" : ", ") + other;
  fail("[early_stopping] there is no number \"", name, "\"; there are: ", known);
}

class EarlyStopping {
 public:
  explicit EarlyStopping(EarlyStoppingOptions options) : options_(std::move(options)) {
    const std::string& mode = options_.mode;
    if (mode != "auto" && mode != "min" && mode != "max") {
      fail("[early_stopping] `mode` is \"auto\", \"min\" or \"max\". Received: \"", mode, "\"");
    }
    const std::string_view name = options_.monitor;
    // Keras knows for each metric whether more is better; these are the ones where it is.
    grows_ = mode == "max" ||
             (mode == "auto" &&
              (name.ends_with("accuracy") || name.ends_with("acc") || name.ends_with("auc") ||
               name.ends_with("precision") || name.ends_with("recall")));
    begin();
  }

  void begin() {
    waited_ = 0;
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    best_ = grows_ ? -kInfinity : kInfinity;
    best_weights_.clear();
  }
  void look(Run& run) {
    if (run.epoch < options_.start_from_epoch) return;
    const double now = monitored(run, options_.monitor);
    if (options_.restore_best_weights && best_weights_.empty()) keep(run);
    ++waited_;
    if (is_better(now, best_)) {
      best_ = now;
      if (options_.restore_best_weights) keep(run);
      // What is no better than the baseline does not count.
      if (!options_.baseline || is_better(now, *options_.baseline)) waited_ = 0;
      return;
    }
    if (waited_ >= options_.patience && run.epoch > 0) run.stops = true;
  }
  void end() {
    for (auto& [variable, value] : best_weights_) variable.assign(value);
    best_weights_.clear();
  }

 private:
  bool is_better(double now, double than) const {
    return grows_ ? now - options_.min_delta > than : now + options_.min_delta < than;
  }
  void keep(const Run& run) {
    best_weights_.clear();
    for (const auto& [name, variable] : run.model.named_variables()) {
      best_weights_.emplace_back(variable, variable.value());
    }
  }

  EarlyStoppingOptions options_;
  bool grows_ = false;
  int64_t waited_ = 0;
  double best_ = 0;
  std::vector<std::pair<Variable, Tensor>> best_weights_;
};

/// An optimizer behind its base, as a checkpoint takes it.
struct SavedOptimizer final : optimizers::Optimizer {
  explicit SavedOptimizer(const optimizers::Optimizer& of) : Optimizer(of) {}

 protected:
  void update(Variable, const Tensor&, const Tensor&, const Tensor&) const override {}
};

}  // namespace

Callback early_stopping(EarlyStoppingOptions options) {
  auto state = std::make_shared<EarlyStopping>(std::move(options));
  Callback out;
  out.on_train_begin = [state](Run&) { state->begin(); };
  out.on_epoch_end = [state](Run& run) { state->look(run); };
  out.on_train_end = [state](Run&) { state->end(); };
  return out;
}

Callback checkpoints(std::string folder, CheckpointsOptions options) {
  auto manager = std::make_shared<std::optional<CheckpointManager>>();
  Callback out;
  out.on_train_begin = [=](Run& run) {
    run.optimizer->build(run.model.parameters());
    manager->emplace(
        Checkpoint({{"model", run.model}, {"optimizer", SavedOptimizer(*run.optimizer)}}), folder,
        CheckpointManagerOptions{.max_to_keep = options.max_to_keep});
    if (options.resume) (*manager)->restore_latest();
  };
  out.on_epoch_end = [manager](Run&) { (*manager)->save(); };
  return out;
}

Callback tensorboard(std::string folder) {
  auto files = std::make_shared<std::map<std::string, EventFile>>();
  Callback out;
  out.on_epoch_end = [files, folder = std::move(folder)](Run& run) {
    constexpr std::string_view kOfValidation = "val_";
    for (const auto& [name, value] : run.logs) {
      const bool validates = name.starts_with(kOfValidation);
      const std::string part = validates ? "/validation" : "/train";
      EventFile& file = files->try_emplace(part, folder + part).first->second;
      file.add("epoch_" + (validates ? name.substr(kOfValidation.size()) : name), value, run.epoch);
    }
  };
  return out;
}

}  // namespace tidemark::train
