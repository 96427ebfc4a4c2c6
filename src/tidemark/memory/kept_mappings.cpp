#include "tidemark/memory/kept_mappings.h"

#include <algorithm>

namespace tidemark::memory {

void KeptMappings::add(KeptMapping* mapping) noexcept {
  KeptMapping*& head = bins_[bin_of(mapping->size)];
  mapping->bin_previous = nullptr;
  mapping->bin_next = head;
  if (head != nullptr) head->bin_previous = mapping;
  head = mapping;
  mapping->newer = nullptr;
  mapping->older = newest_;
  (newest_ != nullptr ? newest_->newer : oldest_) = mapping;
  newest_ = mapping;
}

void KeptMappings::detach(KeptMapping* mapping) noexcept {
  (mapping->bin_previous != nullptr ? mapping->bin_previous->bin_next
                                    : bins_[bin_of(mapping->size)]) = mapping->bin_next;
  if (mapping->bin_next != nullptr) mapping->bin_next->bin_previous = mapping->bin_previous;
  (mapping->newer != nullptr ? mapping->newer->older : newest_) = mapping->older;
  (mapping->older != nullptr ? mapping->older->newer : oldest_) = mapping->newer;
}

KeptMapping* KeptMappings::take(size_t size, size_t most) noexcept {
  // An eighth more than `size` reaches into the next bin at most. Bins can grow long when a program
  // frees thousands of buffers of one size: an exact fit ends the search, otherwise it is capped.
  static constexpr int kMostLooks = 32;
  most = std::min(most, size + size / 8);
  KeptMapping* best = nullptr;
  const int first = bin_of(size);
  for (int bin = first; bin <= first + 1 && bin < kBins && best == nullptr; ++bin) {
    int looks = 0;
    for (KeptMapping* m = bins_[bin]; m != nullptr && looks < kMostLooks;
         m = m->bin_next, ++looks) {
      if (m->size < size || m->size > most || (best != nullptr && m->size >= best->size)) continue;
      best = m;
      if (m->size == size) break;
    }
  }
  if (best != nullptr) detach(best);
  return best;
}

KeptMapping* KeptMappings::take_oldest() noexcept {
  KeptMapping* oldest = oldest_;
  if (oldest != nullptr) detach(oldest);
  return oldest;
}

void ForgottenSizes::add(size_t size) noexcept {
  Entry& entry = entry_of(size);
  if (entry.size != size) entry = {size, 0};
  ++entry.count;
}

bool ForgottenSizes::take(size_t size) noexcept {
  Entry& entry = entry_of(size);
  if (entry.size != size || entry.count == 0) return false;
  --entry.count;
  return true;
}

}  // namespace tidemark::memory
