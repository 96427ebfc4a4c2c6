// Elements that an iterator keeps for later: counted as the dataset's meanwhile.
//
//   Store store_{memory::Holder::dataset_shuffle};   // one for each buffer of an iterator
//   std::vector<Held> held_;
//   held_.emplace_back(store_, std::move(element));
//   out = held_.back().take();
#pragma once

#include <atomic>
#include <utility>

#include "tidemark/data/dataset.h"
#include "tidemark/data/state.h"
#include "tidemark/memory/buffer.h"

namespace tidemark::data {

/// A buffer of an iterator: what it has, and the line of its dataset. Listed while it lives. Made
/// while the iterator is started; outlives the elements in it.
class Store {
 public:
  explicit Store(memory::Holder holder);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  memory::Holder holder() const noexcept { return holder_; }
  const memory::Site* site() const noexcept { return site_; }
  int64_t elements() const noexcept { return elements_.load(std::memory_order_relaxed); }
  int64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }
  void add(int64_t elements, int64_t bytes) noexcept {
    elements_.fetch_add(elements, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    int64_t largest = largest_.load(std::memory_order_relaxed);
    while (bytes > largest && !largest_.compare_exchange_weak(largest, bytes)) {
    }
  }
  /// Whether one more element, as large as the largest so far, stays within so many bytes (0: any).
  /// The first always does.
  bool has_room(int64_t most_bytes) const noexcept {
    if (most_bytes <= 0 || elements() == 0) return true;
    return bytes() + largest_.load(std::memory_order_relaxed) <= most_bytes;
  }

 private:
  memory::Holder holder_;
  memory::Site* site_;
  std::atomic<int64_t> elements_{0}, bytes_{0}, largest_{0};
};

class Held {
 public:
  /// `shared`: the caller goes on using the element.
  Held(Store& store, Element element, bool is_shared = false);
  Held(Held&& other) noexcept
      : store_(std::exchange(other.store_, nullptr)),
        element_(std::move(other.element_)),
        named_(std::exchange(other.named_, 0)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  Held& operator=(Held&& other) noexcept {
    std::swap(store_, other.store_);
    std::swap(element_, other.element_);
    std::swap(named_, other.named_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Held() { let_go(); }

  const Element& element() const { return element_; }
  Element take() {
    let_go();
    return std::exchange(element_, {});
  }

 private:
  void let_go() noexcept;

  Store* store_;  // null: holds nothing
  Element element_;
  uint64_t named_ = 0;  // a bit for each tensor that is counted as ours
  int64_t bytes_ = 0;
};

template <class Many>
void save_all(StateWriter& to, const Many& held) {
  to.number(static_cast<int64_t>(held.size()));
  for (const Held& one : held) to.element(one.element());
}
template <class Many>
void restore_all(StateReader& from, Store& store, Many& held) {
  held.clear();
  for (int64_t left = from.count(kMostSaved); left > 0; --left) {
    held.emplace_back(store, from.element());
  }
}

}  // namespace tidemark::data
