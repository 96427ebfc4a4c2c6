#include "tidemark/kernels/cuda/timings.h"

#include <tidemark/error.h>

#include <exception>
#include <utility>

namespace tidemark::cuda {

namespace {

/// After so long the two clocks are compared again, for which the host waits.
constexpr uint64_t kLongestBase = 1'000'000'000;

/// Pieces whose times are not told yet; the host waits for the first of more.
constexpr size_t kMostPending = 1024;

}  // namespace

void Timings::begin(Handle stream) noexcept {
  began_ = nullptr;
  try {
    if (!base_ || observers_time() - base_->host > kLongestBase) {
      auto base = std::make_shared<Base>();
      base->event = std::make_shared<const Event>(events_, stream);
      base->event->await();
      base->host = observers_time();
      base_ = std::move(base);
    }
    began_ = std::make_shared<const Event>(events_, stream);
  } catch (const std::exception&) {  // it is not timed; what the driver said comes with a wait
  }
}

void Timings::end(Handle stream, TimedWork piece) noexcept {
  if (!began_) return;
  try {
    auto ended = std::make_shared<const Event>(events_, stream);
    pending_.push_back({std::move(piece), base_, std::move(began_), std::move(ended)});
    if (pending_.size() > kMostPending) pending_.front().ended->await();
  } catch (const std::exception&) {
  }
}

std::vector<TimedWork> Timings::take_finished() noexcept {
  std::vector<TimedWork> out;
  try {
    while (!pending_.empty() && pending_.front().ended->has_come()) {
      Pending& first = pending_.front();
      const auto until = between(*first.base->event, *first.began);
      const auto took = between(*first.began, *first.ended);
      if (until && took) {
        first.piece.work.began = first.base->host + *until;
        first.piece.work.nanoseconds = *took;
        out.push_back(std::move(first.piece));
      }
      pending_.pop_front();
    }
  } catch (const std::exception&) {
  }
  return out;
}

std::optional<uint64_t> Timings::between(const Event& earlier, const Event& later) const noexcept {
  float milliseconds = 0;
  const Driver& driver = events_.context().driver();
  if (driver.elapsed(&milliseconds, earlier.handle(), later.handle()) != kDone) return std::nullopt;
  return static_cast<uint64_t>(static_cast<double>(milliseconds) * 1e6);
}

}  // namespace tidemark::cuda
