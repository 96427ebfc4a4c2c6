// Threads of the server: where the system has none left, that is said.
#pragma once

#include <utility>
#include <vector>

#include "tidemark/base/threads.h"

namespace tidemark::serve {

template <class Body>
void add_thread(std::vector<std::jthread>& threads, Body body) {
  threads.push_back(start_thread<std::jthread>("the server", std::move(body),
                                               "ask for fewer (--slots, --threads)"));
}

}  // namespace tidemark::serve
