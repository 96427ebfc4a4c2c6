// memory::report(): tables of at most 100 columns.

#include "tidemark/memory/cache_registry.h"

#include <tidemark/error.h>
#include <tidemark/memory.h>

#include <algorithm>
#include <string_view>

namespace tidemark::memory {
namespace {

constexpr size_t kRows = 10;
constexpr size_t kPlaceWidth = 44;

/// Characters a terminal shows: UTF-8 continuation bytes take no column.
size_t width_of(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

/// Cut with "…" where too long, filled with spaces where too short.
std::string left(std::string_view text, size_t width) {
  std::string out(text);
  if (width_of(out) > width) {
    while (width_of(out) >= width) {
      while ((out.back() & 0xc0) == 0x80) out.pop_back();
      out.pop_back();
    }
    out += "…";
  }
  return out.append(width - width_of(out), ' ');
}

std::string right(std::string_view text, size_t width) {
  const size_t have = width_of(text);
  return std::string(have < width ? width - have : 0, ' ') + std::string(text);
}

std::string right(int64_t number, size_t width) { return right(std::to_string(number), width); }

std::string heading(const Stats& s) {
  std::string out = message(
      "memory  live ", format_bytes(s.live), " + planned ", format_bytes(s.planned), " + retained ",
      format_bytes(s.retained), " + not ours ", format_bytes(s.not_ours), " = ",
      format_bytes(s.resident + s.untouched), "\n        resident ", format_bytes(s.resident));
  if (s.untouched > 0) out += message(" and ", format_bytes(s.untouched), " not touched yet");
  out += message(", limit ", format_bytes(s.limit), ", peak ", format_bytes(s.peak), "\n        ",
                 format_bytes(s.tensor_bytes), " of tensors in ", s.live_buffers,
                 s.live_buffers == 1 ? " buffer" : " buffers");
  if (s.borrowed > 0) out += message(", ", format_bytes(s.borrowed), " borrowed");
  return out + "\n";
}

/// Several calls on one line are several sites, but one place for people.
std::vector<PlaceUse> joined_by_place(const std::vector<PlaceUse>& sites) {
  std::vector<PlaceUse> places;
  for (const PlaceUse& site : sites) {
    const auto same = std::find_if(places.begin(), places.end(),
                                   [&](const PlaceUse& p) { return p.place == site.place; });
    if (same == places.end()) {
      places.push_back(site);
      continue;
    }
    if (same->op.empty()) same->op = site.op;
    same->live_bytes += site.live_bytes;
    same->bytes_at_process_peak += site.bytes_at_process_peak;
    same->live_count += site.live_count;
    same->total_count += site.total_count;
  }
  std::stable_sort(places.begin(), places.end(), [](const PlaceUse& a, const PlaceUse& b) {
    return a.live_bytes > b.live_bytes;
  });
  return places;
}

std::string place_table(std::vector<PlaceUse> places) {
  std::erase_if(places, [](const PlaceUse& p) { return p.live_count == 0; });
  if (places.empty()) return "";
  std::string out = "\n" + left("place", kPlaceWidth) + " " + left("op", 14) + " " +
                    left("holder", 9) + right("count", 8) + right("bytes", 10) +
                    right("at peak", 10) + "\n";
  const size_t shown = std::min(places.size(), kRows);
  for (size_t i = 0; i < shown; ++i) {
    const PlaceUse& p = places[i];
    out += left(p.place, kPlaceWidth) + " " + left(p.op, 14) + " " + left(p.holder, 9) +
           right(p.live_count, 8) + right(format_bytes(p.live_bytes), 10) +
           right(format_bytes(p.bytes_at_process_peak), 10) + "\n";
  }
  if (places.size() > shown) {
    int64_t bytes = 0;
    int64_t count = 0;
    for (size_t i = shown; i < places.size(); ++i) {
      bytes += places[i].live_bytes;
      count += places[i].live_count;
    }
    out += left(message("and ", places.size() - shown, " more places"), kPlaceWidth + 25) +
           right(count, 8) + right(format_bytes(bytes), 10) + "\n";
  }
  return out;
}

std::string peak_table(std::vector<PlaceUse> places, int64_t peak) {
  std::erase_if(places, [](const PlaceUse& p) { return p.bytes_at_process_peak == 0; });
  if (places.empty()) return "";
  std::stable_sort(places.begin(), places.end(), [](const PlaceUse& a, const PlaceUse& b) {
    return a.bytes_at_process_peak > b.bytes_at_process_peak;
  });
  static constexpr size_t kOwners = 5;
  std::string out = message("\nat the peak of ", format_bytes(peak), "\n");
  for (size_t i = 0; i < std::min(places.size(), kOwners); ++i) {
    out += "  " + left(places[i].place, 67) +
           right(format_bytes(places[i].bytes_at_process_peak), 10) + "\n";
  }
  return out;
}

std::string holder_table(const std::vector<HolderUse>& holders) {
  std::string out;
  for (const HolderUse& h : holders) {
    if (h.total_count == 0) continue;
    out += left(h.holder, 12) + right(h.live_count, 10) + right(h.total_count, 14) +
           right(format_bytes(h.live_bytes), 12) + right(format_bytes(h.peak_bytes), 12) + "\n";
  }
  if (out.empty()) return "";
  return "\n" + left("holder", 12) + right("count", 10) + right("ever", 14) + right("bytes", 12) +
         right("highest", 12) + "\n" + out;
}

std::string cache_table(const std::vector<CacheUse>& caches) {
  if (caches.empty()) return "";
  std::string out = "\n" + left("cache", 24) + right("entries", 8) + right("bytes", 10) +
                    right("capacity", 10) + right("hits", 10) + right("misses", 9) +
                    right("evicted", 9) + "\n";
  for (const CacheUse& c : caches) {
    out += left(c.name, 24) + right(c.entries, 8) + right(format_bytes(c.bytes), 10) +
           right(format_bytes(c.capacity), 10) + right(c.hits, 10) + right(c.misses, 9) +
           right(c.evictions, 9) + "\n";
  }
  return out;
}

/// What of a device is taken beside our buffers, so far as its driver tells.
std::string beside_buffers(const DeviceUse& use) {
  if (use.taken == use.committed) return "";
  std::string out = "\n       ";
  if (use.beside > 0) out += message(" + its other logical devices ", format_bytes(use.beside));
  if (!use.tells_processes) {
    return out + message(" + context and other processes ", format_bytes(use.others));
  }
  return out + message(" + context ", format_bytes(use.context), " + other processes ",
                       format_bytes(use.others));
}

/// A device that was used; the CPU's part of the report says what it does not know.
std::string device_part(Device device) {
  const DeviceStats s = stats(device);
  const DeviceUse use = use_of(device);
  const std::vector<PlaceUse> all = joined_by_place(places(device));
  return message("\n", device.name(), "  live ", format_bytes(s.live), " + planned ",
                 format_bytes(s.planned), " + retained ", format_bytes(s.retained),
                 beside_buffers(use), " = ", format_bytes(use.taken), "\n        limit ",
                 format_bytes(s.limit), ", peak ", format_bytes(s.peak), ", ",
                 format_bytes(s.tensor_bytes), " of tensors in ", s.live_buffers,
                 s.live_buffers == 1 ? " buffer" : " buffers", "\n") +
         place_table(all) + holder_table(holders(device)) + peak_table(all, s.peak);
}

}  // namespace

std::string report() {
  const Stats s = stats();
  const std::vector<PlaceUse> all = joined_by_place(places());
  std::string out = heading(s) + place_table(all) + holder_table(holders()) +
                    peak_table(all, s.peak) + cache_table(cache_uses());
  for (const Device device : open_devices()) {
    if (!device.is_cpu()) out += device_part(device);
  }
  return out;
}

}  // namespace tidemark::memory
