#include "tidemark/serve/waiting_jobs.h"

#include <algorithm>

namespace tidemark::serve {

std::list<WaitingJobs::Line>::iterator WaitingJobs::line_of(const Servable* servable) {
  return std::find_if(lines_.begin(), lines_.end(),
                      [&](const Line& line) { return line.front().servable.get() == servable; });
}

void WaitingJobs::push(Job job) {
  Line alone;
  alone.push_back(std::move(job));
  ServableCounters& counters = alone.front().servable->counters;
  const size_t bytes = alone.front().bytes;
  add_first_of(alone);
  counters.queued.fetch_add(1, std::memory_order_relaxed);
  counters.queued_bytes.fetch_add(bytes, std::memory_order_relaxed);
}

void WaitingJobs::add_first_of(Line& from) {
  const Job& job = from.front();
  auto line = line_of(job.servable.get());
  if (line == lines_.end()) line = lines_.emplace(line);  // what may fail comes first
  ++size_;
  bytes_ += job.bytes;
  line->splice(line->end(), from, from.begin());
}

void WaitingJobs::move_front_to(WaitingJobs& others) {
  const size_t bytes = front().bytes;
  others.add_first_of(lines_.front());
  --size_;
  bytes_ -= bytes;
  end_turn();
}

/// Of the first line, of which one was taken.
void WaitingJobs::end_turn() {
  if (lines_.front().empty()) {
    lines_.pop_front();
  } else {
    lines_.splice(lines_.end(), lines_, lines_.begin());
  }
}

Job WaitingJobs::taken(Job& from) {
  Job job = std::move(from);
  job.servable->counters.queued.fetch_sub(1, std::memory_order_relaxed);
  job.servable->counters.queued_bytes.fetch_sub(job.bytes, std::memory_order_relaxed);
  --size_;
  bytes_ -= job.bytes;
  return job;
}

Job WaitingJobs::pop() {
  Line& line = lines_.front();
  Job job = taken(line.front());
  line.pop_front();
  end_turn();
  return job;
}

void WaitingJobs::take_fitting(const Servable* servable, std::vector<Job>& to,
                               const std::function<bool(const Job&)>& fits) {
  const auto line = line_of(servable);
  if (line == lines_.end()) return;
  for (auto at = line->begin(); at != line->end();) {
    if (!fits(*at)) {
      ++at;
      continue;
    }
    to.reserve(to.size() + 1);
    to.push_back(taken(*at));
    at = line->erase(at);
  }
  if (line->empty()) lines_.erase(line);
}

}  // namespace tidemark::serve
