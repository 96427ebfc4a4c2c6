#include "tidemark/base/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "tidemark/base/interrupt.h"
#include "tidemark/base/settings.h"

namespace tidemark {

namespace {

constexpr int kMostThreads = 1024;

int usable_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

int default_threads() {
  const int64_t wanted = settings::integer(settings::kNumThreads);
  return wanted > 0 ? static_cast<int>(std::min<int64_t>(wanted, kMostThreads)) : usable_cpus();
}

/// Pieces of one parallel_for. Lives on the caller's stack until `helpers` is zero.
///
/// Every thread begins with a stretch of pieces of its own and helps with the others' after it:
/// one op after the other over the same memory then finds its part in the same core's cache.
class Job {
 public:
  Job(detail::PieceFn fn, void* context, int64_t pieces, int threads)
      : fn_(fn), context_(context), stretches_(std::min(threads, kMostStretches)) {
    if (const Interrupt* callers = thread_interrupt) {
      is_stoppable_ = true;
      helpers_interrupt_.is_cancelled = &is_stopped_;
      helpers_interrupt_.deadline = callers->deadline;
      helpers_interrupt_.milliseconds = callers->milliseconds;
    }
    for (int i = 0; i < stretches_; ++i) {
      stretch_[i].next.store(pieces * i / stretches_, std::memory_order_relaxed);
      stretch_[i].end = pieces * (i + 1) / stretches_;
    }
  }

  void work_as_caller() { work(0); }
  /// `thread`: 1 and up. The caller alone breathes; what it finds stops the helpers.
  void work_as_helper(int thread) {
    if (!is_stoppable_) return work(thread);
    const InterruptScope scope(helpers_interrupt_);
    work(thread);
  }
  /// Somebody may want to stop it, and nobody has.
  bool may_be_stopped() const {
    return is_stoppable_ && !is_stopped_.load(std::memory_order_relaxed);
  }
  /// On the caller's thread, which waits for the helpers.
  void look_around() {
    try {
      check_interrupt();
    } catch (...) {
      stop();
    }
  }
  bool has_pieces() const {
    for (int i = 0; i < stretches_; ++i) {
      if (stretch_[i].next.load(std::memory_order_relaxed) < stretch_[i].end) return true;
    }
    return false;
  }

  std::atomic<int> helpers{0};  // workers inside; raised under Pool::mutex
  std::exception_ptr error;

 private:
  static constexpr int kMostStretches = 16;
  struct alignas(64) Stretch {
    std::atomic<int64_t> next;
    int64_t end;
  };

  void work(int thread) {
    for (int i = 0; i < stretches_; ++i) work_on(stretch_[(thread + i) % stretches_]);
  }

  void work_on(Stretch& stretch) {
    for (;;) {
      const int64_t piece = stretch.next.fetch_add(1, std::memory_order_relaxed);
      if (piece >= stretch.end) return;
      try {
        check_interrupt();
        fn_(context_, piece);
      } catch (...) {
        stop();
      }
    }
  }

  /// In a handler of the exception that stops the job: no new pieces, and those under way end at
  /// their next look.
  void stop() {
    std::lock_guard lock(error_mutex_);
    if (!error) error = std::current_exception();
    for (int i = 0; i < stretches_; ++i) {
      stretch_[i].next.store(stretch_[i].end, std::memory_order_relaxed);
    }
    is_stopped_.store(true, std::memory_order_relaxed);
  }

  detail::PieceFn fn_;
  void* context_;
  int stretches_;
  bool is_stoppable_ = false;
  std::atomic<bool> is_stopped_{false};
  Interrupt helpers_interrupt_;
  std::mutex error_mutex_;
  Stretch stretch_[kMostStretches];
};

thread_local bool inside_parallel = false;

class Pool {
 public:
  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (auto& worker : workers_) worker.join();
  }

