// WaitingJobs: requests that wait for a slot, in a line for each version of a model. Lines take
// turns, so that many requests to one model do not hold up those to another.
//
//   waiting.push(std::move(job));
//   Job next = waiting.pop();            // of the line whose turn it is
//   waiting.take_fitting(…);             // more of the same line
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "tidemark/serve/servable.h"

namespace tidemark::serve {

struct Result {
  std::vector<Tensor> outputs;
  std::exception_ptr error;
};

/// One request on its way through a model.
struct Job {
  std::shared_ptr<const Servable> servable;
  const SignatureSpec* signature = nullptr;
  std::vector<Tensor> inputs;
  Clock::time_point arrived, deadline;
  /// True: whoever asked has gone. May be empty.
  std::function<bool()> is_gone;
  /// Called once, from any thread, unless submit throws.
  std::function<void(Result&&)> done;

  size_t bytes = 0;
  int64_t rows = -1;  // -1: it is not put together with others
};

class WaitingJobs {
 public:
  bool empty() const { return lines_.empty(); }
  size_t size() const { return size_; }
  size_t bytes() const { return bytes_; }

  void push(Job job);
  /// The one that pop gives next.
  const Job& front() const { return lines_.front().front(); }
  Job pop();
  void move_front_to(WaitingJobs& others);
  /// Moves those of its line that the function picks behind `to`, first come first.
  void take_fitting(const Servable* servable, std::vector<Job>& to,
                    const std::function<bool(const Job&)>& fits);

 private:
  using Line = std::list<Job>;  // none is empty
  std::list<Line>::iterator line_of(const Servable* servable);
  Job taken(Job& from);
  void add_first_of(Line& from);
  void end_turn();

  std::list<Line> lines_;  // the first one's turn is next
  size_t size_ = 0, bytes_ = 0;
};

}  // namespace tidemark::serve
