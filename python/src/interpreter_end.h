// The end of the interpreter, for threads that are still at work.
//
// Until Python 3.13 a thread that asks for the interpreter's lock while that goes down is ended by
// pthread_exit, which unwinds its stack: through noexcept functions (the process aborts) and
// through destructors that touch Python without its lock. Such a thread sleeps instead, as it does
// from Python 3.14 on: the process ends around it.
#pragma once

#include <cxxabi.h>

namespace tidemark::python {

[[noreturn]] void sleep_until_the_end() noexcept;

/// Runs `ask`, which may ask for the interpreter's lock.
template <class Ask>
auto unless_at_end(Ask&& ask) -> decltype(ask()) {
  try {
    return ask();
  } catch (const abi::__forced_unwind&) {
    sleep_until_the_end();
  }
}

}  // namespace tidemark::python
