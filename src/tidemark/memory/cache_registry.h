// Every bounded cache of the runtime, for the memory report.
//
//   class TraceCache {
//     ...
//     CacheRegistration listed_{[this] { return use(); }};      // last member: goes first
//   };
#pragma once

#include <tidemark/export.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tidemark::memory {

struct CacheUse {
  std::string name;
  int64_t entries = 0;
  int64_t bytes = 0;
  int64_t capacity = 0;  // bytes
  int64_t hits = 0;
  int64_t misses = 0;
  int64_t evictions = 0;
};

/// Lists a cache from construction to destruction. The callback may be called on any thread and is
/// not running any more when the destructor returns; so a thread that destroys a registration must
/// not hold a lock the callback takes.
class TIDEMARK_API CacheRegistration {
 public:
  explicit CacheRegistration(std::function<CacheUse()> use);
  ~CacheRegistration();
  CacheRegistration(const CacheRegistration&) = delete;
  CacheRegistration& operator=(const CacheRegistration&) = delete;
};

/// Largest first.
TIDEMARK_API std::vector<CacheUse> cache_uses();

/// Held across a fork.
void lock_cache_registry() noexcept;
void unlock_cache_registry() noexcept;

}  // namespace tidemark::memory
