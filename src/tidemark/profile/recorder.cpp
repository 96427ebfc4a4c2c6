#include "tidemark/profile/recorder.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

#include "tidemark/base/attached.h"
#include "tidemark/base/backend.h"
#include "tidemark/base/spin_mutex.h"
#include "tidemark/exec/versions.h"
#include "tidemark/memory/context.h"
#include "tidemark/memory/watch.h"
#include "tidemark/profile/event_store.h"
#include "tidemark/profile/names.h"

#include <tidemark/error.h>
#include <tidemark/memory.h>

#include <time.h>
#include <unistd.h>

namespace tidemark::profile {

constinit std::atomic<bool> is_on{false};

namespace {

uint64_t now(clockid_t clock = CLOCK_MONOTONIC) noexcept {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

uint32_t thread_number() noexcept {
  static constinit std::atomic<uint32_t> last{0};
  thread_local const uint32_t mine = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return mine;
}

/// What a plan places: values that have a buffer, and workspaces.
template <class Visit>
void each_buffer(const plan::GraphPlan& plan, Visit visit) {
  for (const plan::PlannedValue& v : plan.values) {
    const bool has_own = v.view_of == plan::kNone && v.takes_over == plan::kNone;
    if (v.place == plan::Place::elsewhere || v.bytes == 0 || !has_own) continue;
    const auto kind = v.place == plan::Place::arena ? PlanBuffer::in_arena
                      : v.is_result                 ? PlanBuffer::result
                                                    : PlanBuffer::own;
    visit(PlanBuffer{v.bytes, v.offset, static_cast<uint32_t>(v.first),
                     static_cast<uint32_t>(v.last), 0, 0, kind, 0},
          *v.node);
  }
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const plan::PlannedStep& step = plan.steps[i];
    if (step.workspace == 0) continue;
    const auto at = static_cast<uint32_t>(i);
    visit(PlanBuffer{step.workspace, step.workspace_offset, at, at, 0, 0, PlanBuffer::workspace, 0},
          *step.node);
  }
}

/// Turns what it sees into events. Its lock is taken inside that of memory/, never around it.
class Recorder final : public Observer {
 public:
  void buffer_found(const memory::Buffer& b) noexcept override { note(EventKind::found, b); }
  void buffer_added(const memory::Buffer& b) noexcept override { note(EventKind::allocate, b); }
  void buffer_removed(const memory::Buffer& b) noexcept override { note(EventKind::free, b); }
  void buffer_changed(const memory::Buffer& b) noexcept override { note(EventKind::change, b); }

  void op_ended(const char* op, uint64_t began) noexcept override {
    const uint64_t took = now() - began;
    const memory::Site* site = memory::thread_context.site;
    {
      std::lock_guard hold(lock_);
      if (!is_on_) return;
      append({began > started_ ? began - started_ : 0, thread_number(), took, names_.of_site(site),
              names_.of_op(op), EventKind::op, 0});
      if (++ops_ >= next_look_ops_) {
        next_look_ops_ = 2 * ops_;
        wants_look_.store(true, std::memory_order_relaxed);
      }
    }
    relax();
  }

  void device_worked(const DeviceWork& work) noexcept override {
    try {
      const std::string device = work.device.name();
      std::lock_guard hold(lock_);
      if (!is_on_) return;
      append({work.began > started_ ? work.began - started_ : 0, names_.of_text(device),
              work.nanoseconds, names_.of_site(work.place), names_.of_op(work.name),
              EventKind::work, 0});
    } catch (const std::bad_alloc&) {  // nobody is told of it
    }
  }

  void mark(EventKind kind, std::string_view text, uint64_t value) noexcept {
    const memory::Site* site = memory::thread_context.site;
    {
      std::lock_guard hold(lock_);
      if (!is_on_) return;
      append({now() - started_, names_.of_text(text), value, names_.of_site(site), 0, kind, 0});
    }
    relax();
  }

  /// A plan was made: an event, and the map of its arena.
  void planned(const exec::PlannedGraph& planned) noexcept override {
    try {
      const std::string block = describe(planned);
      if (block.empty()) return;
      store_->add_plan(block);
    } catch (const std::bad_alloc&) {  // the event tells of it without its map
    }
    relax();
  }

  void start(const Options& options);
  Status stop();
  Status status();
  void save(const std::string& path);

 private:
  /// Appends the event; the block of the map, "" where nobody records or too many are there.
  std::string describe(const exec::PlannedGraph& planned);

