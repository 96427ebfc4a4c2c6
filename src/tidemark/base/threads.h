// Threads of the library's own: started with a typed error where the system has none left, and
// waited for in a way that Ctrl-C ends.
//
//   std::thread maker = start_thread("a pipeline", [&] { make(); });
//   wait_stoppably(changed, lock, [&] { return is_made; });
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "tidemark/base/attached.h"
#include "tidemark/base/interrupt.h"

namespace tidemark {

/// Throws ResourceExhaustedError, with `advice` at its end.
template <class Thread = std::thread, class Body>
Thread start_thread(std::string_view whose, Body body,
                    std::string_view advice = "use fewer at the same time") {
  try {
    return Thread(std::move(body));
  } catch (const std::system_error& error) {
    fail<ResourceExhaustedError>("cannot start a thread of ", whose, ": ", error.what(),
                                 ". Let the user or the container have more threads, or ", advice);
  }
}

/// How many forks lie between this process and the one that asked first. Threads, and what they
/// held, are of the process they were started in.
uint64_t forks_so_far() noexcept;

/// For a thread of ours: the front end's interrupt, due once the flag is set.
inline Interrupt cancelled_by(const std::atomic<bool>& flag) {
  Interrupt out = front_end().interrupt ? *front_end().interrupt : Interrupt{};
  out.is_cancelled = &flag;
  return out;
}

/// As told.wait(lock, holds). Throws what check_interrupt() does, soon after it is due.
template <class Condition>
void wait_stoppably(std::condition_variable& told, std::unique_lock<std::mutex>& lock,
                    Condition holds) {
  if (!thread_interrupt) return told.wait(lock, holds);
  constexpr std::chrono::milliseconds kLookEvery{20};
  while (!told.wait_for(lock, kLookEvery, holds)) {
    lock.unlock();
    check_interrupt();
    lock.lock();
  }
}

}  // namespace tidemark
