// Stretch: neighbouring steps of an executable that one device does, and what was recorded of them.
//
// What its kernels do depends on addresses alone, and on few values on the host. In steady state
// the addresses are the same in each run, or one of a few sets: work that was the same before is
// recorded, and then enqueued as a whole.
//
//   if (auto work = stretch.recordings->find(key)) return stream.run(*work, changed);
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "tidemark/base/backend.h"
#include "tidemark/kernels/queued_kernel.h"

namespace tidemark::exec {

/// Where a run has what its kernels read and write: arenas first, then operands.
using Addresses = std::vector<const void*>;

class Recordings {
 public:
  /// Null: not recorded, or not with these addresses.
  std::shared_ptr<const RecordedWork> find(const Addresses& key);
  /// The same work was done before, and is worth recording now. Says so once.
  bool is_due(const Addresses& key);
  void add(const Addresses& key, std::shared_ptr<const RecordedWork> work);
  /// The addresses keep changing: nobody need ask.
  bool is_hopeless() const;
  /// What is recorded.
  size_t count() const;

 private:
  static constexpr size_t kMost = 4;        // sets of addresses
  static constexpr int kSeenBefore = 2;     // times, until it is recorded
  static constexpr int kMostMisses = 1000;  // in a row

  struct Known {
    Addresses key;
    std::shared_ptr<const RecordedWork> work;
    int seen = 0;
    uint64_t last_use = 0;
  };
  Known* known(const Addresses& key);

  mutable std::mutex mutex_;
  std::vector<Known> all_;
  uint64_t uses_ = 0;
  int misses_ = 0;
};

struct Stretch {
  /// An operand of a kernel, as the executable refers to it.
  struct Place {
    uint32_t kernel = 0;
    bool is_output = false;
    uint32_t index = 0;
    int32_t ref = 0;
    bool is_in_key = false;  // else it lies in an arena, or is a constant, or on the host
  };
  uint32_t first = 0, count = 0;  // steps
  Device device;
  std::vector<uint32_t> steps;        // of the kernels
  std::vector<QueuedKernel> kernels;  // without addresses
  std::vector<Place> places;          // in the order of the steps, inputs before outputs
  std::vector<uint32_t> changing;     // kernels that read other values on the host each time
  std::unique_ptr<Recordings> recordings = std::make_unique<Recordings>();

  size_t bytes() const;
};

}  // namespace tidemark::exec
