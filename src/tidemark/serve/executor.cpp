#include "tidemark/serve/executor.h"

#include <tidemark/call.h>

#include <algorithm>

#include "tidemark/base/interrupt.h"
#include "tidemark/serve/threads.h"

namespace tidemark::serve {

namespace {

/// Models that take less than this run on the thread that read the request.
constexpr uint64_t kQuickMicros = 300;
/// How long such a run may go on before it is given up and done again elsewhere.
constexpr auto kLongestOnReader = std::chrono::milliseconds(3);
/// Requests of more bytes, or to models that take longer, are large.
constexpr size_t kLargeBytes = size_t{1} << 20;
constexpr uint64_t kLargeMicros = 50'000;
/// For so long nobody else is held up by a model that did it once.
constexpr auto kSpared = std::chrono::seconds(10);
/// Answers of more bytes are written as a chore.
constexpr size_t kLargeOutputs = size_t{512} << 10;
/// Chores of more bytes wait for each other, and others for none of them.
constexpr size_t kLargeChore = size_t{4} << 20;
/// Quick runs on other threads free their slots without a word to those who wait for one.
constexpr auto kMoment = std::chrono::milliseconds(1);

/// Thrown where a run on a reader's thread takes too long.
struct TooSlowHere {};

uint64_t micros(Clock::duration d) {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(d).count());
}

/// The rows of a job whose inputs all have them first; -1: it has none in common.
int64_t rows_of(const Job& job) {
  if (job.servable->batching.max_batch_size <= 1 || job.inputs.empty()) return -1;
  for (size_t i = 0; i < job.inputs.size(); ++i) {
    const Shape& declared = job.signature->inputs[i].shape;
    const Tensor& t = job.inputs[i];
    if (!declared.has_rank() || declared.rank() == 0 || declared[0] != kUnknownDim) return -1;
    if (t.rank() == 0 || t.dim(0) != job.inputs[0].dim(0) || t.dim(0) == 0) return -1;
  }
  const int64_t rows = job.inputs[0].dim(0);
  return rows <= job.servable->batching.max_batch_size ? rows : -1;
}

bool go_together(const Job& a, const Job& b) {
  if (a.servable != b.servable || a.signature != b.signature || b.rows < 0) return false;
  for (size_t i = 0; i < a.inputs.size(); ++i) {
    const Shape &left = a.inputs[i].shape(), &right = b.inputs[i].shape();
    if (left.rank() != right.rank() || a.inputs[i].dtype() != b.inputs[i].dtype()) return false;
    for (int axis = 1; axis < left.rank(); ++axis) {
      if (left[axis] != right[axis]) return false;
    }
  }
  return true;
}

int64_t padded_rows(const Batching& batching, int64_t rows) {
  for (int64_t size : batching.allowed_sizes) {
    if (size >= rows) return size;
  }
  return rows;
}

/// Input `i` of all jobs, one after the other, filled up with copies of the last row.
Tensor joined(const std::vector<Job>& batch, size_t i, int64_t rows, int64_t wanted) {
  std::vector<Tensor> parts;
  for (const Job& job : batch) parts.push_back(job.inputs[i]);
  const Tensor last = parts.back().rows(parts.back().dim(0) - 1, 1);
  for (; rows < wanted; ++rows) parts.push_back(last);
  if (parts.size() == 1) return parts[0];
  static const OpDef& concat = OpRegistry::instance().get("concat");
  const Attr axis(int64_t{0});
  return call(concat, parts, {&axis, 1});
}

/// Whoever asked is told once. Where there is no memory to tell it, that is told instead when the
/// request goes.
void tell(Job& job, Result&& result) noexcept {
  const auto done = std::exchange(job.done, nullptr);
  if (!done) return;
  try {
    done(std::move(result));
  } catch (const std::bad_alloc&) {
  }
}

void finish(Job& job, Result&& result, Clock::time_point started, Clock::time_point ended) {
  ServableCounters& counters = job.servable->counters;
  (result.error ? counters.failures : counters.successes).fetch_add(1, std::memory_order_relaxed);
  counters.waiting.add(micros(started - job.arrived));
  counters.total.add(micros(ended - job.arrived));
  tell(job, std::move(result));
}

}  // namespace

