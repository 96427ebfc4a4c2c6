#include "tidemark/memory/slabs.h"

#include <cstring>
#include <new>

namespace tidemark::memory {

bool SlabPool::make_present(Slab* slab, size_t offset, size_t size, int64_t room) {
  const size_t first = offset / kPageSize;
  const size_t last = (offset + size - 1) / kPageSize;
  int64_t missing = 0;
  for (size_t page = first; page <= last; ++page) missing += slab->page_absent(page);
  if (missing == 0) return true;
  const int64_t bytes = missing * static_cast<int64_t>(kPageSize);
  if (bytes > room) return false;
  for (size_t page = first; page <= last; ++page) {
    slab->absent[page / 64] &= ~(uint64_t{1} << (page % 64));
  }
  slab->absent_pages = static_cast<uint16_t>(slab->absent_pages - missing);
  present_bytes_ += bytes;
  return true;
}

void SlabPool::retire(Slab* slab) {
  partial_[slab->size_class].remove(slab);
  empty_[kClasses[slab->size_class].kind].push_front(slab);
}

bool SlabPool::adopt_empty(int size_class) {
  const ClassInfo& info = kClasses[size_class];
  Slab* slab = empty_[info.kind].head;
  if (slab == nullptr) return false;
  empty_[info.kind].remove(slab);
  slab->size_class = static_cast<uint16_t>(size_class);
  slab->first_free_word = 0;
  slab->free_count = static_cast<uint16_t>(info.blocks);
  std::memset(slab->free, 0, sizeof slab->free);
  for (uint32_t i = 0; i < info.blocks / 64; ++i) slab->free[i] = ~uint64_t{0};
  if (info.blocks % 64 != 0) slab->free[info.blocks / 64] = (uint64_t{1} << info.blocks % 64) - 1;
  partial_[size_class].push_front(slab);
  return true;
}

void SlabPool::add(void* region, int kind) {
  auto* slab = new (region) Slab{};
  const size_t pages = kSlabSizes[kind] / kPageSize;
  for (size_t page = 1; page < pages; ++page) slab->absent[page / 64] |= uint64_t{1} << page % 64;
  slab->absent_pages = static_cast<uint16_t>(pages - 1);
  present_bytes_ += kPageSize;
  ++slab_count_;
  empty_[kind].push_front(slab);
}

SlabPool::Region SlabPool::detach_empty() {
  Slab* slab = nullptr;
  int kind = 0;
  for (; kind < kSlabKinds && slab == nullptr; ++kind) slab = empty_[kind].tail;
  if (slab != nullptr) {
    empty_[--kind].remove(slab);
  } else {
    // A class keeps its last slab even when it is empty; under pressure that one goes as well.
    for (int c = 0; c < kSizeClasses && slab == nullptr; ++c) {
      Slab* last = partial_[c].head;
      if (last != nullptr && last->free_count == kClasses[c].blocks) slab = last;
    }
    if (slab == nullptr) return {nullptr, 0};
    partial_[slab->size_class].remove(slab);
    kind = kClasses[slab->size_class].kind;
  }
  const size_t size = kSlabSizes[kind];
  present_bytes_ -= static_cast<int64_t>(size - slab->absent_pages * kPageSize);
  --slab_count_;
  return {slab, size};
}

void SlabPool::mark_free_pages(Purge& purge) {
  Slab* slab = purge.slab;
  const ClassInfo& info = kClasses[slab->size_class];
  const auto is_free = [&](size_t block) {
    return block >= info.blocks || ((slab->free[block / 64] >> (block % 64)) & 1) != 0;
  };
  purge.regions = 0;
  size_t last_page = 0;  // page 0 holds the header and stays
  for (size_t page = 1; page < info.slab_size / kPageSize; ++page) {
    if (slab->page_absent(page)) continue;
    size_t block = (page * kPageSize - kFirstBlock) / info.size;
    const size_t last = ((page + 1) * kPageSize - 1 - kFirstBlock) / info.size;
    while (block <= last && is_free(block)) ++block;
    if (block <= last) continue;
    slab->absent[page / 64] |= uint64_t{1} << (page % 64);
    ++slab->absent_pages;
    present_bytes_ -= kPageSize;
    if (purge.regions > 0 && last_page == page - 1) {
      purge.region[purge.regions - 1].size += kPageSize;
    } else {
      purge.region[purge.regions++] = {reinterpret_cast<char*>(slab) + page * kPageSize, kPageSize};
    }
    last_page = page;
  }
}

bool SlabPool::begin_purge(Purge& purge) {
  for (;;) {
    while (purge.slabs_left == 0) {
      if (++purge.size_class >= kSizeClasses) return false;
      for (Slab* s = partial_[purge.size_class].head; s != nullptr; s = s->next) ++purge.slabs_left;
    }
    --purge.slabs_left;
    SlabList& list = partial_[purge.size_class];
    purge.slab = list.head;
    if (purge.slab == nullptr) {  // others filled the slabs meanwhile
      purge.slabs_left = 0;
      continue;
    }
    list.remove(purge.slab);
    mark_free_pages(purge);
    if (purge.regions > 0) {
      purge.slab->away = true;
      return true;
    }
    list.push_back(purge.slab);
  }
}

void SlabPool::end_purge(Purge& purge) {
  Slab* slab = purge.slab;
  slab->away = false;
  if (slab->free_count == kClasses[slab->size_class].blocks) {
    empty_[kClasses[slab->size_class].kind].push_front(slab);
  } else {
    partial_[slab->size_class].push_back(slab);  // purging freed something: never full
  }
}

}  // namespace tidemark::memory
