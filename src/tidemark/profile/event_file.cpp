// Events into a file, with a few chunks between the program and the disk; or into a ring.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "tidemark/base/threads.h"
#include "tidemark/profile/event_store.h"

#include <tidemark/error.h>

namespace tidemark::profile {

namespace {

constexpr size_t kChunks = 32;
/// From so few free chunks on, threads between two ops wait for the disk.
constexpr size_t kFewFree = 8;
/// What happened is in the file so much later at most.
constexpr auto kFlushEvery = std::chrono::milliseconds(250);

/// All of it, or the error's number.
int write_all(int file, const char* data, size_t bytes) noexcept {
  while (bytes > 0) {
    const ssize_t done = ::write(file, data, bytes);
    if (done < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    data += done;
    bytes -= static_cast<size_t>(done);
  }
  return 0;
}

int open_for_writing(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) {
    fail<InvalidArgumentError>("cannot write ", path, ": ", std::strerror(errno));
  }
  return file;
}

struct Chunk {
  std::unique_ptr<Event[]> events = std::make_unique<Event[]>(kChunkEvents);
  size_t count = 0;
};

class EventFile final : public EventStore {
 public:
  EventFile(const std::string& path, const Header& header, SpinMutex& lock)
      : path_(path), lock_(lock), file_(open_for_writing(path)) {
    pending_.assign(reinterpret_cast<const char*>(&header),
                    reinterpret_cast<const char*>(&header) + sizeof header);
    free_.resize(kChunks);
    full_.reserve(kChunks);
    try {
      writer_ = start_thread("a recording", [this] { write_until_the_end(); });
    } catch (...) {
      ::close(file_);
      throw;
    }
  }
  ~EventFile() override { finish(); }

  void wait_for_room() noexcept override {
    std::unique_lock hold(mutex_);
    room_.wait(hold, [&] { return free_.size() >= kFewFree || is_ending_ || error_ != 0; });
  }

  void add_name(NameTable table, uint32_t number, std::string_view text) override {
    std::lock_guard hold(mutex_);
    append_name_block(pending_, table, number, text);
  }

  void add_plan(std::string_view block) override {
    std::lock_guard hold(mutex_);
    append_block(pending_, BlockKind::plan, block.data(), block.size());
  }

  void finish() override {
    {
      std::lock_guard order(lock_);
      std::lock_guard hold(mutex_);
      is_ending_ = true;
      totals_ = {events_, lost_};
    }
    work_.notify_one();
    room_.notify_all();
    if (writer_.joinable()) writer_.join();
    std::lock_guard hold(mutex_);
    free_.clear();
  }

  std::string error() override {
    std::lock_guard hold(mutex_);
    return error_ == 0 ? "" : std::strerror(error_);
  }

  void save(const std::string&, const Header&, SpinMutex&) override {
    fail<InvalidArgumentError>("this recording goes to ", path_,
                               " already; a ring can be saved, a file is whole after stop()");
  }

 private:
  void next_chunk() noexcept override {
    std::lock_guard hold(mutex_);
    if (current_.events) put_away();
    if (free_.empty() || error_ != 0) return;
    current_ = std::move(free_.back());
    free_.pop_back();
    at_ = current_.events.get();
    end_ = at_ + kChunkEvents;
    if (lost_ > told_lost_) {
      *at_++ = {0, 0, lost_ - told_lost_, 0, 0, EventKind::lost, 0};
      told_lost_ = lost_;
    }
    is_full_.store(free_.size() < kFewFree, std::memory_order_relaxed);
  }

  /// Hands the current chunk to the writer. `mutex_` is held; full_ has room for all there are.
  void put_away() noexcept {
    current_.count = static_cast<size_t>(at_ - current_.events.get());
    full_.push_back(std::move(current_));
    current_ = {nullptr, 0};
    at_ = end_ = nullptr;
    work_.notify_one();
  }

  void write_until_the_end() noexcept {
    for (;;) {
      std::vector<Chunk> chunks;
      std::vector<char> blocks;
      bool last = false;
      {
        std::unique_lock hold(mutex_);
        work_.wait_for(hold, kFlushEvery, [&] { return !full_.empty() || is_ending_; });
        last = is_ending_;
      }
      {
        std::lock_guard order(lock_);
        std::lock_guard hold(mutex_);
        if ((last || full_.empty()) && current_.events) put_away();
        chunks.swap(full_);
        full_.reserve(kChunks);
        blocks.swap(pending_);
      }
      if (last) append_block(blocks, BlockKind::end, &totals_, sizeof totals_);
      write_down(chunks, blocks);
      if (last) break;
    }
    ::close(file_);
  }

  void write_down(std::vector<Chunk>& chunks, const std::vector<char>& blocks) noexcept {
    int error = error_;
    // Names go first: an event's name then is never further back than the event.
    if (error == 0) error = write_all(file_, blocks.data(), blocks.size());
    for (Chunk& chunk : chunks) {
      const size_t bytes = chunk.count * sizeof(Event);
      const BlockHead head{static_cast<uint32_t>(BlockKind::events), static_cast<uint32_t>(bytes)};
      if (error == 0) error = write_all(file_, reinterpret_cast<const char*>(&head), sizeof head);
      if (error == 0) {
        error = write_all(file_, reinterpret_cast<const char*>(chunk.events.get()), bytes);
      }
      std::lock_guard hold(mutex_);
      free_.push_back(std::move(chunk));
      is_full_.store(free_.size() < kFewFree, std::memory_order_relaxed);
      room_.notify_all();
    }
    if (error != 0 && error_ == 0) give_up(error);
  }

