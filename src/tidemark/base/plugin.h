// Libraries of ours that are opened when they are first needed, because of what they map.
#pragma once

#include <string>

namespace tidemark {

/// The answer of `symbol`, a function without arguments that returns a table, in the library of
/// that name beside this one. Null when it cannot be had; then `why` says so.
const void* open_plugin(const char* library, const char* symbol, std::string& why);

}  // namespace tidemark
