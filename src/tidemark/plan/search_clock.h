// The clock by which searches for better plans end: the time that this thread has computed.
#pragma once

#include <ctime>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace tidemark::plan {

/// What else the machine does must not decide how good a plan is, so time in which the thread waits
/// for a core does not count.
struct SearchClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<SearchClock>;
  static constexpr bool is_steady = true;

  static time_point now() noexcept {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time_point(std::chrono::seconds(time.tv_sec) + duration(time.tv_nsec));
  }
};

using Deadline = SearchClock::time_point;

inline Deadline deadline_in(double seconds) {
  const double bounded = std::isnan(seconds) ? 0 : std::clamp(seconds, 0.0, 1e8);
  return SearchClock::now() +
         std::chrono::duration_cast<SearchClock::duration>(std::chrono::duration<double>(bounded));
}

}  // namespace tidemark::plan
