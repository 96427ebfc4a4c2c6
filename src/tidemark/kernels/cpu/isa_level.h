// Choosing, once, among the copies of a per-ISA table.
//
//   // isa/thing.cpp, compiled once a level:
//   namespace tidemark::cpu::TIDEMARK_ISA { extern constinit const ThingTable thing = {...}; }
//   // thing.cpp:
//   TIDEMARK_DECLARE_PER_ISA(ThingTable, thing);
//   const ThingTable& t = TIDEMARK_FOR_LEVEL(thing, best_level());
#pragma once

namespace tidemark::cpu {

enum class Level {
#define X(level) level,
  TIDEMARK_ISA_LEVELS(X)
#undef X
};

/// The highest level that this processor runs and TIDEMARK_ISA allows; the same for as long as the
/// process runs. Levels are built in ascending order.
Level best_level();
const char* name_of(Level level);

#if defined(__x86_64__)
#define TIDEMARK_DECLARE_PER_ISA(type, name) \
  namespace v2 {                             \
  extern const type name;                    \
  }                                          \
  namespace v3 {                             \
  extern const type name;                    \
  }                                          \
  namespace v4 {                             \
  extern const type name;                    \
  }                                          \
  static_assert(true)
#define TIDEMARK_FOR_LEVEL(name, level)               \
  ((level) == ::tidemark::cpu::Level::v4   ? v4::name \
   : (level) == ::tidemark::cpu::Level::v3 ? v3::name \
                                           : v2::name)
#else
#define TIDEMARK_DECLARE_PER_ISA(type, name) \
  namespace generic {                        \
  extern const type name;                    \
  }                                          \
  static_assert(true)
#define TIDEMARK_FOR_LEVEL(name, level) (static_cast<void>(level), generic::name)
#endif

}  // namespace tidemark::cpu
