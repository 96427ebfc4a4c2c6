// Numbers for the names that events refer to.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tidemark/memory/site.h"
#include "tidemark/profile/format.h"

namespace tidemark::profile {

/// A name that was numbered and has not been written down.
struct NewName {
  NameTable table = NameTable::text;
  uint32_t number = 0;
  const memory::Site* site = nullptr;  // to be described
  std::string text;
};

/// Numbers for addresses that stay what they are: open addressing, linear probing.
class AddressNumbers {
 public:
  /// 0: not known.
  uint32_t find(const void* address) const noexcept;
  void set(const void* address, uint32_t number);
  void clear() { slots_.assign(slots_.size(), {}), count_ = 0; }

 private:
  struct Slot {
    const void* address = nullptr;
    uint32_t number = 0;
  };
  size_t position(const void* address) const noexcept;
  std::vector<Slot> slots_ = std::vector<Slot>(1024);
  size_t count_ = 0;
};

/// The caller holds the recorder's lock, except for has_new.
class Names {
 public:
  /// 0 for none, and when there is no memory for another.
  uint32_t of_site(const memory::Site* site) noexcept;
  uint16_t of_op(const char* op) noexcept;
  uint32_t of_text(std::string_view text) noexcept;

  bool has_new() const noexcept { return has_new_.load(std::memory_order_relaxed); }
  bool take_new(NewName& name);
  void clear();

 private:
  void announce(NewName name);

  uint64_t generation_ = 0;  // of the sites numbered
  AddressNumbers sites_, ops_;
  std::unordered_map<std::string, uint32_t> texts_;
  uint32_t last_[kNameTables] = {};
  std::deque<NewName> new_;
  std::atomic<bool> has_new_{false};
};

}  // namespace tidemark::profile
