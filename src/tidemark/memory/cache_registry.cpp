#include "tidemark/memory/cache_registry.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace tidemark::memory {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<const CacheRegistration*, std::function<CacheUse()>> caches;
};

/// Never destroyed: caches with static storage leave it while the process ends.
Registry& registry() {
  static auto* instance = new Registry;
  return *instance;
}

}  // namespace

CacheRegistration::CacheRegistration(std::function<CacheUse()> use) {
  std::lock_guard hold(registry().mutex);
  registry().caches.emplace(this, std::move(use));
}

CacheRegistration::~CacheRegistration() {
  std::lock_guard hold(registry().mutex);
  registry().caches.erase(this);
}

std::vector<CacheUse> cache_uses() {
  std::vector<CacheUse> out;
  {
    std::lock_guard hold(registry().mutex);
    for (const auto& [key, use] : registry().caches) out.push_back(use());
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const CacheUse& a, const CacheUse& b) { return a.bytes > b.bytes; });
  return out;
}

void lock_cache_registry() noexcept { registry().mutex.lock(); }
void unlock_cache_registry() noexcept { registry().mutex.unlock(); }

}  // namespace tidemark::memory