/// One that was counted, until its end.
template <class Number>
class Executor::Taken {
 public:
  explicit Taken(std::atomic<Number>& count) : count_(count) {}
  ~Taken() { count_.fetch_sub(1); }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;

 private:
  std::atomic<Number>& count_;
};

/// A run that is under way: looked at between its steps.
struct Executor::Run {
  Executor& executor;
  const std::vector<Job>& batch;
  Place place;
  Clock::time_point started, next_poll;
  bool has_moved = false;

  static void look(void* run) { static_cast<Run*>(run)->look(); }

  ~Run() {
    if (has_moved) {
      executor.moved_.fetch_sub(1);
    } else if (place == Place::small_lane) {
      executor.free_slot();
    }
  }

  void look() {
    if (executor.is_stopping_.load(std::memory_order_relaxed)) {
      refuse(Code::unavailable, "the server goes down and stopped the run");
    }
    const Clock::time_point now = Clock::now();
    if (place == Place::reader && now - started > kLongestOnReader) throw TooSlowHere{};
    if (place == Place::small_lane && !has_moved &&
        now - started > std::chrono::microseconds(kLargeMicros)) {
      move_to_large_lane();
    }
    if (now < next_poll) return;
    next_poll = now + std::chrono::milliseconds(20);
    const auto is_gone = [](const Job& job) { return job.is_gone && job.is_gone(); };
    if (std::all_of(batch.begin(), batch.end(), is_gone)) {
      executor.refused_.gone.fetch_add(batch.size());
      refuse(Code::cancelled, "the client has gone");
    }
  }

  /// Others get the slot; there are threads for that.
  void move_to_large_lane() {
    batch[0].servable->counters.large_until = Clock::now() + kSpared;
    if (executor.moved_.fetch_add(1) >= executor.most_moved()) {
      executor.moved_.fetch_sub(1);
      return;
    }
    has_moved = true;
    executor.free_slot();
  }
};

Executor::Executor(ExecutorOptions options) : options_(options) {
  options_.slots = std::max(1, options_.slots);
  try {
    for (int i = 0; i < options_.slots + most_moved(); ++i) {
      add_thread(threads_, Urgency::soon,
                 [this] { work([this](auto& lock) { work_on_small(lock); }); });
    }
    for (int i = 0; i < large_slots(); ++i) {
      add_thread(threads_, Urgency::in_time,
                 [this] { work([this](auto& lock) { work_on_large(lock); }); });
    }
    for (const bool takes_large : {false, true}) {
      add_thread(threads_, takes_large ? Urgency::in_time : Urgency::soon, [this, takes_large] {
        work([&](auto& lock) { work_on_chores(lock, takes_large); });
      });
    }
  } catch (...) {
    end_threads();  // those that run already
    throw;
  }
}

Executor::~Executor() { end_threads(); }

void Executor::end_threads() {
  {
    const std::lock_guard lock(mutex_);
    is_draining_ = is_ending_ = true;
  }
  stop();
  small_added_.notify_all();
  large_added_.notify_all();
  chore_added_.notify_all();
  threads_.clear();
}

bool Executor::is_large(const Job& job) {
  const ServableCounters& counters = job.servable->counters;
  if (job.bytes > kLargeBytes || Clock::now() < counters.large_until.load()) return true;
  return counters.recent_nanoseconds.load(std::memory_order_relaxed) > 1000 * kLargeMicros;
}

void Executor::submit(Job job) {
  for (const Tensor& t : job.inputs) job.bytes += t.nbytes();
  job.rows = rows_of(job);
  if (!run_here(job)) enqueue(std::move(job));
}

