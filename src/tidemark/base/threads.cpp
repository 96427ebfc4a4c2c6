#include "tidemark/base/threads.h"

#include <pthread.h>

namespace tidemark {

namespace {
constinit std::atomic<uint64_t> forks{0};
}  // namespace

uint64_t forks_so_far() noexcept {
  static const int counts =
      pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  (void)counts;
  return forks.load(std::memory_order_relaxed);
}

}  // namespace tidemark
