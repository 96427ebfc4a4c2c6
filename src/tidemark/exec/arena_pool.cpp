#include "tidemark/exec/arena_pool.h"

#include <tidemark/bytes.h>
#include <tidemark/memory.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <set>
#include <vector>

#include "tidemark/base/backend.h"
#include "tidemark/exec/observed_op.h"
#include "tidemark/memory/cache_registry.h"
#include "tidemark/memory/context.h"
#include "tidemark/memory/idle.h"
#include "tidemark/memory/poison.h"

namespace tidemark::exec {

namespace {

struct Arena {
  memory::Buffer* buffer = nullptr;
  uint64_t id = 0;
};

class Pool {
 public:
  static Pool& instance() {
    static Pool* const pool = new Pool(Device());  // programs may end after any other static object
    return *pool;
  }
  /// Null: nobody asked for one. Where memory is short, none is made.
  static Pool* known_on(Device device) {
    if (device.is_cpu()) return &instance();
    return elsewhere[device.number()].load(std::memory_order_acquire);
  }
  static Pool& on(Device device) {
    if (device.is_cpu()) return instance();
    static constinit std::mutex opening;
    const std::lock_guard lock(opening);
    std::atomic<Pool*>& pool = elsewhere[device.number()];
    if (!pool.load(std::memory_order_relaxed)) {
      pool.store(new Pool(device), std::memory_order_release);
    }
    return *pool.load(std::memory_order_relaxed);
  }

  Arena take(size_t bytes, bool exact) {
    memory::Buffer* too_small = nullptr;
    {
      const std::lock_guard lock(mutex_);
      ++in_use_;
      most_in_use_ = std::max(most_in_use_, in_use_);
      if (const auto found = best_for(bytes, exact); found != idle_.end()) {
        const Arena arena = *found;
        idle_.erase(found);
        ++hits_;
        memory::set_idle(arena.buffer, false, bytes);
        return arena;
      }
      ++misses_;
      too_small = take_oldest();
    }
    // Its place is taken by the larger one: what a program needs once, it needs again.
    if (too_small) memory::release(too_small);
    const OpName of_whom(memory::thread_context.run_name);
    try {
      return {
          memory::allocate({.bytes = bytes, .holder = memory::Holder::arena, .device = device_}),
          next_id()};
    } catch (...) {
      const std::lock_guard lock(mutex_);
      --in_use_;
      throw;
    }
  }

  /// `bytes`: how much was asked for; the block may have more.
  void give_back(Arena arena, size_t bytes) {
    std::vector<memory::Buffer*> gone;
    {
      const std::lock_guard lock(mutex_);
      --in_use_;
      memory::set_idle(arena.buffer, true, bytes);
      idle_.push_back(arena);
      // What counts in a scope of its own leaves that scope with the run.
      if (arena.buffer->budget) gone.push_back(take_newest());
      while (idle_.size() + in_use_ > most_in_use_ || idle_bytes() > capacity()) {
        if (idle_.empty()) break;
        gone.push_back(take_oldest());
        ++evictions_;
      }
    }
    for (memory::Buffer* buffer : gone) memory::release(buffer);
  }

  void add_need(int64_t bytes) {
    const std::lock_guard lock(mutex_);
    needs_.insert(bytes);
  }

