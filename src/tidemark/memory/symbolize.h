// Lines and names of machine addresses in this process.
#pragma once

#include <string>

namespace tidemark::memory {

/// "first.cpp:12 in main" where debug information is at hand, "first in main" (library and symbol)
/// where there are only symbols, and "0x55d0…" where there is nothing. `return_address` is what a
/// call returns to: the line is the call's.
std::string describe_address(const void* return_address);

/// Held across a fork.
void lock_symbols() noexcept;
void unlock_symbols() noexcept;

}  // namespace tidemark::memory
