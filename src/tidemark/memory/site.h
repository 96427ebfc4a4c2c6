// Site: an interned place in the user's program that asks for memory, with its counters.
//
//   memory::ScopedSite here(memory::intern(source, code, instruction));
//   ... every buffer allocated on this thread now carries that site ...
//
// A site is a pair of words that only its source can read (a Python code object and an instruction;
// a C++ return address): capturing is a table look-up, turning it into "file.py:12" happens when
// somebody asks.
#pragma once

#include <tidemark/export.h>

#include <cstdint>
#include <string>

namespace tidemark::memory {

/// Explains the two words of the sites it made.
class TIDEMARK_API SiteSource {
 public:
  virtual ~SiteSource() = default;
  /// "train.py:12 in step". Called without any lock of memory/ held.
  virtual std::string describe(uintptr_t first, uintptr_t second) = 0;
  /// The site table forgot the site: the source may drop what the words refer to.
  virtual void forget(uintptr_t first, uintptr_t second) noexcept = 0;
};

/// Bytes and counts of one site or holder kind. Guarded by the ledger's lock.
struct Account {
  int64_t live_bytes = 0;
  int64_t peak_bytes = 0;  // highest live_bytes
  int64_t live_count = 0;
  int64_t total_count = 0;
  int64_t bytes_at_peak = 0;  // live_bytes when the process was at its peak; see Ledger
  uint64_t seen_peak = 0;     // the peak that bytes_at_peak belongs to
};

/// Sites are never unmapped: a forgotten one is used again for another place, later.
struct Site : Account {
  SiteSource* source = nullptr;  // null: a place that was forgotten
  uintptr_t first = 0;
  uintptr_t second = 0;
  mutable uint32_t pins = 0;    // those that refer to it for long; a pinned site is not forgotten
  uint8_t device = 0;           // the number of the device whose bytes these accounts count
  Site* elsewhere = nullptr;    // the accounts of the same place on another device, and so on
  const Site* place = nullptr;  // of accounts on another device: the CPU's, which has the words
};

/// The site for these words, made on first use. The table is bounded: when full, sites without
/// live bytes are forgotten; when none can be, the shared site "(other places)" is returned.
TIDEMARK_API Site* intern(SiteSource& source, uintptr_t first, uintptr_t second);

/// The accounts of the site's place on another device, made on first use and never unmapped.
TIDEMARK_API Site* site_on(uint8_t device, Site* site);

/// Grows whenever sites are forgotten: a cache of Site* is valid only for one generation.
TIDEMARK_API uint64_t site_generation() noexcept;

/// Site of a C++ return address (symbols and lines are looked up on demand).
TIDEMARK_API Site* site_of_address(const void* return_address);

/// Between the two the site is not forgotten, though no buffer lives there.
TIDEMARK_API void pin(const Site& site) noexcept;
TIDEMARK_API void unpin(const Site& site) noexcept;

/// "train.py:12 in step".
TIDEMARK_API std::string describe(const Site& site);

}  // namespace tidemark::memory
