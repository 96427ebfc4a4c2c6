#include "tidemark/memory/address_ranges.h"

#include <algorithm>

namespace tidemark::memory {

AddressRanges::AddressRanges(size_t size, size_t alignment)
    : alignment_(alignment), first_(new Range) {
  first_->size = size;
  link(first_);
}

AddressRanges::~AddressRanges() {
  for (Range* range = first_; range;) {
    Range* after = range->after;
    delete range;
    range = after;
  }
}

void AddressRanges::link(Range* range) noexcept {
  Range*& head = free_[list_of(range->size)];
  // The lowest addresses come first: what is in use stays together at the bottom.
  Range* place = nullptr;
  for (Range* r = head; r && r->offset < range->offset; r = r->next) place = r;
  range->previous = place;
  range->next = place ? place->next : head;
  (place ? place->next : head) = range;
  if (range->next) range->next->previous = range;
  range->is_free = true;
}

void AddressRanges::unlink(Range* range) noexcept {
  (range->previous ? range->previous->next : free_[list_of(range->size)]) = range->next;
  if (range->next) range->next->previous = range->previous;
  range->previous = range->next = nullptr;
  range->is_free = false;
}

AddressRanges::Range* AddressRanges::take(size_t bytes) {
  const size_t size = rounded(std::max<size_t>(bytes, 1));
  for (size_t list = list_of(size); list <= kLists; ++list) {
    for (Range* range = free_[list]; range; range = range->next) {
      if (range->size < size) continue;
      Range* rest = range->size > size ? new Range : nullptr;
      unlink(range);
      if (rest) {
        rest->offset = range->offset + size;
        rest->size = range->size - size;
        rest->before = range;
        rest->after = range->after;
        if (rest->after) rest->after->before = rest;
        range->after = rest;
        range->size = size;
        link(rest);
      }
      return range;
    }
  }
  return nullptr;
}

/// `range` and the free neighbour behind it become one.
void AddressRanges::absorb(Range* range, Range* neighbour) noexcept {
  unlink(neighbour);
  range->size += neighbour->size;
  range->after = neighbour->after;
  if (range->after) range->after->before = range;
  delete neighbour;
}

void AddressRanges::put(Range* range) noexcept {
  if (range->after && range->after->is_free) absorb(range, range->after);
  if (Range* before = range->before; before && before->is_free) {
    unlink(before);
    before->size += range->size;
    before->after = range->after;
    if (before->after) before->after->before = before;
    delete range;
    range = before;
  }
  link(range);
}

size_t AddressRanges::largest_free() const noexcept {
  size_t largest = 0;
  for (const Range* head : free_) {
    for (const Range* range = head; range; range = range->next) {
      largest = std::max(largest, range->size);
    }
  }
  return largest;
}

}  // namespace tidemark::memory
