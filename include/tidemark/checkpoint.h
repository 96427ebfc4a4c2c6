// Checkpoints, as tf.train.Checkpoint writes and reads them: values of variables, under the names
// of what holds them.
//
//   td::Checkpoint checkpoint({{"model", model}, {"optimizer", adam}, {"epoch", epoch}});
//   checkpoint.save("run/ckpt-1");                 // run/ckpt-1.index, run/ckpt-1.data-…
//   checkpoint.restore("run/ckpt-1");
//
//   td::CheckpointManager manager(checkpoint, "run", {.max_to_keep = 3});
//   bool goes_on = manager.restore_latest();       // false: there is none yet
//   manager.save();                                // run/ckpt-2; the oldest goes
//
// Files are there as a whole or not at all. A checkpoint that does not fit, or is damaged, changes
// nothing.
#pragma once

#include <tidemark/module.h>
#include <tidemark/optimizers.h>

#include <concepts>
#include <functional>
#include <string>
#include <vector>

namespace tidemark {

/// What a checkpoint holds under a name: a module, an optimizer or a variable.
class TIDEMARK_API CheckpointPart {
 public:
  CheckpointPart(std::string name, const nn::Module& module);
  CheckpointPart(std::string name, const Variable& variable);
  template <std::derived_from<optimizers::Optimizer> O>
  CheckpointPart(std::string name, const O& optimizer)
      : CheckpointPart(std::move(name), [optimizer] { return numbered(optimizer.variables()); }) {}

  const std::string& name() const { return name_; }
  /// As they are now: an optimizer has more after its first step.
  std::vector<nn::NamedVariable> variables() const { return variables_(); }

 private:
  using Variables = std::function<std::vector<nn::NamedVariable>()>;
  CheckpointPart(std::string name, Variables variables);
  static std::vector<nn::NamedVariable> numbered(const std::vector<Variable>& all);

  std::string name_;
  Variables variables_;
};

class TIDEMARK_API Checkpoint {
 public:
  /// Throws InvalidArgumentError where a name is there twice, is empty or has a dot or a slash.
  explicit Checkpoint(std::vector<CheckpointPart> parts);

  /// Writes `prefix`.index and its data; folders are made.
  void save(const std::string& prefix) const;
  /// Gives every variable the value that was saved for it. Throws NotFoundError where there is no
  /// checkpoint or it has no such variable, InvalidArgumentError for another dtype or shape, and an
  /// error of Code::data_loss where it is damaged; no variable has changed then. An optimizer needs
  /// a step before, or build().
  void restore(const std::string& prefix) const;

 private:
  std::vector<nn::NamedVariable> variables() const;

  std::vector<CheckpointPart> parts_;
};

struct CheckpointManagerOptions {
  int64_t max_to_keep = 5;  // 0: all
  std::string name = "ckpt";
};

/// Numbered checkpoints in a folder, of which the newest stay; tf.train.latest_checkpoint finds
/// them. One writer a folder.
class TIDEMARK_API CheckpointManager {
 public:
  CheckpointManager(Checkpoint checkpoint, std::string folder,
                    CheckpointManagerOptions options = {});

  /// Saves the next one and removes those that are too many. The prefix it has.
  std::string save();
  /// False: there is none, and nothing was done.
  bool restore_latest() const;
  /// Prefixes, the newest last.
  const std::vector<std::string>& checkpoints() const { return kept_; }

 private:
  void write_list() const;

  Checkpoint checkpoint_;
  std::string folder_;
  CheckpointManagerOptions options_;
  std::vector<std::string> kept_;
  int64_t last_number_ = 0;
};

/// The prefix of the newest checkpoint that a manager, or tf.train.CheckpointManager, wrote in the
/// folder; empty: none.
TIDEMARK_API std::string latest_checkpoint(const std::string& folder);

}  // namespace tidemark