void Executor::enqueue(Job job) {
  const bool goes_to_large = is_large(job);
  {
    const std::lock_guard lock(mutex_);
    WaitingJobs& queue = goes_to_large ? large_ : small_;
    const size_t waiting = small_.size() + large_.size();
    if (is_draining_) {
      refused_.draining.fetch_add(1);
      refuse(Code::unavailable, "the server is going down");
    }
    if (waiting >= options_.max_queued) {
      refused_.queue_full.fetch_add(1);
      refuse(Code::resource_exhausted, "the queue is full: ", waiting, " requests wait for ",
             options_.slots, " slots. Try again later");
    }
    if (queued_bytes_.load() + job.bytes > options_.max_queued_bytes) {
      refused_.queue_bytes.fetch_add(1);
      refuse(Code::resource_exhausted, "the queue is full: requests of ", queued_bytes_.load(),
             " bytes wait, at most ", options_.max_queued_bytes, " may. Try again later");
    }
    queue.push(std::move(job));
    queued_bytes_ = small_.bytes() + large_.bytes();
  }
  (goes_to_large ? large_added_ : small_added_).notify_one();
}

void Executor::run_chore(size_t bytes, std::function<void()> chore) {
  {
    const std::lock_guard lock(mutex_);
    (bytes > kLargeChore ? large_chores_ : chores_).push_back(std::move(chore));
  }
  chore_added_.notify_all();
}

/// Large requests take the place of small ones, but for the last.
int Executor::small_slots() const { return std::max(1, options_.slots - larger_.load()); }

bool Executor::try_take(std::atomic<int>& taken, int most) {
  if (taken.fetch_add(1) < most) return true;
  taken.fetch_sub(1);
  return false;
}

void Executor::free_slot() {
  busy_.fetch_sub(1);
  freed_.notify_one();
}

bool Executor::run_here(Job& job) {
  const Servable& servable = *job.servable;
  ServableCounters& counters = servable.counters;
  if (job.rows >= 0 || counters.executions.load(std::memory_order_relaxed) < 8 ||
      counters.recent_nanoseconds.load(std::memory_order_relaxed) > 1000 * kQuickMicros) {
    return false;
  }
  // A run that takes too long is done again, so it must change nothing.
  if (job.bytes > kLargeOutputs || servable.model.changes_state() ||
      job.arrived < counters.off_readers_until.load(std::memory_order_relaxed)) {
    return false;
  }
  std::vector<Job> batch(1);
  if (!try_take(quick_, options_.slots)) return false;
  const Taken running(quick_);
  batch[0] = std::move(job);
  bool is_done = true;
  try {
    run(batch, -1, Place::reader);
  } catch (const TooSlowHere&) {
    counters.off_readers_until = Clock::now() + kSpared;
    job = std::move(batch[0]);
    is_done = false;
  }
  return is_done;
}

Job Executor::take(WaitingJobs& queue) {
  Job job = queue.pop();
  queued_bytes_ = small_.bytes() + large_.bytes();
  return job;
}

void Executor::join_others(std::vector<Job>& batch, int64_t& rows) {
  const int64_t most = batch[0].servable->batching.max_batch_size;
  small_.take_fitting(batch[0].servable.get(), batch, [&](const Job& other) {
    if (!go_together(batch[0], other) || rows + other.rows > most) return false;
    rows += other.rows;
    return true;
  });
  queued_bytes_ = small_.bytes() + large_.bytes();
}

/// Waits for others that go with the first.
void Executor::fill_batch(std::unique_lock<std::mutex>& lock, std::vector<Job>& batch,
                          int64_t& rows) {
  const Batching& batching = batch[0].servable->batching;
  const auto until = batch[0].arrived + std::chrono::microseconds(batching.timeout_micros);
  join_others(batch, rows);
  while (rows < batching.max_batch_size && !is_draining_ && Clock::now() < until) {
    if (small_added_.wait_until(lock, until) == std::cv_status::timeout) break;
    join_others(batch, rows);
  }
  join_others(batch, rows);
  if (!small_.empty()) small_added_.notify_one();  // it was told to us, and is for somebody else
}

/// Waits for work and does one piece of it, again and again. Where there is no memory even to
/// begin, the work stays where it is for a moment.
template <class Step>
void Executor::work(const Step& step) {
  std::unique_lock lock(mutex_);
  while (!is_ending_) {
    try {
      step(lock);
    } catch (const std::bad_alloc&) {
      if (!lock.owns_lock()) lock.lock();
      freed_.wait_for(lock, kMoment);
    }
  }
}

