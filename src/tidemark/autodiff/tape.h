// Tape: records the ops that watched tensors go through, and walks them backwards.
//
//   Tape tape;
//   {
//     HandlerScope scope(tape);
//     tape.watch(x);
//     y = x * x;
//   }
//   Adjoint dx = tape.gradient({y}, {id_of(x)})[0];
#pragma once

#include <tidemark/call.h>

#include <deque>
#include <memory>
#include <vector>

#include "tidemark/autodiff/adjoint.h"
#include "tidemark/autodiff/id_map.h"

namespace tidemark::autodiff {

/// A gradient given by the user instead of an op's definition.
class TIDEMARK_API CustomBackward {
 public:
  virtual ~CustomBackward() = default;
  /// One gradient each output in, one each input out; empty: none.
  virtual std::vector<Adjoint> run(std::span<const Tensor> dy) = 0;
};

struct TapeOptions {
  bool persistent = false;
  bool watch_accessed_variables = true;
  /// Notes which variables are read and records nothing.
  bool only_variables = false;
};

/// One thread at a time.
class TIDEMARK_API Tape final : public Handler {
 public:
  explicit Tape(TapeOptions options = {}) : options_(options) {}

  void watch(const Tensor& t);
  void watch_id(uint64_t id);
  bool is_watched(const Tensor& t) const;

  bool is_watched(uint64_t id) const { return ids_.find(id) >= 0; }

  void handle(const OpCall& call, std::span<Tensor> outputs) override;
  /// Records an op called elsewhere, if any of its inputs is watched.
  void note(const OpCall& call, std::span<const Tensor> outputs);
  /// Records a step made elsewhere, if any of its inputs is watched.
  bool record(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
              const std::shared_ptr<CustomBackward>& backward) override;

  /// The gradients of the sum of all elements of the targets, each weighted with its element of
  /// `seeds` (one each target, or none; an empty seed: ones). Empty where nothing connects. Unless
  /// persistent, what was recorded is released on the way and the tape can be asked once.
  std::vector<Adjoint> gradient(std::span<const Tensor> targets, std::span<const uint64_t> sources,
                                std::span<const Tensor> seeds) {
    return gradient(targets, sources, seeds, {});
  }
  /// With the sources themselves, where they are tensors: needed where the answer is left to the
  /// run of a graph being built.
  std::vector<Adjoint> gradient(std::span<const Tensor> targets, std::span<const uint64_t> sources,
                                std::span<const Tensor> seeds,
                                std::span<const Tensor> source_tensors);

  /// Between the two, gradient() may be called several times; after the last, a tape that is not
  /// persistent is used up.
  void begin_many() { options_.persistent = true; }
  void end_many(bool persistent);

  void reset();
  bool is_persistent() const { return options_.persistent; }
  bool is_used_up() const { return used_up_; }
  bool is_recording() const { return recording_; }
  void set_recording(bool on) { recording_ = on; }
  /// Ids of the trainable variables that ops have read, in order.
  const std::vector<uint64_t>& accessed_variables() const { return accessed_; }
  /// Bytes of the tensors that the recorded steps keep; a buffer kept twice counts once.
  int64_t kept_bytes() const;
  size_t num_entries() const { return entries_.size(); }

  struct Entry {
    const OpDef* op = nullptr;  // null: custom
    std::shared_ptr<CustomBackward> custom;
    uint32_t num_inputs = 0;
    std::vector<Tensor> tensors;  // inputs, then outputs: kept, or shape and dtype alone
    std::vector<int32_t> slots;   // likewise; -1: no gradient passes here
    std::vector<Attr> attrs;
    uint64_t labelled = 0;  // bit i: tensors[i]'s buffer is listed as the tape's because of this

    Entry() = default;
    Entry(Entry&&) = default;
    Entry& operator=(Entry&&) = default;
    ~Entry() {
      if (labelled) unlabel();
    }
    /// Lists the buffers kept, unless they are a variable's or another tape's, as kept by a tape.
    void label();
    void unlabel() noexcept;

    std::span<const Tensor> inputs() const { return {tensors.data(), num_inputs}; }
    std::span<const Tensor> outputs() const {
      return std::span<const Tensor>(tensors).subspan(num_inputs);
    }
    std::span<const int32_t> input_slots() const { return {slots.data(), num_inputs}; }
    std::span<const int32_t> output_slots() const {
      return std::span<const int32_t>(slots).subspan(num_inputs);
    }
  };
  const std::deque<Entry>& entries() const { return entries_; }
  /// False: no step in entries() is a custom one.
  bool may_have_custom() const { return may_have_custom_; }

 private:
  int32_t slot_of(const Tensor& t);
  int32_t add_slot(uint64_t id);
  void add_outputs(Entry& entry, std::span<const Tensor> outputs, uint32_t keep);
  bool begin_entry(const OpCall& call, size_t num_outputs, Entry& entry);
  void end_entry(Entry&& entry, std::span<const Tensor> outputs);

  TapeOptions options_;
  bool recording_ = true;
  bool used_up_ = false;
  bool may_have_custom_ = false;
  IdMap ids_;
  int32_t num_slots_ = 0;
  std::deque<Entry> entries_;
  std::vector<uint64_t> accessed_;
};

/// A question about a graph being built that only its run can answer: sizes are unknown, or the way
/// leads through a branch or a loop.
struct Question {
  std::span<const Tensor> targets;
  std::span<const uint64_t> sources;
  std::span<const Tensor> source_tensors;  // empty handles: variables
  std::span<const Tensor> seeds;
  std::vector<bool> connected;  // by source
};
/// While on the stack, the tapes and accumulators below it see nothing.
class TIDEMARK_API RecordingPause final : public Handler {
 public:
  void handle(const OpCall& call, std::span<Tensor> outputs) override;
  bool record(std::span<const Tensor>, std::span<const Tensor>,
              const std::shared_ptr<CustomBackward>&) override {
    return false;
  }
};

/// Whether recorders on this thread may record just now.
bool is_recording_paused() noexcept;

/// Tells this thread's handlers, the top one first, of a step with a gradient of its own.
TIDEMARK_API void record_custom(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                                const std::shared_ptr<CustomBackward>& backward);

/// Runs the gradient of one recorded step: one adjoint each input. Bit i of `wanted`: input i. The
/// step may take what it likes out of `dy`. `gives_up_dy`: it may be written over where nobody else
/// shares it.
TIDEMARK_API std::vector<Adjoint> run_backward(const Tape::Entry& entry, std::span<Tensor> dy,
                                               uint64_t wanted, bool gives_up_dy = false);

}  // namespace tidemark::autodiff
