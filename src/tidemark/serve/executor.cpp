#include "tidemark/serve/executor.h"

#include <tidemark/call.h>

#include <algorithm>

namespace tidemark::serve {

namespace {

/// Models that take less than this run on the thread that read the request.
constexpr uint64_t kQuickMicros = 300;

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

/// One more, for as long as it lives.
class Counted {
 public:
  explicit Counted(std::atomic<uint64_t>& count) : count_(count) {
    count_.fetch_add(1, std::memory_order_relaxed);
  }
  ~Counted() { count_.fetch_sub(1, std::memory_order_relaxed); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  std::atomic<uint64_t>& count_;
};

void finish(Job& job, Result&& result, Clock::time_point started, Clock::time_point ended) {
  ServableCounters& counters = job.servable->counters;
  (result.error ? counters.failures : counters.successes).fetch_add(1, std::memory_order_relaxed);
  counters.waiting.add(micros(started - job.arrived));
  counters.total.add(micros(ended - job.arrived));
  job.done(std::move(result));
}

}  // namespace

Executor::Executor(ExecutorOptions options) : options_(options) {
  for (int i = 0; i < std::max(1, options_.slots); ++i) {
    threads_.emplace_back([this] { work(); });
  }
}

Executor::~Executor() {
  {
    const std::lock_guard lock(mutex_);
    is_draining_ = is_ending_ = true;
  }
  added_.notify_all();
  threads_.clear();
  for (Job& job : queue_) {
    job.done({{}, std::make_exception_ptr(RequestError(Code::unavailable, "the server ends"))});
  }
}

void Executor::submit(Job job) {
  for (const Tensor& t : job.inputs) job.bytes += t.nbytes();
  job.rows = rows_of(job);
  if (run_here(job)) return;
  ServableCounters& counters = job.servable->counters;
  {
    const std::lock_guard lock(mutex_);
    if (is_draining_) {
      refused_.draining.fetch_add(1);
      refuse(Code::unavailable, "the server is going down");
    }
    if (queue_.size() >= options_.max_queued) {
      refused_.queue_full.fetch_add(1);
      refuse(Code::resource_exhausted, "the queue is full: ", queue_.size(), " requests wait for ",
             options_.slots, " slots. Try again later");
    }
    if (queued_bytes_.load() + job.bytes > options_.max_queued_bytes) {
      refused_.queue_bytes.fetch_add(1);
      refuse(Code::resource_exhausted, "the queue is full: requests of ", queued_bytes_.load(),
             " bytes wait, at most ", options_.max_queued_bytes, " may. Try again later");
    }
    queued_bytes_.fetch_add(job.bytes);
    counters.queued.fetch_add(1, std::memory_order_relaxed);
    counters.queued_bytes.fetch_add(job.bytes, std::memory_order_relaxed);
    queue_.push_back(std::move(job));
  }
  added_.notify_one();
}

bool Executor::try_take_slot() {
  if (busy_.fetch_add(1) < options_.slots) return true;
  busy_.fetch_sub(1);
  return false;
}

bool Executor::run_here(Job& job) {
  const ServableCounters& counters = job.servable->counters;
  const uint64_t runs = counters.executions.load(std::memory_order_relaxed);
  if (job.rows >= 0 || runs < 8 || counters.computing.total() / runs > kQuickMicros) return false;
  if (!try_take_slot()) return false;
  std::vector<Job> batch;
  batch.push_back(std::move(job));
  run(batch, -1);
  busy_.fetch_sub(1);
  return true;
}

Job Executor::take(std::deque<Job>::iterator at) {
  Job job = std::move(*at);
  queue_.erase(at);
  queued_bytes_.fetch_sub(job.bytes);
  job.servable->counters.queued.fetch_sub(1, std::memory_order_relaxed);
  job.servable->counters.queued_bytes.fetch_sub(job.bytes, std::memory_order_relaxed);
  if (queue_.empty()) emptied_.notify_all();
  return job;
}

void Executor::join_others(std::vector<Job>& batch, int64_t& rows) {
  const int64_t most = batch[0].servable->batching.max_batch_size;
  for (auto at = queue_.begin(); at != queue_.end() && rows < most;) {
    if (!go_together(batch[0], *at) || rows + at->rows > most) {
      ++at;
      continue;
    }
    const auto index = at - queue_.begin();
    rows += at->rows;
    batch.push_back(take(at));
    at = queue_.begin() + index;
  }
}

void Executor::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    added_.wait(lock, [this] { return is_ending_ || !queue_.empty(); });
    if (is_ending_) return;
    std::vector<Job> batch;
    batch.push_back(take(queue_.begin()));
    int64_t rows = batch[0].rows;
    if (rows >= 0) {
      const Batching& batching = batch[0].servable->batching;
      const auto until = batch[0].arrived + std::chrono::microseconds(batching.timeout_micros);
      join_others(batch, rows);
      while (rows < batching.max_batch_size && !is_draining_ && Clock::now() < until) {
        if (added_.wait_until(lock, until) == std::cv_status::timeout) break;
        join_others(batch, rows);
      }
      join_others(batch, rows);
      if (!queue_.empty()) added_.notify_one();  // it was told to us, and is for somebody else
    }
    lock.unlock();
    // Taken by a quick run on another thread at most: it is free again in no time.
    while (!try_take_slot()) std::this_thread::sleep_for(std::chrono::microseconds(20));
    drop_late(batch, rows);
    if (!batch.empty()) run(batch, rows);
    batch.clear();
    busy_.fetch_sub(1);
    lock.lock();
  }
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
  const bool is_alone = busy_.load() <= 1;
  (is_alone ? refused_.too_large : refused_.out_of_memory).fetch_add(1);
  if (is_alone) return std::make_exception_ptr(TooLargeError(error.what()));
  return std::make_exception_ptr(error);
}

void Executor::run(std::vector<Job>& batch, int64_t rows) {
  const Servable& servable = *batch[0].servable;
  const Clock::time_point started = Clock::now();
  std::vector<Tensor> outputs;
  std::exception_ptr error;
  const int64_t wanted = rows < 0 ? rows : padded_rows(servable.batching, rows);
  try {
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < batch[0].inputs.size(); ++i) {
      inputs.push_back(rows < 0 ? batch[0].inputs[i] : joined(batch, i, rows, wanted));
    }
    const Counted running(servable.counters.running);
    outputs = servable.model.run(*batch[0].signature, inputs);
  } catch (const ResourceExhaustedError& failed) {
    error = explain(failed, batch.size());
  } catch (...) {
    error = std::current_exception();
  }
  const bool has_rows = std::all_of(outputs.begin(), outputs.end(), [&](const Tensor& t) {
    return t.rank() > 0 && t.dim(0) == wanted;
  });
  if (batch.size() > 1 && (error || !has_rows)) {
    // One of them may be to blame, or the model's outputs are not made of rows: each by itself.
    for (Job& job : batch) {
      std::vector<Job> alone;
      alone.push_back(std::move(job));
      run(alone, -1);
    }
    return;
  }
  const Clock::time_point ended = Clock::now();
  servable.counters.executions.fetch_add(1, std::memory_order_relaxed);
  servable.counters.computing.add(micros(ended - started));
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
    finish(job, std::move(result), started, ended);
  }
}

void Executor::drain() {
  std::unique_lock lock(mutex_);
  is_draining_ = true;
  added_.notify_all();
  emptied_.wait(lock, [this] { return queue_.empty(); });
}

}  // namespace tidemark::serve
