#include "tidemark/memory/snapshot.h"

#include "tidemark/memory/core.h"
#include "tidemark/memory/device_memory.h"
#include "tidemark/memory/sites.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>

namespace tidemark::memory {
namespace {

struct Key {
  const Site* site;
  const char* op;
  Holder holder;
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  size_t operator()(const Key& key) const noexcept {
    const auto mix = [](uintptr_t word) { return word * 0x9e3779b97f4a7c15u; };
    return mix(reinterpret_cast<uintptr_t>(key.site)) ^
           (mix(reinterpret_cast<uintptr_t>(key.op)) >> 7) ^ static_cast<size_t>(key.holder);
  }
};

}  // namespace

Shape recorded_shape(const Buffer& buffer, bool* cut) {
  *cut = buffer.rank > Buffer::kKeptDims;
  return Shape(std::span<const int64_t>(buffer.dims, *cut ? Buffer::kKeptDims : buffer.rank));
}

std::string describe_contents(DType dtype, const Shape& shape, bool cut) {
  if (dtype == DType::invalid) return "raw bytes";
  std::string dims = shape.to_string();
  if (cut) dims.replace(dims.size() - 1, 1, ", …)");
  return std::string(name_of(dtype)) + " " + dims;
}

std::vector<Group> collect_groups(Device device) {
  std::unordered_map<Key, size_t, KeyHash> index;
  std::vector<Group> groups;
  std::vector<const Buffer*> largest;
  ledger_of(device).for_each([&](const Buffer& buffer) {
    const Buffer* b = &buffer;
    const auto [found, is_new] = index.try_emplace({b->site, b->op, b->holder}, groups.size());
    if (is_new) {
      groups.push_back({b->site, b->op, b->holder, b->dtype, Shape(), false, 0, 0, 0, 0, 0});
      largest.push_back(b);
    }
    Group& group = groups[found->second];
    group.bytes += static_cast<int64_t>(b->charged);
    if (b->holder == Holder::borrowed) group.borrowed += static_cast<int64_t>(b->bytes);
    ++group.count;
    if (b->idle) group.idle += static_cast<int64_t>(b->charged);
    if (b->bytes > largest[found->second]->bytes) largest[found->second] = b;
  });
  for (size_t i = 0; i < groups.size(); ++i) {
    groups[i].dtype = largest[i]->dtype;
    groups[i].largest = static_cast<int64_t>(largest[i]->charged);
    groups[i].shape = recorded_shape(*largest[i], &groups[i].cut);
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.bytes > b.bytes; });
  return groups;
}

std::vector<Unclaimed> collect_unclaimed(const std::unordered_set<const Buffer*>& claimed) {
  std::map<std::tuple<const Site*, const char*, Holder, uint32_t>, size_t> index;
  std::vector<Unclaimed> out;
  CoreLock hold(core.lock);
  core.ledger.for_each([&](const Buffer& b) {
    if (claimed.contains(&b)) return;
    const auto [found, is_new] = index.try_emplace({b.site, b.op, b.holder, b.run}, out.size());
    if (is_new) out.push_back({b.site, b.op, b.holder, b.run});
    Unclaimed& same = out[found->second];
    const auto charged = static_cast<int64_t>(b.charged);
    same.bytes += charged;
    ++same.count;
    if (b.idle) same.idle += charged;
    same.requested += static_cast<int64_t>(b.bytes);
  });
  return out;
}

std::vector<NamedGroup> named_groups() {
  std::vector<Group> groups;
  {
    CoreLock hold(core.lock);
    groups = collect_groups();
  }
  PlaceNames names;
  std::vector<NamedGroup> out;
  out.reserve(groups.size());
  for (const Group& group : groups) {
    out.push_back({names.of(group.site), group.op != nullptr ? group.op : "", name_of(group.holder),
                   group.bytes, group.count, group.idle});
  }
  return out;
}

}  // namespace tidemark::memory
