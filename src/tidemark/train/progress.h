// What a training shows of itself: a bar that is redrawn on a terminal, a line an epoch elsewhere.
#pragma once

#include <tidemark/train.h>

#include <chrono>

namespace tidemark::train {

class Progress {
 public:
  Progress(std::optional<std::ostream*> out, int64_t epochs);

  bool is_shown() const { return is_shown_; }
  void print(const std::string& text) const;
  /// `steps`: how many the epoch will have; negative: nobody knows.
  void begin(int64_t epoch, int64_t steps) const;
  /// Asks for the numbers so far only where they are drawn, a few times a second.
  void advance(int64_t done, const std::function<void(Logs&)>& numbers) const;
  void end(int64_t done, const Logs& logs) const;

 private:
  using Clock = std::chrono::steady_clock;
  std::string line(int64_t done, const Logs& logs) const;

  std::ostream* out_;  // null: the standard output, or nothing
  bool is_shown_;
  bool is_terminal_;
  int64_t epochs_;
  mutable int64_t steps_ = 0;
  mutable Clock::time_point began_{}, drawn_{};
};

}  // namespace tidemark::train
