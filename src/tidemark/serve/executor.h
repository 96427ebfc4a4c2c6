// Executor: a fixed number of slots in which models run, and the bounded queue before them.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "tidemark/serve/servable.h"
#include "tidemark/serve/status.h"

namespace tidemark::serve {

struct Result {
  std::vector<Tensor> outputs;
  std::exception_ptr error;
};

/// One request on its way through a model.
struct Job {
  std::shared_ptr<const Servable> servable;
  const SignatureSpec* signature = nullptr;
  std::vector<Tensor> inputs;
  Clock::time_point arrived, deadline;
  /// True: whoever asked has gone. May be empty.
  std::function<bool()> is_gone;
  /// Called once, from any thread, unless submit throws.
  std::function<void(Result&&)> done;

  size_t bytes = 0;
  int64_t rows = -1;  // -1: it is not put together with others
};

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
  /// Refuses new jobs; returns when the queue is empty.
  void drain();

  const RefusedCounters& refused() const { return refused_; }
  size_t queued_bytes() const { return queued_bytes_.load(); }
  int slots() const { return options_.slots; }
  int busy_slots() const { return busy_.load(); }

 private:
  void work();
  bool try_take_slot();
  bool run_here(Job& job);
  /// Must hold the mutex: jobs of the queue that go with the first.
  void join_others(std::vector<Job>& batch, int64_t& rows);
  Job take(std::deque<Job>::iterator at);
  void run(std::vector<Job>& batch, int64_t rows);
  std::exception_ptr explain(const ResourceExhaustedError& error, size_t jobs);
  void drop_late(std::vector<Job>& batch, int64_t& rows);

  ExecutorOptions options_;
  RefusedCounters refused_;
  std::mutex mutex_;
  std::condition_variable added_, emptied_;
  std::deque<Job> queue_;
  std::atomic<size_t> queued_bytes_{0};
  std::atomic<int> busy_{0};
  bool is_draining_ = false, is_ending_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace tidemark::serve
