// Faults of the system, drawn from a seed: calls of this program to the system's functions fail,
// are cut short or are interrupted now and then, on all threads but those that ask to be spared.
//
//   spare_this_thread();
//   start_faults(seed);
//   ... what happens now repeats from the seed, as far as the order of threads does ...
//   const FaultCounts seen = stop_faults();
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tidemark::faults {

enum class Call { accept, receive, send, open, look, list, map, thread, wait, clock, object };
constexpr size_t kCalls = 11;
constexpr const char* kNames[kCalls] = {"accept", "receive", "send", "open",  "look",  "list",
                                        "map",    "thread",  "wait", "clock", "object"};

/// How many calls of each kind went wrong.
using FaultCounts = std::array<uint64_t, kCalls>;

void spare_this_thread();
void start_faults(uint64_t seed);
FaultCounts stop_faults();

}  // namespace tidemark::faults