  void give_up(int error) noexcept {
    {
      std::lock_guard hold(mutex_);
      error_ = error;
    }
    has_failed_.store(true, std::memory_order_relaxed);
    room_.notify_all();
    std::fprintf(stderr, "tidemark: cannot go on recording to %s: %s; recording is off now\n",
                 path_.c_str(), std::strerror(error));
  }

  std::string path_;
  SpinMutex& lock_;  // the recorder's; taken before mutex_
  int file_;
  std::mutex mutex_;
  std::condition_variable work_, room_;
  std::vector<Chunk> free_, full_;
  Chunk current_{nullptr, 0};
  std::vector<char> pending_;  // whole blocks, and the header in front
  uint64_t told_lost_ = 0;
  EndBlock totals_{};
  bool is_ending_ = false;
  int error_ = 0;
  std::thread writer_;
};

/// The last events, in chunks that are used again.
class EventRing final : public EventStore {
  struct Slot {
    std::unique_ptr<Event[]> events;
    size_t count = 0;
  };

 public:
  explicit EventRing(uint64_t events)
      : slots_(std::max<size_t>(2, (events + kChunkEvents - 1) / kChunkEvents + 1)) {}

  void add_name(NameTable table, uint32_t number, std::string_view text) override {
    std::lock_guard hold(mutex_);
    append_name_block(names_, table, number, text);
  }
  void add_plan(std::string_view block) override {
    std::lock_guard hold(mutex_);
    append_block(names_, BlockKind::plan, block.data(), block.size());
  }
  void finish() override {}

  void save(const std::string& path, const Header& header, SpinMutex& lock) override {
    std::vector<char> out(reinterpret_cast<const char*>(&header),
                          reinterpret_cast<const char*>(&header) + sizeof header);
    {
      std::lock_guard hold(mutex_);
      out.insert(out.end(), names_.begin(), names_.end());
    }
    size_t kept = 0;
    for (const Slot& chunk : slots_) kept += chunk.events ? kChunkEvents * sizeof(Event) : 0;
    out.reserve(out.size() + kept + 4096);
    EndBlock totals{};
    {
      std::lock_guard hold(lock);
      for (size_t i = 1; i <= slots_.size(); ++i) {
        const size_t number = (newest_ + i) % slots_.size();
        const Slot& chunk = slots_[number];
        if (!chunk.events) continue;
        const size_t count =
            number == newest_ ? static_cast<size_t>(at_ - chunk.events.get()) : chunk.count;
        append_block(out, BlockKind::events, chunk.events.get(), count * sizeof(Event));
      }
      totals = {events_, lost_};
    }
    append_block(out, BlockKind::end, &totals, sizeof totals);
    const int file = open_for_writing(path);
    const int error = write_all(file, out.data(), out.size());
    ::close(file);
    if (error != 0) fail<InvalidArgumentError>("cannot write ", path, ": ", std::strerror(error));
  }

 private:
  void next_chunk() noexcept override {
    if (at_ != nullptr) slots_[newest_].count = kChunkEvents;
    const size_t next = (newest_ + 1) % slots_.size();
    if (!slots_[next].events) {
      slots_[next].events.reset(new (std::nothrow) Event[kChunkEvents]);
      if (!slots_[next].events) return;
    } else {
      lost_ += slots_[next].count;
    }
    newest_ = next;
    at_ = slots_[next].events.get();
    end_ = at_ + kChunkEvents;
  }

  std::vector<Slot> slots_;
  size_t newest_ = 0;
  std::mutex mutex_;
  std::vector<char> names_;
};

}  // namespace

void append_block(std::vector<char>& out, BlockKind kind, const void* data, size_t bytes) {
  const BlockHead head{static_cast<uint32_t>(kind), static_cast<uint32_t>(bytes)};
  const auto* start = reinterpret_cast<const char*>(&head);
  out.insert(out.end(), start, start + sizeof head);
  out.insert(out.end(), static_cast<const char*>(data), static_cast<const char*>(data) + bytes);
}

void append_name_block(std::vector<char>& out, NameTable table, uint32_t number,
                       std::string_view text) {
  const NameHead head{static_cast<uint32_t>(table), number};
  const BlockHead block{static_cast<uint32_t>(BlockKind::name),
                        static_cast<uint32_t>(sizeof head + text.size())};
  const auto* start = reinterpret_cast<const char*>(&block);
  out.insert(out.end(), start, start + sizeof block);
  start = reinterpret_cast<const char*>(&head);
  out.insert(out.end(), start, start + sizeof head);
  out.insert(out.end(), text.begin(), text.end());
}

std::shared_ptr<EventStore> make_ring(uint64_t events) {
  return std::make_shared<EventRing>(events);
}

std::shared_ptr<EventStore> make_file(const std::string& path, const Header& header,
                                      SpinMutex& lock) {
  return std::make_shared<EventFile>(path, header, lock);
}

}  // namespace tidemark::profile
