// Iterators with threads of their own, in a process that forks.
//
//   return std::make_unique<OfThisProcess<Ahead>>(std::make_unique<Ahead>(…));
#pragma once

#include <memory>
#include <utility>

#include "tidemark/base/threads.h"
#include "tidemark/data/dataset.h"

namespace tidemark::data {

/// A child of fork has none of the threads, and what they were changing is half done there: it is
/// left alone for good, and whoever asks for more is told.
template <class Threaded>
class OfThisProcess final : public Iterator {
 public:
  explicit OfThisProcess(std::unique_ptr<Threaded> of) : of_(std::move(of)) {}
  ~OfThisProcess() override {
    if (is_left_behind()) (void)of_.release();
  }

 private:
  bool is_left_behind() const { return forks_ != forks_so_far(); }
  Threaded& here() {
    if (is_left_behind()) {
      fail<FailedPreconditionError>(
          "the iterator's threads are in the process that this one was forked from. Make an "
          "iterator of the dataset in this process");
    }
    return *of_;
  }

  bool take_next(Element& out) override { return here().take_next(out); }
  void save_state(StateWriter& to) override { here().save_state(to); }
  void restore_state(StateReader& from) override { here().restore_state(from); }

  std::unique_ptr<Threaded> of_;
  const uint64_t forks_ = forks_so_far();
};

}  // namespace tidemark::data
