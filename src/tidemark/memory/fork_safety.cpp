// A fork copies the locks as they are: each is taken before and released on both sides after, so
// that the child never waits for a thread it does not have.

#include "tidemark/memory/fork_safety.h"

#include "tidemark/memory/cache_registry.h"
#include "tidemark/memory/core.h"
#include "tidemark/memory/sites.h"
#include "tidemark/memory/symbolize.h"

#include <pthread.h>

namespace tidemark::memory {
namespace {

// In the order in which they are taken elsewhere.
void take_locks() {
  lock_cache_registry();
  lock_symbols();
  lock_sites();
  core.lock.lock();
}

void release_locks() {
  core.lock.unlock();
  unlock_sites();
  unlock_symbols();
  unlock_cache_registry();
}

}  // namespace

void make_fork_safe() { pthread_atfork(take_locks, release_locks, release_locks); }

}  // namespace tidemark::memory
