// What memory/ asks from the operating system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tidemark::memory::os {

/// Zeroed pages at an address that is a multiple of `alignment` (a power of two, a page or more).
/// Null when the system refuses.
void* map(size_t size, size_t alignment) noexcept;
inline constexpr size_t kHugePage = size_t{2} << 20;
/// Pages for a buffer that will be written to as a whole. From kHugePage on the mapping is aligned
/// to huge pages and asks for them; what no huge page covers is made present in one go. A page
/// fault on 4 KiB costs more than the work on its data.
void* map_buffer(size_t size) noexcept;
/// The same pages and more behind them, at an address that may be another. Null when the system
/// refuses; the old pages are as they were.
void* remap_buffer(void* start, size_t size, size_t new_size) noexcept;
void unmap(void* start, size_t size) noexcept;
/// The pages stay mapped, their contents go; reading them gives zeros.
void discard(void* start, size_t size) noexcept;
/// Bytes of the mapped range that are resident.
int64_t resident_in(const void* start, size_t size) noexcept;

/// Resident memory of this process.
int64_t resident() noexcept;

/// The most memory this process may use: the smallest of physical memory, the limits of its control
/// groups (version 1 and 2, all levels), RLIMIT_AS and RLIMIT_DATA.
int64_t memory_available() noexcept;

/// Smallest memory limit of the control groups listed in a /proc/self/cgroup file, mounted at
/// `root`; INT64_MAX when there is none. For tests, and for memory_available.
int64_t cgroup_limit(const std::string& membership_file, const std::string& root);

}  // namespace tidemark::memory::os
