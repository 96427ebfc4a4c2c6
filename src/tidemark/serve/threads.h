// Threads of the server: where the system has none left, that is said. Those that read and answer
// come first where all want a core.
#pragma once

#include <utility>
#include <vector>

#include "tidemark/base/threads.h"

namespace tidemark::serve {

/// Who gets a core first: who reads requests and runs what is quick, who runs the others, who does
/// what takes long.
enum class Urgency { at_once, soon, in_time };

/// Of this thread. Systems that refuse that leave it as it was.
void set_urgency(Urgency urgency) noexcept;

/// As the system numbers them.
int id_of_this_thread() noexcept;
/// Below all others, for good: a process without rights cannot take that back.
void lower_urgency(int thread_id) noexcept;

/// Throws ResourceExhaustedError.
template <class Body>
std::jthread started_thread(Urgency urgency, Body body) {
  const auto run = [urgency, body = std::move(body)](const std::stop_token& stop) {
    set_urgency(urgency);
    if constexpr (std::is_invocable_v<Body, std::stop_token>) {
      body(stop);
    } else {
      body();
    }
  };
  return start_thread<std::jthread>("the server", run, "ask for fewer (--slots, --threads)");
}

template <class Body>
void add_thread(std::vector<std::jthread>& threads, Urgency urgency, Body body) {
  threads.reserve(threads.size() + 1);  // one that runs and has no place would be waited for
  threads.push_back(started_thread(urgency, std::move(body)));
}

}  // namespace tidemark::serve
