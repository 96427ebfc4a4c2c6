#include "tidemark/train/progress.h"

#include <unistd.h>

#include <cstdio>
#include <ostream>

namespace tidemark::train {

Progress::Progress(std::optional<std::ostream*> out, int64_t epochs)
    : out_(out.value_or(nullptr)),
      is_shown_(!out.has_value() || *out),
      is_terminal_(!out.has_value() && ::isatty(STDOUT_FILENO) != 0),
      epochs_(epochs) {}

/// Without std::cout, whose header has every program that loads the library set up all streams and
/// locales.
void Progress::print(const std::string& text) const {
  if (out_) {
    *out_ << text << std::flush;
  } else if (is_shown_) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }
}

void Progress::begin(int64_t epoch, int64_t steps) const {
  steps_ = steps;
  began_ = drawn_ = Clock::now();
  print(message("Epoch ", epoch + 1, "/", epochs_, "\n"));
}

std::string Progress::line(int64_t done, const Logs& logs) const {
  constexpr int64_t kWidth = 20;
  std::string out = std::to_string(done);
  if (steps_ >= 0) {
    const int64_t filled = steps_ == 0 ? kWidth : std::min(kWidth, done * kWidth / steps_);
    out += "/" + std::to_string(steps_) + " ";
    for (int64_t i = 0; i < kWidth; ++i) out += i < filled ? "━" : "─";
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - began_).count();
  char text[64];
  std::snprintf(text, sizeof(text), " %.1fs %.2fms/step", seconds,
                done > 0 ? 1000 * seconds / static_cast<double>(done) : 0);
  out += text;
  for (const auto& [name, value] : logs) {
    std::snprintf(text, sizeof(text), "%.4f", value);
    out += " - " + name + ": " + text;
  }
  return out;
}

void Progress::advance(int64_t done, const std::function<void(Logs&)>& numbers) const {
  constexpr auto kPause = std::chrono::milliseconds(250);
  if (!is_terminal_ || Clock::now() - drawn_ < kPause) return;
  drawn_ = Clock::now();
  Logs logs;
  numbers(logs);
  print("\r\x1b[K" + line(done, logs));
}

void Progress::end(int64_t done, const Logs& logs) const {
  if (!is_shown_) return;
  steps_ = done;
  print((is_terminal_ ? "\r\x1b[K" : "") + line(done, logs) + "\n");
}

}  // namespace tidemark::train