  void note(EventKind kind, const memory::Buffer& b) noexcept {
    std::lock_guard hold(lock_);
    const auto holder = static_cast<uint8_t>(static_cast<uint8_t>(b.holder) | (b.idle ? kIdle : 0));
    append({now() - started_, reinterpret_cast<uintptr_t>(&b), b.charged, names_.of_site(b.site),
            names_.of_op(b.op), kind, holder});
    if (kind == EventKind::free) {
      live_ -= static_cast<int64_t>(b.charged);
    } else if (kind != EventKind::change) {
      live_ += static_cast<int64_t>(b.charged);
      if (live_ >= next_look_bytes_) [[unlikely]] {
        next_look_bytes_ = live_ + std::max<int64_t>(live_ / 4, kSmallestGrowth);
        wants_look_.store(true, std::memory_order_relaxed);
      }
    }
  }
  void append(const Event& event) noexcept { store_->append(event); }

  /// Between two events, with no lock held: waits for the disk where it is far behind, and writes
  /// down the names of new places.
  void relax() noexcept {
    if (wants_look_.load(std::memory_order_relaxed)) [[unlikely]] {
      const auto look = front_end().look;
      if (wants_look_.exchange(false, std::memory_order_relaxed) && look != nullptr) look();
    }
    if (names_.has_new()) [[unlikely]]
      write_names();
    if (store_->is_full()) [[unlikely]]
      store_->wait_for_room();
    if (store_->has_failed()) [[unlikely]]
      switch_off();
  }
  Status read_status();
  void write_names() noexcept;
  void hear_of_devices() noexcept;
  void switch_off() noexcept;

  std::mutex control_;  // start, stop, save: one at a time
  SpinMutex lock_;
  static constexpr int64_t kSmallestGrowth = 64 << 10;
  static constexpr uint64_t kFirstLook = 512;  // ops

