#include "tidemark/memory/symbolize.h"

#include "tidemark/memory/cache_registry.h"
#include "tidemark/memory/debug_info.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <unordered_map>

namespace tidemark::memory {
namespace {

std::string file_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

/// "app::step" of "app::step(tidemark::Tensor const&)": the arguments only fill the line.
std::string function_name(const std::string& symbol) {
  int status = 0;
  char* demangled = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 && demangled != nullptr ? demangled : symbol;
  std::free(demangled);
  // "(anonymous namespace)::" and "{lambda(int)#1}" have parentheses too: the arguments start at
  // the last one that is not inside another pair or inside braces.
  int depth = 0;
  for (size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')' || name[i] == '}') ++depth;
    if (name[i] == '{') --depth;
    if (name[i] == '(' && --depth == 0) {
      if (name.compare(i, 10, "(anonymous") == 0) break;
      name.resize(i);
      break;
    }
  }
  return name;
}

std::string hexadecimal(uintptr_t address) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%jx", static_cast<uintmax_t>(address));
  return text;
}

/// "program+0x1234 in step": a place that `addr2line -e program` understands. The name is the one
/// that debug information has, or else, of what a library exports, the loader's.
std::string describe_by_symbols(uintptr_t address, const std::string& function) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(address), &info) == 0 || info.dli_fname == nullptr) {
    return hexadecimal(address);
  }
  const std::string place = file_name(info.dli_fname) + "+" +
                            hexadecimal(address - reinterpret_cast<uintptr_t>(info.dli_fbase));
  if (!function.empty()) return place + " in " + function_name(function);
  return info.dli_sname != nullptr ? place + " in " + function_name(info.dli_sname) : place;
}

std::string look_up(uintptr_t address) {
  const SourceLine found = find_line(address);
  if (found.file.empty()) return describe_by_symbols(address, found.function);
  std::string out = file_name(found.file) + ":" + std::to_string(found.line);
  if (!found.function.empty()) out += " in " + function_name(found.function);
  return out;
}

/// On its own, so that a fork can take it without making the cache.
constinit std::mutex mutex;

/// Descriptions made so far: each costs milliseconds.
class Symbols {
 public:
  std::string describe(uintptr_t address) {
    std::lock_guard hold(mutex);
    if (const auto found = names_.find(address); found != names_.end()) {
      ++use_.hits;
      return found->second;
    }
    ++use_.misses;
    std::string name = look_up(address);
    const auto bytes = static_cast<int64_t>(name.size() + kEntryBytes);
    if (use_.bytes + bytes > use_.capacity) {
      use_.evictions += static_cast<int64_t>(names_.size());
      use_.bytes = 0;
      names_.clear();
    }
    use_.bytes += bytes;
    names_.emplace(address, name);
    return name;
  }

 private:
  static constexpr int64_t kEntryBytes = 96;  // node, bucket and string object

  CacheUse use() {
    std::lock_guard hold(mutex);
    use_.entries = static_cast<int64_t>(names_.size());
    return use_;
  }

  CacheUse use_{.name = "source lines", .capacity = 256 * 1024};
  std::unordered_map<uintptr_t, std::string> names_;
  CacheRegistration listed_{[this] { return use(); }};
};

Symbols& symbols() {
  static auto* instance = new Symbols;
  return *instance;
}

}  // namespace

std::string describe_address(const void* return_address) {
  // The instruction after the call may belong to the next line, even to the next function.
  return symbols().describe(reinterpret_cast<uintptr_t>(return_address) - 1);
}

void lock_symbols() noexcept { mutex.lock(); }
void unlock_symbols() noexcept { mutex.unlock(); }

}  // namespace tidemark::memory
