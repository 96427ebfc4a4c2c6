#include "tidemark/memory/sites.h"

#include "tidemark/memory/core.h"
#include "tidemark/memory/device_memory.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>

namespace tidemark::memory {

constinit Site unknown_place;
constinit Site other_places;

namespace {

size_t hash_of(const SiteSource* source, uintptr_t first, uintptr_t second) noexcept {
  uint64_t h = reinterpret_cast<uintptr_t>(source) ^ (first * 0x9e3779b97f4a7c15u);
  h = (h ^ (h >> 29) ^ second) * 0xbf58476d1ce4e5b9u;
  return static_cast<size_t>(h ^ (h >> 32));
}

constinit std::atomic<uint64_t> generation{1};

bool has_live(const Site& site) noexcept {
  for (const Site* s = &site; s != nullptr; s = s->elsewhere) {
    if (s->live_count != 0) return true;
  }
  return false;
}

int64_t at_peak(const Site& site) noexcept {
  return ledger_of(Device::numbered(site.device)).at_peak(site);
}

bool had_part_in_peak(const Site& site) noexcept {
  for (const Site* s = &site; s != nullptr; s = s->elsewhere) {
    if (at_peak(*s) != 0) return true;
  }
  return false;
}

/// Words of a site that was forgotten, for its source.
struct Forgotten {
  SiteSource* source;
  uintptr_t first;
  uintptr_t second;
};

/// Open addressing with linear probing; grows with the number of sites. Sites stand in a deque and
/// never move. Guarded by `lock`; the core's lock is taken inside it, never around it.
struct SiteTable {
  SpinMutex lock;
  std::vector<Site*> slots = std::vector<Site*>(256);
  size_t count = 0;
  std::deque<Site> storage;
  size_t made = 0;  // of these for places; the others are their accounts on other devices
  // Forgotten sites, the oldest first: it is used again first, when no thread that still had it at
  // hand is likely to be left.
  std::deque<Site*> unused;

  Site** slot_for(const SiteSource* source, uintptr_t first, uintptr_t second) noexcept {
    size_t at = hash_of(source, first, second) & (slots.size() - 1);
    for (;; at = (at + 1) & (slots.size() - 1)) {
      Site* site = slots[at];
      if (site == nullptr ||
          (site->source == source && site->first == first && site->second == second)) {
        return &slots[at];
      }
    }
  }

  void rehash(size_t size) {
    std::vector<Site*> old(size);
    old.swap(slots);
    for (Site* site : old) {
      if (site != nullptr) *slot_for(site->source, site->first, site->second) = site;
    }
  }