/// Does what is to be done with the jobs, with the lock or without; where there is no memory for
/// it, whoever asked is told.
template <class Doing>
void Executor::run_or_tell(std::unique_lock<std::mutex>& lock, std::vector<Job>& batch,
                           const Doing& doing) {
  try {
    doing();
  } catch (const std::bad_alloc&) {
    if (lock.owns_lock()) lock.unlock();
    for (Job& job : batch) tell(job, {{}, std::current_exception()});
  }
  if (lock.owns_lock()) lock.unlock();
  batch.clear();  // what it held goes without the lock
  lock.lock();
}

void Executor::work_on_small(std::unique_lock<std::mutex>& lock) {
  small_added_.wait(lock, [this] { return is_ending_ || !small_.empty(); });
  if (is_ending_) return;
  if (busy_.load() >= small_slots()) {
    freed_.wait_for(lock, kMoment);
    return;
  }
  if (is_large(small_.front())) {  // as has turned out while it waited
    small_.move_front_to(large_);
    large_added_.notify_one();
    return;
  }
  std::vector<Job> batch(1);
  batch[0] = take(small_);
  run_or_tell(lock, batch, [&] {
    int64_t rows = batch[0].rows;
    if (rows >= 0) fill_batch(lock, batch, rows);
    lock.unlock();
    drop_late(batch, rows);
    lock.lock();
    if (batch.empty()) return;
    while (!try_take(busy_, small_slots())) freed_.wait_for(lock, kMoment);
    lock.unlock();
    run(batch, rows, Place::small_lane);  // frees it
  });
}

void Executor::work_on_large(std::unique_lock<std::mutex>& lock) {
  large_added_.wait(lock, [this] { return is_ending_ || !large_.empty(); });
  if (is_ending_) return;
  std::vector<Job> batch(1);
  batch[0] = take(large_);
  larger_.fetch_add(1);
  const Taken running(larger_);
  run_or_tell(lock, batch, [&] {
    lock.unlock();
    int64_t rows = -1;  // large ones run alone
    drop_late(batch, rows);
    if (!batch.empty()) run(batch, rows, Place::large_lane);
  });
}

/// One thread takes no large chores: those who have others find it sooner.
void Executor::work_on_chores(std::unique_lock<std::mutex>& lock, bool takes_large) {
  const auto next = [&]() -> std::deque<std::function<void()>>* {
    if (takes_large && !large_chores_.empty()) return &large_chores_;
    return chores_.empty() ? nullptr : &chores_;
  };
  chore_added_.wait(lock, [&] { return is_ending_ || next(); });
  if (is_ending_) return;
  std::deque<std::function<void()>>& from = *next();
  {
    const std::function<void()> chore = std::move(from.front());
    from.pop_front();
    lock.unlock();
    chore();  // where memory runs out, whoever asked is told when the request goes
  }
  lock.lock();
}

void Executor::drop_late(std::vector<Job>& batch, int64_t& rows) {
  const Clock::time_point now = Clock::now();
  std::erase_if(batch, [&](Job& job) {
    const bool is_late = now > job.deadline;
    const bool has_waited = now - job.arrived > std::chrono::milliseconds(2);
    const bool is_gone = !is_late && has_waited && job.is_gone && job.is_gone();
    if (!is_late && !is_gone) return false;
    (is_late ? refused_.expired : refused_.gone).fetch_add(1);
    const Code code = is_late ? Code::deadline_exceeded : Code::cancelled;
    const char* text =
        is_late ? "the request waited in the queue past its deadline" : "the client has gone";
    if (rows >= 0) rows -= job.rows;
    finish(job, {{}, std::make_exception_ptr(RequestError(code, text))}, now, now);
    return true;
  });
}

std::exception_ptr Executor::explain(const ResourceExhaustedError& error, size_t jobs) {
  if (jobs > 1) return std::make_exception_ptr(error);  // each is run by itself next
  const bool is_alone = busy_slots() <= 1;
  (is_alone ? refused_.too_large : refused_.out_of_memory).fetch_add(1);
  if (is_alone) return std::make_exception_ptr(TooLargeError(error.what()));
  return std::make_exception_ptr(error);
}

