#include "tidemark/serve/threads.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace tidemark::serve {

namespace {

/// As the kernel has it; C's library does not know it.
struct SchedulingOfThread {
  uint32_t size = sizeof(SchedulingOfThread), policy = SCHED_OTHER;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime = 0, deadline = 0, period = 0;
};

/// A thread that asks for short turns gets one soon. Kernels before 6.12 do not hear it.
void ask_for_short_turns() noexcept {
  SchedulingOfThread wanted;
  wanted.nice = ::getpriority(PRIO_PROCESS, 0);
  wanted.runtime = 100'000;  // nanoseconds, the least there is
  (void)::syscall(SYS_sched_setattr, 0, &wanted, 0);
}

/// A thread that takes long does not take the core from one that reads when it is woken by that.
void wait_for_turns() noexcept {
  const sched_param none{};
  (void)::sched_setscheduler(0, SCHED_BATCH, &none);
}

}  // namespace

int id_of_this_thread() noexcept { return static_cast<int>(::syscall(SYS_gettid)); }

void lower_urgency(int thread_id) noexcept {
  constexpr int kLowest = 19;
  if (thread_id > 0) (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(thread_id), kLowest);
}

void set_urgency(Urgency urgency) noexcept {
  if (urgency == Urgency::at_once) return ask_for_short_turns();
  if (urgency == Urgency::in_time) wait_for_turns();
  const int steps = urgency == Urgency::soon ? 4 : 10;
  const auto thread = static_cast<id_t>(id_of_this_thread());
  (void)::setpriority(PRIO_PROCESS, thread, ::getpriority(PRIO_PROCESS, thread) + steps);
}

}  // namespace tidemark::serve
