// Staging: host memory that the GPU reads and writes by itself, through which all copies go.
//
// A few slots, made when first needed and used in turn: a host that runs ahead waits for the oldest
// copy, and what is pinned is bounded.
#pragma once

#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include "tidemark/kernels/cuda/event.h"
#include "tidemark/memory/cache_registry.h"

namespace tidemark::cuda {

class Staging {
 public:
  static constexpr size_t kSlotBytes = 4 << 20;
  static constexpr int kSlots = 4;

  /// `name`: for the memory report.
  Staging(const Context& context, const char* name);
  ~Staging();

  /// A slot that is this copy's alone until it is given back.
  class Slot {
   public:
    Slot() = default;
    Slot(Staging& staging, int number) : staging_(&staging), number_(number) {}
    Slot(Slot&& other) noexcept
        : staging_(std::exchange(other.staging_, nullptr)), number_(other.number_) {}
    Slot& operator=(Slot&& other) noexcept {
      give_back(nullptr);
      staging_ = std::exchange(other.staging_, nullptr);
      number_ = other.number_;
      return *this;
    }
    ~Slot() { give_back(nullptr); }

    char* memory() const { return staging_->slots_[static_cast<size_t>(number_)].memory; }
    /// Used again when the stream has come to the event; null: at once.
    void give_back(std::shared_ptr<const Event> used_until) noexcept;

   private:
    Staging* staging_ = nullptr;
    int number_ = 0;
  };

  /// Waits until one is free. With the context pushed. Throws what the driver refuses.
  Slot take();

 private:
  struct Place {
    char* memory = nullptr;  // null: not made yet
    bool is_taken = false;
    std::shared_ptr<const Event> used_until;
  };
  int free_slot() const;
  memory::CacheUse use(const char* name);

  const Context& context_;
  std::mutex mutex_;
  std::condition_variable has_free_;
  std::array<Place, kSlots> slots_;
  int next_ = 0;
  int64_t made_ = 0;
  memory::CacheRegistration listed_;  // last: it asks the others
};

}  // namespace tidemark::cuda
