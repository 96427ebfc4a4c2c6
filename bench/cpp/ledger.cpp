// What the Ledger costs an allocation and its release: lists, accounts of line and holder, peaks.

#include <array>

#include "tidemark/memory/ledger.h"

#include "benchmark.h"

namespace bench {

namespace memory = tidemark::memory;

Figures ledger(const Options& options) {
  constexpr size_t kLive = 64, kSites = 16;
  memory::Ledger ledger;
  std::array<memory::Site, kSites> sites;
  std::array<memory::Buffer, kLive> buffers;
  for (size_t i = 0; i < kLive; ++i) {
    buffers[i].bytes = buffers[i].charged = 4096 * (1 + i % 7);
    buffers[i].site = &sites[i % kSites];
    ledger.add(&buffers[i]);
  }
  size_t at = 0;
  const double pair = best_ns(options.quick ? 10 : 200, 20000, [&] {
    memory::Buffer* buffer = &buffers[at++ % kLive];
    ledger.remove(buffer);
    ledger.add(buffer);
    keep(ledger);
  });
  return {{"pair_ns", pair}};
}

}  // namespace bench