void Executor::run(std::vector<Job>& batch, int64_t rows, Place place) {
  const Servable& servable = *batch[0].servable;
  const Clock::time_point started = Clock::now();
  std::vector<Tensor> outputs;
  std::exception_ptr error;
  const int64_t wanted = rows < 0 ? rows : padded_rows(servable.batching, rows);
  {
    Run now{*this, batch, place, started, started + std::chrono::milliseconds(20)};
    Interrupt interrupt{.breathe = Run::look, .context = &now};
    for (const Job& job : batch) {
      if (&job == batch.data() || job.deadline > interrupt.deadline) {
        interrupt.deadline = job.deadline;
      }
    }
    const InterruptScope stoppable(interrupt);
    try {
      std::vector<Tensor> inputs;
      for (size_t i = 0; i < batch[0].inputs.size(); ++i) {
        inputs.push_back(rows < 0 ? batch[0].inputs[i] : joined(batch, i, rows, wanted));
      }
      servable.counters.running.fetch_add(1);
      const Taken running(servable.counters.running);
      outputs = servable.model.run(*batch[0].signature, inputs);
    } catch (const TooSlowHere&) {
      throw;
    } catch (const ResourceExhaustedError& failed) {
      error = explain(failed, batch.size());
    } catch (const DeadlineExceededError& late) {
      refused_.expired.fetch_add(batch.size());
      error = std::make_exception_ptr(RequestError(
          Code::deadline_exceeded, "the request took longer than it was given, and was stopped"));
    } catch (...) {
      error = std::current_exception();
    }
  }
  const bool has_rows = std::all_of(outputs.begin(), outputs.end(), [&](const Tensor& t) {
    return t.rank() > 0 && t.dim(0) == wanted;
  });
  if (batch.size() > 1 && (error || !has_rows)) {
    // One of them may be to blame, or the model's outputs are not made of rows: each by itself.
    for (Job& job : batch) {
      std::vector<Job> alone;
      alone.push_back(std::move(job));
      int64_t none = -1;
      drop_late(alone, none);
      if (!alone.empty()) run(alone, -1, Place::large_lane);
    }
    return;
  }
  const Clock::time_point ended = Clock::now();
  size_t output_bytes = 0;
  for (const Tensor& t : outputs) output_bytes += t.nbytes();
  servable.counters.add_run(ended - started);
  int64_t first = 0;
  for (Job& job : batch) {
    Result result{{}, error};
    const bool is_part = rows >= 0 && has_rows && job.rows != wanted;
    for (const Tensor& t : outputs) {
      result.outputs.push_back(is_part ? t.rows(first, job.rows) : t);
    }
    first += std::max<int64_t>(job.rows, 0);
    servable.counters.rows.fetch_add(static_cast<uint64_t>(std::max<int64_t>(job.rows, 1)),
                                     std::memory_order_relaxed);
    if (output_bytes <= kLargeOutputs || place == Place::large_lane) {
      finish(job, std::move(result), started, ended);
      continue;
    }
    auto kept = std::make_shared<std::pair<Job, Result>>(std::move(job), std::move(result));
    run_chore(output_bytes, [kept, started, ended] {
      finish(kept->first, std::move(kept->second), started, ended);
    });
  }
}

void Executor::refuse_new() {
  is_draining_ = true;
  small_added_.notify_all();
}

bool Executor::wait_until_idle(Clock::time_point end) {
  const auto is_idle = [this] {
    const std::lock_guard lock(mutex_);
    return small_.empty() && large_.empty() && chores_.empty() && large_chores_.empty() &&
           busy_slots() == 0;
  };
  while (!is_idle()) {
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

void Executor::stop() {
  is_stopping_ = true;
  std::exception_ptr error;
  try {
    error = std::make_exception_ptr(RequestError(Code::unavailable, "the server goes down"));
  } catch (const std::bad_alloc&) {
    error = std::current_exception();
  }
  std::unique_lock lock(mutex_);
  for (WaitingJobs* const queue : {&small_, &large_}) {
    while (!queue->empty()) {
      Job job = take(*queue);
      lock.unlock();
      tell(job, {{}, error});
      lock.lock();
    }
  }
}

}  // namespace tidemark::serve