  void run(Job& job, int threads, bool brief) {
    const bool worth_waking = !brief || follows_quickly();
    int sleeping;
    {
      std::lock_guard lock(mutex_);
      add_workers(threads - 1);
      jobs_.push_back(&job);
      posted_.fetch_add(1, std::memory_order_release);
      sleeping = sleeping_;
    }
    if (sleeping > 0 && worth_waking) {
      if (threads == 2) {
        wake_.notify_one();
      } else {
        wake_.notify_all();
      }
    }
    inside_parallel = true;
    job.work_as_caller();
    inside_parallel = false;
    {
      std::lock_guard lock(mutex_);
      std::erase(jobs_, &job);  // no worker can enter any more
    }
    const auto is_done = [&] { return job.helpers.load(std::memory_order_acquire) == 0; };
    if (spin_until(is_done)) return;
    std::unique_lock lock(mutex_);
    while (job.may_be_stopped() && !done_.wait_for(lock, kLookAround, is_done)) {
      lock.unlock();
      job.look_around();
      lock.lock();
    }
    done_.wait(lock, is_done);
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// As many as the system has threads for: with none the caller does all by itself. The mutex is
  /// held.
  void add_workers(int wanted) {
    try {
      while (static_cast<int>(workers_.size()) < wanted) {
        workers_.emplace_back([this, n = static_cast<int>(workers_.size()) + 1] { serve(n); });
      }
    } catch (const std::system_error&) {
    }
  }

  /// True iff the brief work before this one was started a moment ago: more is likely to come.
  bool follows_quickly() {
    const int64_t now = Clock::now().time_since_epoch().count();
    const int64_t before = last_brief_.exchange(now, std::memory_order_relaxed);
    return now - before < kSpin.count() * 1000;
  }

  /// Waking a sleeping thread takes longer than a small product, so a thread looks around for a
  /// few dozen microseconds before it sleeps. True iff the condition came true.
  template <class Condition>
  static bool spin_until(Condition condition) {
    const Clock::time_point end = Clock::now() + kSpin;
    do {
      for (int i = 0; i < 32; ++i) {
        if (condition()) return true;
        pause();
      }
    } while (Clock::now() < end);
    return condition();
  }

  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  void serve(int thread) {
    inside_parallel = true;
    std::unique_lock lock(mutex_);
    for (;;) {
      Job* job = pick();
      if (!job) {
        if (stopping_) return;
        rest(lock);
        continue;
      }
      job->helpers.fetch_add(1, std::memory_order_relaxed);
      lock.unlock();
      job->work_as_helper(thread);
      lock.lock();
      // The job may be gone as soon as this is zero.
      if (job->helpers.fetch_sub(1, std::memory_order_acq_rel) == 1) done_.notify_all();
    }
  }

  /// Until a job was posted, perhaps.
  void rest(std::unique_lock<std::mutex>& lock) {
    const uint32_t seen = posted_.load(std::memory_order_relaxed);
    lock.unlock();
    const bool found = spin_until([&] { return posted_.load(std::memory_order_acquire) != seen; });
    lock.lock();
    if (found || posted_.load(std::memory_order_relaxed) != seen || stopping_) return;
    ++sleeping_;
    wake_.wait(lock);
    --sleeping_;
  }

  Job* pick() const {
    for (Job* job : jobs_) {
      if (job->has_pieces()) return job;
    }
    return nullptr;
  }

  static constexpr std::chrono::microseconds kSpin{50};
  static constexpr std::chrono::milliseconds kLookAround{10};

  std::atomic<int64_t> last_brief_{0};  // nanoseconds
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<Job*> jobs_;
  std::vector<std::thread> workers_;
  std::atomic<uint32_t> posted_{0};  // jobs so far; raised under the mutex
  int sleeping_ = 0;
  bool stopping_ = false;
};

std::atomic<int> thread_count{0};  // 0: not decided yet
std::atomic<Pool*> the_pool{nullptr};
std::mutex pool_mutex;

// A child of fork has none of the parent's workers: it starts a pool of its own when needed. The
// parent's object is abandoned there on purpose, since its threads do not exist.
void forget_pool_in_child() {
  the_pool.store(nullptr);
  new (&pool_mutex) std::mutex;
  inside_parallel = false;
}

Pool& pool() {
  if (Pool* ready = the_pool.load(std::memory_order_acquire)) return *ready;
  std::lock_guard lock(pool_mutex);
  if (!the_pool.load()) {
    static const int registered = pthread_atfork(nullptr, nullptr, forget_pool_in_child);
    (void)registered;
    // Never destroyed: workers sleep until the process ends, and a kernel may still run in an
    // exit handler.
    the_pool.store(new Pool, std::memory_order_release);
  }
  return *the_pool.load();
}

}  // namespace

int num_threads() {
  int n = thread_count.load(std::memory_order_relaxed);
  if (n == 0) {
    n = default_threads();
    thread_count.store(n, std::memory_order_relaxed);
  }
  return n;
}

int set_num_threads(int threads) {
  const int old = num_threads();
  thread_count.store(threads > 0 ? std::min(threads, kMostThreads) : default_threads(),
                     std::memory_order_relaxed);
  return old;
}

namespace detail {

void run_pieces(int64_t pieces, PieceFn fn, void* context, bool brief) {
  const int threads = static_cast<int>(std::min<int64_t>(num_threads(), pieces));
  if (threads <= 1 || inside_parallel) {
    for (int64_t piece = 0; piece < pieces; ++piece) {
      check_interrupt();
      fn(context, piece);
    }
    return;
  }
  Job job(fn, context, pieces, threads);
  pool().run(job, threads, brief);
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace detail

}  // namespace tidemark
