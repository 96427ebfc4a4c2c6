// Libraries of ours that are opened when they are first needed, because of what they map.
#pragma once

#include <string>

namespace tidemark {

enum class Lookup {
  program_first,
  itself_first,  ///< what the library defines, it and those it needs use
};

/// The answer of `symbol`, a function without arguments that returns a table, in the library of
/// that name beside this one. Null when it cannot be had; then `why` says so.
const void* open_plugin(const char* library, const char* symbol, std::string& why,
                        Lookup lookup = Lookup::program_first);

}  // namespace tidemark
