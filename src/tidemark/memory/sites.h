// The site table, as the reports see it.
#pragma once

#include "tidemark/memory/site.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace tidemark::memory {

/// The table never holds more.
inline constexpr size_t kMostSites = 32768;

/// The site of buffers that were allocated outside of any.
extern Site unknown_place;
/// Stands in for new sites when the table is full of sites in use.
extern Site other_places;

struct SiteUse {
  const Site* site;
  Account account;
  int64_t at_peak;  // bytes when the process was at its peak
};
/// All sites with live bytes or bytes at the peak, largest live first. Takes the locks.
std::vector<SiteUse> collect_sites();

/// Resets a device's peak and those of its sites; returns the old one. Takes the locks.
int64_t reset_site_peaks(uint8_t device = 0) noexcept;

size_t site_count() noexcept;

/// Held across a fork, before the core's lock.
void lock_sites() noexcept;
void unlock_sites() noexcept;

/// Descriptions of sites, each looked up once.
class PlaceNames {
 public:
  const std::string& of(const Site* site) {
    const auto [found, is_new] = names_.try_emplace(site);
    if (is_new) found->second = describe(*site);
    return found->second;
  }

 private:
  std::unordered_map<const Site*, std::string> names_;
};

}  // namespace tidemark::memory
