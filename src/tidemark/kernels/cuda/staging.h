// Staging: host memory that the GPU reads and writes by itself, through which large copies go.
//
// A few slots, made when first needed: a host that runs ahead waits for the oldest copy, and what
// is pinned is bounded.
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
  static constexpr int kSlots = 8;

  /// `name`: for the memory report.
  Staging(const Context& context, const char* name);
  ~Staging();

  /// A slot that is this copy's alone as long as this lives.
  class Slot {
   public:
    Slot() = default;
    Slot(Staging& staging, int number) : staging_(&staging), number_(number) {}
    Slot(Slot&& other) noexcept
        : staging_(std::exchange(other.staging_, nullptr)),
          number_(other.number_),
          is_copied_(other.is_copied_),
          copied_with_(std::move(other.copied_with_)) {}
    Slot& operator=(Slot&& other) noexcept {
      Slot taken(std::move(other));
      std::swap(staging_, taken.staging_);
      std::swap(number_, taken.number_);
      std::swap(is_copied_, taken.is_copied_);
      std::swap(copied_with_, taken.copied_with_);
      return *this;
    }
    ~Slot();

    /// False: this has none.
    explicit operator bool() const { return staging_; }
    char* memory() const { return staging_->slots_[static_cast<size_t>(number_)].memory; }
    /// The GPU may be at it from now on, and until the event of ends_with(). Where there comes to
    /// be none, whoever has the slot next waits for all work of the GPU.
    void begins() { is_copied_ = true; }
    void ends_with(std::shared_ptr<const Event> event) { copied_with_ = std::move(event); }
    /// The host waits until the GPU is done with it. Throws what work before it failed with.
    void await() const { copied_with_->await(); }

   private:
    Staging* staging_ = nullptr;
    int number_ = 0;
    bool is_copied_ = false;
    std::shared_ptr<const Event> copied_with_;
  };

  /// Waits until one is free: who has some already may wait for itself. With the context pushed.
  /// Throws what the driver refuses.
  Slot take();
  /// None where all are taken.
  Slot take_if_free();

 private:
  struct Place {
    char* memory = nullptr;  // null: not made yet
    bool is_taken = false;
    uint64_t given_back = 0;                  // counted over all slots
    std::shared_ptr<const Event> used_until;  // null: nobody is at it,
    bool ends_unknown = false;                // unless this is set
  };
  int free_slot() const;
  /// Number `number`, made ready. Takes over the lock.
  Slot prepare(std::unique_lock<std::mutex> hold, int number);
  memory::CacheUse use(const char* name);

  const Context& context_;
  std::mutex mutex_;
  std::condition_variable has_free_;
  std::array<Place, kSlots> slots_;
  uint64_t returns_ = 0;
  int64_t made_ = 0;
  memory::CacheRegistration listed_;  // last: it asks the others
};

}  // namespace tidemark::cuda
