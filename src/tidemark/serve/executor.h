// Executor: a fixed number of slots in which models run, and the bounded queues before them.
//
// Requests run in two lanes, so that large ones do not hold up small ones: what is known to take
// long (by its bytes, or by the model's runs so far) goes into a lane with slots of its own, and
// what turns out to takes its place there while it runs. What is known to be quick runs at once, on
// the thread that read it.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "tidemark/serve/status.h"
#include "tidemark/serve/waiting_jobs.h"

namespace tidemark::serve {

struct ExecutorOptions {
  int slots = 2;
  size_t max_queued = 1024;
  size_t max_queued_bytes = size_t{256} << 20;
};

struct RefusedCounters {
  std::atomic<uint64_t> queue_full{0}, queue_bytes{0}, expired{0}, gone{0}, draining{0};
  std::atomic<uint64_t> too_large{0}, out_of_memory{0};  // found out by running
};

class Executor {
 public:
  explicit Executor(ExecutorOptions options);
  ~Executor();
  Executor(const Executor&) = delete;

  /// Throws RequestError: resource_exhausted where the queue is full, unavailable while draining.
  /// A job that is quick runs here and now, if a slot is free.
  void submit(Job job);
  /// Runs it on a thread for chores: reading or writing so many bytes. It must not throw.
  void run_chore(size_t bytes, std::function<void()> chore);

  /// No new jobs from now on.
  void refuse_new();
  /// True iff no job waits or runs before the time.
  bool wait_until_idle(Clock::time_point end);
  /// Ends what waits and what runs, as unavailable.
  void stop();

  const RefusedCounters& refused() const { return refused_; }
  size_t queued_bytes() const { return queued_bytes_.load(); }
  int slots() const { return options_.slots; }
  int busy_slots() const { return quick_.load() + busy_.load() + moved_.load() + larger_.load(); }

 private:
  struct Run;  // what runs on a thread now
  template <class Number>
  class Taken;
  enum class Place { reader, small_lane, large_lane };

  template <class Step>
  void work(const Step& step);
  void work_on_small(std::unique_lock<std::mutex>& lock);
  void work_on_large(std::unique_lock<std::mutex>& lock);
  void work_on_chores(std::unique_lock<std::mutex>& lock, bool takes_large);
  template <class Doing>
  void run_or_tell(std::unique_lock<std::mutex>& lock, std::vector<Job>& batch, const Doing& doing);
  int small_slots() const;
  int large_slots() const { return std::max(1, options_.slots - 1); }
  int most_moved() const { return options_.slots + 2; }
  static bool try_take(std::atomic<int>& taken, int most);
  void free_slot();
  void end_threads();
  bool run_here(Job& job);
  void enqueue(Job job);
  static bool is_large(const Job& job);
  /// Must hold the mutex: jobs of the queue that go with the first.
  void join_others(std::vector<Job>& batch, int64_t& rows);
  void fill_batch(std::unique_lock<std::mutex>& lock, std::vector<Job>& batch, int64_t& rows);
  Job take(WaitingJobs& queue);
  /// Throws TooSlowHere in the place of a reader, where the jobs are as they were.
  void run(std::vector<Job>& batch, int64_t rows, Place place);
  std::exception_ptr explain(const ResourceExhaustedError& error, size_t jobs);
  void drop_late(std::vector<Job>& batch, int64_t& rows);

  ExecutorOptions options_;
  RefusedCounters refused_;
  std::mutex mutex_;
  std::condition_variable small_added_, large_added_, chore_added_, freed_;
  WaitingJobs small_, large_;
  std::deque<std::function<void()>> chores_, large_chores_;
  std::atomic<size_t> queued_bytes_{0};
  std::atomic<int> quick_{0};   // requests that run where they were read
  std::atomic<int> busy_{0};    // slots taken by other small ones
  std::atomic<int> moved_{0};   // of those that took too long: they gave their slot back
  std::atomic<int> larger_{0};  // large requests under way
  std::atomic<bool> is_draining_{false}, is_stopping_{false};
  bool is_ending_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace tidemark::serve
