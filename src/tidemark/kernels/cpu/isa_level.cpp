#include "tidemark/kernels/cpu/isa_level.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "tidemark/base/settings.h"
#include "tidemark/kernels/processor.h"

namespace tidemark::cpu {

namespace {

constexpr const char* kNames[] = {
#define X(level) #level,
    TIDEMARK_ISA_LEVELS(X)
#undef X
};

Level level_of_processor() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return Level::v4;
  if (__builtin_cpu_supports("x86-64-v3")) return Level::v3;
  return Level::v2;
#else
  return Level{};
#endif
}

/// Tables are chosen while the library is opened, where nobody could catch an error: a value that
/// names no level is told on the standard error and changes nothing.
Level capped(Level highest) {
  const std::string wanted = settings::text(settings::kIsa);
  if (wanted.empty()) return highest;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (wanted == kNames[i]) return std::min(highest, static_cast<Level>(i));
  }
  std::string allowed;
  for (const char* name : kNames) allowed += std::string(allowed.empty() ? "" : ", ") + name;
  std::fprintf(stderr, "tidemark: %s=\"%s\" is ignored: expected one of %s\n", settings::kIsa.name,
               wanted.c_str(), allowed.c_str());
  return highest;
}

}  // namespace

Level best_level() {
  static const Level level = capped(level_of_processor());
  return level;
}

const char* name_of(Level level) { return kNames[static_cast<size_t>(level)]; }

}  // namespace tidemark::cpu

namespace tidemark {

std::string processor_level() {
#if defined(__x86_64__)
  return std::string("x86-64-") + cpu::name_of(cpu::best_level());
#else
  return cpu::name_of(cpu::best_level());
#endif
}

}  // namespace tidemark
