#include "tidemark/profile/names.h"

#include <limits>
#include <new>
#include <utility>

namespace tidemark::profile {

namespace {

/// Texts of marks beyond these are all "other": a program may make up a new one each step.
constexpr uint32_t kMostTexts = 65535;

}  // namespace

size_t AddressNumbers::position(const void* address) const noexcept {
  const auto word = reinterpret_cast<uintptr_t>(address);
  size_t at = ((word >> 4) * 0x9e3779b97f4a7c15u >> 20) & (slots_.size() - 1);
  while (slots_[at].address != nullptr && slots_[at].address != address) {
    at = (at + 1) & (slots_.size() - 1);
  }
  return at;
}

uint32_t AddressNumbers::find(const void* address) const noexcept {
  return slots_[position(address)].number;
}

void AddressNumbers::set(const void* address, uint32_t number) {
  if (2 * (count_ + 1) > slots_.size()) {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.address != nullptr) slots_[position(slot.address)] = slot;
    }
  }
  slots_[position(address)] = {address, number};
  ++count_;
}

uint32_t Names::of_site(const memory::Site* site) noexcept {
  if (site == nullptr) return 0;
  const uint64_t generation = memory::site_generation();
  if (generation != generation_) [[unlikely]] {  // a site may stand for another place now
    sites_.clear();
    generation_ = generation;
  }
  if (const uint32_t known = sites_.find(site)) return known;
  try {
    const uint32_t number = ++last_[static_cast<int>(NameTable::place)];
    announce({NameTable::place, number, site, ""});
    sites_.set(site, number);
    return number;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

uint16_t Names::of_op(const char* op) noexcept {
  if (op == nullptr) return 0;
  if (const uint32_t known = ops_.find(op)) return static_cast<uint16_t>(known);
  uint32_t& last = last_[static_cast<int>(NameTable::op)];
  if (last == std::numeric_limits<uint16_t>::max()) return 0;
  try {
    announce({NameTable::op, last + 1, nullptr, op});
    ops_.set(op, last + 1);
    return static_cast<uint16_t>(++last);
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

uint32_t Names::of_text(std::string_view text) noexcept {
  if (text.empty()) return 0;
  try {
    uint32_t& last = last_[static_cast<int>(NameTable::text)];
    const auto known = texts_.find(std::string(text));
    if (known != texts_.end()) return known->second;
    if (last >= kMostTexts) return 0;
    announce({NameTable::text, last + 1, nullptr, std::string(text)});
    texts_.emplace(text, last + 1);
    return ++last;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

void Names::announce(NewName name) {
  new_.push_back(std::move(name));
  has_new_.store(true, std::memory_order_relaxed);
}

bool Names::take_new(NewName& name) {
  if (new_.empty()) {
    has_new_.store(false, std::memory_order_relaxed);
    return false;
  }
  name = std::move(new_.front());
  new_.pop_front();
  return true;
}

void Names::clear() {
  sites_.clear();
  ops_.clear();
  texts_.clear();
  new_.clear();
  for (uint32_t& last : last_) last = 0;
  has_new_.store(false, std::memory_order_relaxed);
}

}  // namespace tidemark::profile
