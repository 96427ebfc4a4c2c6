#include "tidemark/memory/core.h"
#include "tidemark/memory/device_memory.h"
#include "tidemark/memory/os.h"
#include "tidemark/memory/sites.h"
#include "tidemark/memory/snapshot.h"

#include <tidemark/memory.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace tidemark::memory {
namespace {

/// Bytes of live and kept mappings that nobody has written to: the system has not given them yet.
int64_t untouched_bytes(const std::vector<SlabPool::Region>& mappings) {
  int64_t untouched = 0;
  for (const auto& mapping : mappings) {
    untouched += static_cast<int64_t>(mapping.size) - os::resident_in(mapping.start, mapping.size);
  }
  return untouched;
}

}  // namespace

Stats stats() {
  initialize_core();
  Stats s;
  std::vector<SlabPool::Region> mappings;
  {
    CoreLock hold(core.lock);
    const Ledger& ledger = core.ledger;
    s.live = ledger.live();
    s.planned = ledger.planned();
    s.retained = core.retained();
    s.tensor_bytes = ledger.tensor_bytes();
    s.tensor_peak = ledger.tensor_peak();
    s.borrowed = ledger.borrowed();
    s.peak = ledger.peak();
    s.live_buffers = ledger.live_buffers();
    s.allocations = core.allocations;
    s.limit = core.limit;
    s.retained_limit = core.retained_limit;
    for (const Buffer* b = ledger.newest_mapped(); b != nullptr; b = b->next) {
      mappings.push_back({b->data, b->charged - kHeaderSize});
    }
    for (const KeptMapping* m = core.kept.newest(); m != nullptr; m = m->older) {
      mappings.push_back({m->data, m->size});
    }
  }
  s.resident = os::resident();
  s.untouched = untouched_bytes(mappings);
  s.not_ours = s.resident + s.untouched - s.live - s.planned - s.retained;
  return s;
}

DeviceStats stats(Device device) {
  if (device.is_cpu()) {
    const Stats cpu = stats();
    return {cpu.live,         cpu.planned,     cpu.retained, cpu.live + cpu.planned + cpu.retained,
            cpu.tensor_bytes, cpu.tensor_peak, cpu.peak,     cpu.live_buffers,
            cpu.limit};
  }
  DeviceStats s;
  DeviceMemory& memory = memory_of(device);
  s.committed = memory.committed();
  CoreLock hold(core.lock);
  const Ledger& ledger = memory.ledger();
  s.live = ledger.live();
  s.planned = ledger.planned();
  s.retained = s.committed - s.live - s.planned;
  s.tensor_bytes = ledger.tensor_bytes();
  s.tensor_peak = ledger.tensor_peak();
  s.peak = ledger.peak();
  s.live_buffers = ledger.live_buffers();
  s.limit = memory.limit();
  return s;
}

DeviceUse use_of(Device device) {
  const int64_t committed = stats(device).committed;
  DeviceUse use{.taken = committed, .committed = committed};
  if (device.is_cpu()) return use;
  const std::optional<TakenMemory> told = accelerator_of(device).taken();
  if (!told) return use;
  for (const Device other : devices_beside(device)) {
    if (DeviceMemory* memory = memory_in_use(other)) use.beside += memory->committed();
  }
  // Pages come and go between the numbers: no part is below zero.
  const int64_t pages = committed + use.beside;
  use.taken = std::max(pages, static_cast<int64_t>(told->bytes));
  use.tells_processes = told->by_this_process.has_value();
  const int64_t rest = use.taken - pages;
  if (use.tells_processes) {
    const auto own = static_cast<int64_t>(*told->by_this_process) - pages;
    use.context = std::clamp<int64_t>(own, 0, rest);
  }
  use.others = rest - use.context;
  return use;
}

int64_t set_limit(int64_t bytes, Device device) {
  return device.is_cpu() ? set_limit(bytes) : memory_of(device).set_limit(bytes);
}

int64_t release_retained(Device device) {
  return device.is_cpu() ? release_retained() : memory_of(device).release_retained();
}

void wait_for(Device device) {
  DeviceMemory* memory = memory_in_use(device);
  if (!memory || memory->committed() == 0) return;  // nothing was ever enqueued
  Stream& stream = accelerator_of(device).stream();
  stream.wait(stream.now());
}

int64_t reset_peak() { return reset_peak(Device()); }

int64_t reset_peak(Device device) {
  initialize_core();
  return reset_site_peaks(device.number());
}

std::vector<LiveBuffer> live_buffers() {
  struct Record {
    const Site* site;
    const char* op;
    Holder holder;
    DType dtype;
    Shape shape;
    int64_t bytes;
  };
  std::vector<Record> records;
  {
    CoreLock hold(core.lock);
    records.reserve(static_cast<size_t>(core.ledger.live_buffers()));
    core.ledger.for_each([&](const Buffer& b) {
      bool cut = false;
      records.push_back({b.site, b.op, b.holder, b.dtype, recorded_shape(b, &cut),
                         static_cast<int64_t>(b.bytes)});
    });
  }
  std::stable_sort(records.begin(), records.end(),
                   [](const Record& a, const Record& b) { return a.bytes > b.bytes; });
  PlaceNames names;
  std::vector<LiveBuffer> out;
  out.reserve(records.size());
  for (Record& r : records) {
    out.push_back({names.of(r.site), r.op != nullptr ? r.op : "", name_of(r.holder), r.dtype,
                   std::move(r.shape), r.bytes});
  }
  return out;
}

std::vector<PlaceUse> places(Device device) {
  std::vector<SiteUse> uses = collect_sites();
  std::erase_if(uses, [&](const SiteUse& use) { return use.site->device != device.number(); });
  std::vector<Group> groups;
  {
    CoreLock hold(core.lock);
    groups = collect_groups(device);
  }
  std::unordered_map<const Site*, const Group*> largest;
  for (const Group& group : groups) {
    const auto [found, is_new] = largest.try_emplace(group.site, &group);
    if (!is_new && group.largest > found->second->largest) found->second = &group;
  }
  std::vector<PlaceUse> out;
  out.reserve(uses.size());
  PlaceNames names;
  for (const SiteUse& use : uses) {
    const auto found = largest.find(use.site);
    const Group* group = found != largest.end() ? found->second : nullptr;
    out.push_back({names.of(use.site), group != nullptr && group->op != nullptr ? group->op : "",
                   group != nullptr ? name_of(group->holder) : "", use.account.live_bytes,
                   use.account.peak_bytes, use.at_peak, use.account.live_count,
                   use.account.total_count});
  }
  return out;
}

std::vector<HolderUse> holders(Device device) {
  std::vector<HolderUse> out;
  std::lock_guard hold(core.lock);
  for (int kind = 0; kind < kHolderKinds; ++kind) {
    const Account& account = ledger_of(device).holder(kind);
    out.push_back({name_of(static_cast<Holder>(kind)), account.live_bytes, account.peak_bytes,
                   account.live_count, account.total_count});
  }
  return out;
}

}  // namespace tidemark::memory
