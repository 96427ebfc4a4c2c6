// What a stream was asked to do last, for the words of an error: a kernel that reads where nothing
// is ends all work of its context, and CUDA does not say whose it was.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "tidemark/memory/site.h"

namespace tidemark::cuda {

/// Under the stream's lock, but for words().
class RecentWork {
 public:
  struct One {
    uint64_t number = 0;    // in the order of the stream
    const char* name = "";  // in static storage
    std::shared_ptr<const memory::Site> place;
  };
  using All = std::array<One, 64>;

  void add(uint64_t number, const char* name, std::shared_ptr<const memory::Site> place) {
    all_[number % all_.size()] = {number, name, std::move(place)};
  }
  const All& all() const { return all_; }

 private:
  All all_;
};

/// " One of these failed: matmul at train.py:12, …": what came behind a moment of the stream, the
/// last first, each line once. Asks the front end, with no lock held.
std::string words_for(const RecentWork::All& work, uint64_t behind);

}  // namespace tidemark::cuda
