// From tensor ids to slots: open addressing, no heap for the first few.
#pragma once

#include <cstdint>
#include <memory>

namespace tidemark::autodiff {

class IdMap {
 public:
  IdMap() = default;
  IdMap(const IdMap&) = delete;
  IdMap& operator=(const IdMap&) = delete;

  /// -1: not there.
  int32_t find(uint64_t id) const noexcept {
    const Cell* cells = data();
    for (size_t at = start(id);; at = (at + 1) & mask_) {
      if (cells[at].id == id) return cells[at].slot;
      if (cells[at].id == 0) return -1;
    }
  }
  /// The id must be new and not 0.
  void insert(uint64_t id, int32_t slot) {
    if (2 * (count_ + 1) > mask_ + 1) grow();
    place(data(), id, slot);
    ++count_;
  }
  /// The id must be there.
  void replace(uint64_t id, int32_t slot) noexcept {
    size_t at = start(id);
    while (data()[at].id != id) at = (at + 1) & mask_;
    data()[at].slot = slot;
  }
  void clear() noexcept {
    heap_.reset();
    for (Cell& cell : few_) cell = {};
    mask_ = kFew - 1;
    count_ = 0;
  }

 private:
  struct Cell {
    uint64_t id = 0;
    int32_t slot = -1;
  };
  static constexpr size_t kFew = 16;

  const Cell* data() const noexcept { return heap_ ? heap_.get() : few_; }
  Cell* data() noexcept { return heap_ ? heap_.get() : few_; }
  size_t start(uint64_t id) const noexcept { return (id * 0x9E3779B97F4A7C15ull >> 20) & mask_; }
  void place(Cell* cells, uint64_t id, int32_t slot) const noexcept {
    size_t at = start(id);
    while (cells[at].id != 0) at = (at + 1) & mask_;
    cells[at] = {id, slot};
  }
  void grow() {
    const size_t old_size = mask_ + 1;
    auto larger = std::make_unique<Cell[]>(2 * old_size);
    const Cell* old = data();
    mask_ = 2 * old_size - 1;
    for (size_t i = 0; i < old_size; ++i) {
      if (old[i].id != 0) place(larger.get(), old[i].id, old[i].slot);
    }
    heap_ = std::move(larger);
  }

  Cell few_[kFew];
  std::unique_ptr<Cell[]> heap_;
  size_t mask_ = kFew - 1;
  size_t count_ = 0;
};

}  // namespace tidemark::autodiff