  bool is_on_ = false;
  uint64_t started_ = 0;
  int64_t live_ = 0, next_look_bytes_ = 0;
  uint64_t ops_ = 0, next_look_ops_ = kFirstLook;
  size_t map_bytes_ = 0;
  std::atomic<bool> wants_look_{false};
  Names names_;
  std::mutex naming_;
  // A thread may still be on its way out of an op when a recording ends: its store goes with the
  // recording after the next.
  std::shared_ptr<EventStore> kept_store_, previous_store_;
  EventStore* store_ = nullptr;
  Status last_;
};

constinit std::atomic<Recorder*> current{nullptr};

Recorder& recorder() {
  Recorder* known = current.load(std::memory_order_acquire);
  if (known == nullptr) {
    auto* fresh = new Recorder;  // never destroyed: ops may end while the process does
    if (current.compare_exchange_strong(known, fresh)) return *fresh;
    delete fresh;
  }
  return *known;
}

/// The child of a fork has neither the writer's thread nor a right to the parent's file; the
/// recorder's locks may be held by threads it does not have. It begins with a new one.
void forget_in_child() {
  is_on.store(false, std::memory_order_relaxed);
  if (Recorder* parents = current.exchange(nullptr)) memory::stop_watching(*parents);
}

Header header_of(uint64_t flags) {
  Header header{};
  std::copy(std::begin(kMagic), std::end(kMagic), header.magic);
  header.version = kVersion;
  header.header_bytes = sizeof(Header);
  header.started = static_cast<int64_t>(now(CLOCK_REALTIME));
  header.pid = getpid();
  header.limit = memory::limit();
  header.flags = flags;
  return header;
}

constexpr size_t kMostMapBytes = 4 << 20;     // of all maps of a recording
constexpr size_t kMostPlannedBuffers = 4096;  // the largest of a plan

std::string Recorder::describe(const exec::PlannedGraph& planned) {
  std::vector<PlanBuffer> buffers;
  std::vector<const graph::Node*> nodes;
  each_buffer(planned.plan, [&](const PlanBuffer& buffer, const graph::Node& node) {
    buffers.push_back(buffer);
    nodes.push_back(&node);
  });
  std::vector<size_t> order(buffers.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  if (order.size() > kMostPlannedBuffers) order.resize(kMostPlannedBuffers);
  const char* name = memory::thread_context.run_name;
  const plan::DevicePlan& plan = planned.plan.host();
  const memory::Site* site = memory::thread_context.site;
  std::lock_guard hold(lock_);
  if (!is_on_) return "";
  const uint32_t text = names_.of_text(name ? name : "a graph");
  PlanHead head{now() - started_,    plan.arena_bytes, plan.result_bytes,
                plan.peak,           plan.lower_bound, text,
                names_.of_site(site)};
  append({head.time, text, static_cast<uint64_t>(plan.arena_bytes), head.place, 0, EventKind::plan,
          0});
  const size_t size = sizeof head + order.size() * sizeof(PlanBuffer);
  if (map_bytes_ + size > kMostMapBytes) return "";
  map_bytes_ += size;
  std::string block(reinterpret_cast<const char*>(&head), sizeof head);
  for (const size_t i : order) {
    buffers[i].name = names_.of_text(graph::kind_of(*nodes[i]));
    buffers[i].place = names_.of_site(nodes[i]->site);
    block.append(reinterpret_cast<const char*>(&buffers[i]), sizeof(PlanBuffer));
  }
  return block;
}

void Recorder::start(const Options& options) {
  std::lock_guard control(control_);
  if (is_on_) fail<InvalidArgumentError>("a recording is under way already; stop it first");
  const Header header = header_of(0);  // asks memory/, which is there from then on
  // After memory/ registered its own: in the child its locks are free again by then.
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, forget_in_child);
  auto store = options.path.empty() ? make_ring(options.ring_events)
                                    : make_file(options.path, header, lock_);
  std::shared_ptr<EventStore> gone;  // it takes the lock
  {
    std::lock_guard hold(lock_);
    names_.clear();
    started_ = now();
    live_ = 0;
    ops_ = 0;
    map_bytes_ = 0;
    next_look_bytes_ = kSmallestGrowth;
    next_look_ops_ = kFirstLook;
    gone.swap(previous_store_);
    previous_store_.swap(kept_store_);
    kept_store_.swap(store);
    store_ = kept_store_.get();
    is_on_ = true;
    last_ = {true, 0, 0, options.path, ""};
  }
  memory::start_watching(*this);
  is_on.store(true, std::memory_order_relaxed);
}

/// What devices are still at is waited for, for a while: its times are told when it is done. What
/// it fails with is told to who waits for its results.
void Recorder::hear_of_devices() noexcept {
  constexpr int kMostLooks = 1000;
  try {
    for (const Device device : open_devices()) {
      if (device.is_cpu()) continue;
      Stream& stream = accelerator_of(device).stream();
      const Moment last = stream.now();
      for (int look = 0; look < kMostLooks && !stream.is_past(last); ++look) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      stream.tell_times();
    }
  } catch (const std::exception&) {
  }
}

void Recorder::switch_off() noexcept {
  is_on.store(false, std::memory_order_relaxed);
  memory::stop_watching(*this);
  std::lock_guard hold(lock_);
  is_on_ = false;
}

Status Recorder::stop() {
  std::lock_guard control(control_);
  if (!store_) return last_;
  if (is_on_) hear_of_devices();
  switch_off();
  write_names();
  store_->finish();
  return read_status();
}

Status Recorder::status() {
  std::lock_guard control(control_);
  return store_ ? read_status() : last_;
}

Status Recorder::read_status() {
  std::string error = store_->error();
  std::lock_guard hold(lock_);
  last_ = {is_on_, store_->events(), store_->lost(), std::move(last_.path), std::move(error)};
  return last_;
}

void Recorder::save(const std::string& path) {
  std::lock_guard control(control_);
  if (!store_) fail<InvalidArgumentError>("there is no recording; start one first");
  write_names();
  store_->save(path, header_of(kFromRing), lock_);
}

/// A place is described without any lock of ours: Python may have to be asked.
void Recorder::write_names() noexcept {
  const std::unique_lock naming(naming_, std::try_to_lock);
  if (!naming) return;  // another thread is at it
  try {
    for (;;) {
      NewName name;
      {
        std::lock_guard hold(lock_);
        if (!names_.take_new(name)) return;
      }
      if (name.site) name.text = memory::describe(*name.site);
      store_->add_name(name.table, name.number, name.text);
      if (!name.site || name.site->device == 0) continue;
      const Device device = Device::numbered(name.site->device);
      store_->add_name(NameTable::device, name.number,
                       message(device.name(), " ", memory::stats(device).limit));
    }
  } catch (const std::bad_alloc&) {  // the places then have numbers only
  }
}

}  // namespace

void start(const Options& options) { recorder().start(options); }
Status stop() { return recorder().stop(); }
Status status() { return recorder().status(); }
void save(const std::string& path) { recorder().save(path); }

void mark(EventKind kind, std::string_view text, uint64_t value) noexcept {
  if (is_recording()) recorder().mark(kind, text, value);
}

}  // namespace tidemark::profile
