// DebugInfo: source lines of addresses, from the debug information of the program and its
// libraries, through libdw. Loaded when the first line is asked for; absent libraries and absent
// debug information mean no answer, never an error.
#pragma once

#include <cstdint>
#include <string>

namespace tidemark::memory {

struct SourceLine {
  std::string file;  // full path; empty when unknown
  int line = 0;
  std::string function;  // as linked (mangled), or plain for inlined functions
};

/// The line of the user's own code that led to the address: when the compiler inlined functions
/// of our headers or the standard library's, the line that called them. Not thread-safe.
SourceLine find_line(uintptr_t address);

}  // namespace tidemark::memory