  Site* fresh_site();
  Site* account_on(uint8_t device, Site* site);
  std::vector<Forgotten> forget_some();
};

/// Never destroyed: sites may be asked for while the process ends.
SiteTable& table() {
  static auto* instance = new SiteTable;
  return *instance;
}

Site* SiteTable::fresh_site() {
  if (!unused.empty()) {
    Site* site = unused.front();
    std::lock_guard hold(core.lock);
    if (!has_live(*site)) {  // else a thread used it late; its buffers stay where they are
      unused.pop_front();
      for (Site* s = site; s != nullptr; s = s->elsewhere) static_cast<Account&>(*s) = Account{};
      return site;
    }
  }
  if (made >= 2 * kMostSites) return nullptr;
  Site* site = &storage.emplace_back();
  ++made;
  return site;
}

Site* SiteTable::account_on(uint8_t device, Site* site) {
  for (Site* s = site; s != nullptr; s = s->elsewhere) {
    if (s->device == device) return s;
  }
  Site* own = &storage.emplace_back();
  own->device = device;
  own->place = site;
  own->elsewhere = site->elsewhere;
  site->elsewhere = own;
  return own;
}

/// Forgets up to a quarter of the table: sites without live bytes, those without a part in the
/// peak first.
std::vector<Forgotten> SiteTable::forget_some() {
  std::vector<Forgotten> out;
  const size_t most = kMostSites / 4;
  out.reserve(most);
  for (const bool also_peak_owners : {false, true}) {
    std::lock_guard hold(core.lock);
    for (Site*& slot : slots) {
      if (out.size() >= most) break;
      Site* site = slot;
      if (site == nullptr || has_live(*site) || site->pins != 0) continue;
      if (!also_peak_owners && had_part_in_peak(*site)) continue;
      out.push_back({site->source, site->first, site->second});
      site->source = nullptr;
      unused.push_back(site);
      slot = nullptr;
    }
    if (!out.empty()) break;
  }
  if (out.empty()) return out;
  count -= out.size();
  rehash(slots.size());
  generation.fetch_add(1, std::memory_order_release);
  return out;
}

}  // namespace

Site* intern(SiteSource& source, uintptr_t first, uintptr_t second) {
  SiteTable& sites = table();
  std::vector<Forgotten> forgotten;
  Site* site = nullptr;
  {
    std::lock_guard hold(sites.lock);
    Site** slot = sites.slot_for(&source, first, second);
    if (*slot != nullptr) return *slot;
    if (sites.count >= kMostSites) {
      forgotten = sites.forget_some();
      slot = sites.slot_for(&source, first, second);
    } else if (2 * (sites.count + 1) > sites.slots.size()) {
      sites.rehash(2 * sites.slots.size());
      slot = sites.slot_for(&source, first, second);
    }
    site = sites.count < kMostSites ? sites.fresh_site() : nullptr;
    if (site != nullptr) {
      site->source = &source;
      site->first = first;
      site->second = second;
      *slot = site;
      ++sites.count;
    }
  }
  for (const Forgotten& f : forgotten) f.source->forget(f.first, f.second);
  if (site != nullptr) return site;
  source.forget(first, second);  // nobody will ask the source about these words
  return &other_places;
}

Site* site_on(uint8_t device, Site* site) {
  std::lock_guard hold(table().lock);
  return table().account_on(device, site);
}

uint64_t site_generation() noexcept { return generation.load(std::memory_order_acquire); }

size_t site_count() noexcept {
  std::lock_guard hold(table().lock);
  return table().count;
}

void lock_sites() noexcept { table().lock.lock(); }
void unlock_sites() noexcept { table().lock.unlock(); }

void pin(const Site& site) noexcept {
  std::lock_guard hold(table().lock);
  ++site.pins;
}

void unpin(const Site& site) noexcept {
  std::lock_guard hold(table().lock);
  --site.pins;
}

std::string describe(const Site& accounts) {
  const Site& site = accounts.place != nullptr ? *accounts.place : accounts;
  if (&site == &unknown_place) return "(unknown place)";
  if (&site == &other_places) return "(other places)";
  SiteTable& sites = table();
  SiteSource* source = nullptr;
  uintptr_t first = 0;
  uintptr_t second = 0;
  {
    std::lock_guard hold(sites.lock);
    source = site.source;
    first = site.first;
    second = site.second;
    ++site.pins;
  }
  std::string out = "(forgotten place)";
  try {
    if (source != nullptr) out = source->describe(first, second);
  } catch (...) {
    std::lock_guard hold(sites.lock);
    --site.pins;
    throw;
  }
  std::lock_guard hold(sites.lock);
  --site.pins;
  return out;
}

std::vector<SiteUse> collect_sites() {
  std::vector<SiteUse> out;
  SiteTable& sites = table();
  {
    std::lock_guard hold_sites(sites.lock);
    std::lock_guard hold(core.lock);
    const auto look_at = [&](const Site& site) {
      const int64_t bytes = at_peak(site);
      if (site.live_count != 0 || bytes != 0) out.push_back({&site, site, bytes});
    };
    look_at(unknown_place);
    look_at(other_places);
    for (const Site& site : sites.storage) look_at(site);
  }
  std::stable_sort(out.begin(), out.end(), [](const SiteUse& a, const SiteUse& b) {
    return a.account.live_bytes != b.account.live_bytes
               ? a.account.live_bytes > b.account.live_bytes
               : a.at_peak > b.at_peak;
  });
  return out;
}

int64_t reset_site_peaks(uint8_t device) noexcept {
  SiteTable& sites = table();
  std::lock_guard hold_sites(sites.lock);
  std::lock_guard hold(core.lock);
  const auto reset = [&](Site& site) {
    if (site.device == device) site.peak_bytes = site.live_bytes;
  };
  reset(unknown_place);
  reset(other_places);
  for (Site& site : sites.storage) reset(site);
  return ledger_of(Device::numbered(device)).reset_peak();
}

}  // namespace tidemark::memory
