// What is fuzzed: each target takes bytes that anybody might send, and ends with an answer or a
// typed error; anything else is a find.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "../damaged_files.h"

namespace tidemark::fuzz {

struct Target {
  /// Called once, before the first bytes.
  void (*start)() = nullptr;
  void (*take)(std::string_view bytes) = nullptr;
  /// Well-formed bytes to begin with: name → bytes.
  std::map<std::string, std::string> (*seeds)() = nullptr;
};

/// By name. Targets put themselves in.
std::map<std::string_view, Target>& targets();
struct AddTarget {
  AddTarget(std::string_view name, const Target& target) { targets().emplace(name, target); }
};

/// A folder of this process, which goes with it.
const std::string& scratch_folder();

/// The model that requests and files are about: y = sums of rows of x, texts as they came.
void save_model(const std::string& folder);

}  // namespace tidemark::fuzz