  void remove_need(int64_t bytes) {
    std::vector<memory::Buffer*> gone;
    {
      const std::lock_guard lock(mutex_);
      needs_.erase(needs_.find(bytes));
      const auto most = static_cast<size_t>(needs_.empty() ? 0 : *needs_.rbegin());
      for (size_t i = idle_.size(); i-- > 0;) {
        if (idle_[i].buffer->bytes <= most) continue;
        gone.push_back(idle_[i].buffer);
        idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    for (memory::Buffer* buffer : gone) memory::release(buffer);
  }

  /// Under pressure: everything that waits goes.
  bool drop_idle() {
    std::vector<Arena> gone;
    {
      const std::lock_guard lock(mutex_);
      gone.swap(idle_);
      most_in_use_ = std::max<size_t>(in_use_, 1);
    }
    for (const Arena& arena : gone) memory::release(arena.buffer);
    return !gone.empty();
  }

 private:
  explicit Pool(Device device) : device_(device) {}

  /// The smallest that is large enough, in the account of this thread.
  std::vector<Arena>::iterator best_for(size_t bytes, bool exact) {
    auto best = idle_.end();
    for (auto at = idle_.begin(); at != idle_.end(); ++at) {
      const memory::Buffer& buffer = *at->buffer;
      if (exact && buffer.bytes != bytes) continue;
      if (buffer.bytes < bytes || buffer.budget != budget()) continue;
      if (best == idle_.end() || buffer.bytes < best->buffer->bytes) best = at;
    }
    return best;
  }
  memory::Buffer* take_oldest() {
    if (idle_.empty()) return nullptr;
    memory::Buffer* buffer = idle_.front().buffer;
    idle_.erase(idle_.begin());
    return buffer;
  }
  memory::Buffer* take_newest() {
    memory::Buffer* buffer = idle_.back().buffer;
    idle_.pop_back();
    return buffer;
  }
  int64_t idle_bytes() const {
    int64_t bytes = 0;
    for (const Arena& arena : idle_) bytes += static_cast<int64_t>(arena.buffer->charged);
    return bytes;
  }
  int64_t capacity() const {
    return (device_.is_cpu() ? memory::limit() : memory::stats(device_).limit) / 2;
  }
  /// Scopes bound the host's memory.
  const memory::Budget* budget() const {
    return device_.is_cpu() ? memory::thread_context.budget : nullptr;
  }
  static uint64_t next_id() {
    static constinit std::atomic<uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
  }

  static constinit std::array<std::atomic<Pool*>, kMostDevices> elsewhere;

  const Device device_;
  std::mutex mutex_;
  std::multiset<int64_t> needs_;
  std::vector<Arena> idle_;  // the one used longest ago first
  size_t in_use_ = 0, most_in_use_ = 0;
  int64_t hits_ = 0, misses_ = 0, evictions_ = 0;
  memory::CacheRegistration listed_{[this] {
    const std::lock_guard lock(mutex_);
    memory::CacheUse use;
    use.name = "idle arenas of functions";
    if (!device_.is_cpu()) use.name += " on " + device_.name();
    use.entries = static_cast<int64_t>(idle_.size());
    use.bytes = idle_bytes();
    use.capacity = capacity();
    use.hits = hits_;
    use.misses = misses_;
    use.evictions = evictions_;
    return use;
  }};
};

constinit std::array<std::atomic<Pool*>, kMostDevices> Pool::elsewhere{};

/// What a step around this thread's runs has set aside for them.
thread_local constinit ArenaPart offered;

}  // namespace

bool drop_idle_arenas(Device device) {
  Pool* const pool = Pool::known_on(device);
  return pool && pool->drop_idle();
}

ArenaOffer::ArenaOffer(const ArenaPart& part) : outer_(std::exchange(offered, part)) {}
ArenaOffer::~ArenaOffer() { offered = outer_; }

ArenaNeed::ArenaNeed(int64_t bytes, Device device) : bytes_(bytes), device_(device) {
  if (bytes > 0) Pool::on(device).add_need(bytes);
}

ArenaNeed::~ArenaNeed() {
  if (bytes_ > 0) Pool::on(device_).remove_need(bytes_);
}

ArenaLease::ArenaLease(const ArenaNeed& need, bool exact) : bytes_(need.bytes()) {
  if (bytes_ <= 0) return;
  const Arena arena = Pool::on(need.device()).take(static_cast<size_t>(bytes_), exact);
  buffer_ = arena.buffer;
  block_ = arena.id;
}

ArenaLease::ArenaLease(int64_t bytes, bool exact) : bytes_(bytes) {
  if (bytes <= 0) return;
  if (offered.bytes >= bytes) {
    // Not offered to anybody else meanwhile.
    offered_ = std::exchange(offered, ArenaPart{});
    has_offer_ = true;
    buffer_ = offered_.buffer;
    offset_ = offered_.offset;
    block_ = offered_.block;
  } else {
    const Arena arena = Pool::instance().take(static_cast<size_t>(bytes), exact);
    buffer_ = arena.buffer;
    block_ = arena.id;
  }
  if (memory::core.poison) {
    std::memset(data(), memory::poison::kNaNs, static_cast<size_t>(bytes));
  }
}

ArenaLease::~ArenaLease() {
  if (has_offer_) {
    offered = offered_;
  } else if (buffer_) {
    Pool::on(buffer_->device).give_back({buffer_, block_}, static_cast<size_t>(bytes_));
  }
}

uint64_t ArenaLease::id() const {
  // Offsets are multiples of the alignment: blocks of up to 256 GiB have numbers of their own.
  const auto place = static_cast<uint64_t>(offset_) / memory::kAlignment;
  return block_ == 0 ? 0 : (block_ << 32) + place;
}

}  // namespace tidemark::exec
