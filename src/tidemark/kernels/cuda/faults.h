// Faults: what kernels find wrong in the values they read, told to the host.
//
// A kernel cannot throw. It writes what it found into a few words of host memory that the GPU
// writes by itself, and goes on with a result of no meaning; who next waits for the stream finds
// them and throws. The first fault is told, those behind it are not: kernels run in order, and of
// one kernel's any may be it.
#pragma once

#include <tidemark/op.h>

#include <mutex>
#include <vector>

#include "tidemark/kernels/cuda/context.h"

namespace tidemark::cuda {

enum class FaultKind : uint8_t {
  division_by_zero,
  negative_power,
  index,
  segment,
  label,
  not_positive,
  singular,
  zero_diagonal,
  length,
};

class Faults {
 public:
  explicit Faults(const Context& context) : context_(context) {}
  ~Faults();
  Faults(const Faults&) = delete;

  /// As kernels are given it: where to write, and what. With the context pushed; throws what the
  /// driver refuses.
  struct Word {
    uint64_t address, code;
  };
  Word word(const OpDef& op, FaultKind kind);

  /// Throws InvalidArgumentError for what work that has been waited for found, once.
  void check();

 private:
  /// As device/indexing.h has it.
  struct Found {
    uint64_t code;  // 0: nothing is wrong
    int64_t value, limit;
  };

  const Context& context_;
  std::mutex mutex_;
  Found* found_ = nullptr;  // pinned; null: no kernel has asked yet
  std::vector<const OpDef*> ops_;
};

}  // namespace tidemark::cuda
