// Functions of C's library, defined once more: the program's own come first where names are looked
// up, for the libraries it uses too.
#include "system_calls.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <initializer_list>
#include <new>

namespace tidemark::faults {

namespace {

std::atomic<bool> are_on{false};
std::atomic<uint64_t> now_seed{0};
std::array<std::atomic<uint64_t>, kCalls> calls, faults;
std::atomic<int64_t> seconds_ahead{0};  // of the clock that never goes back
std::atomic<int64_t> seconds_off{0};    // of the clock on the wall
thread_local bool is_spared = false;

uint64_t mixed(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

/// A number other than 0 where this call goes wrong: one in so many.
uint64_t draw(Call call, uint64_t one_in) {
  if (!are_on.load(std::memory_order_relaxed) || is_spared) return 0;
  const auto kind = static_cast<size_t>(call);
  const uint64_t number = calls[kind].fetch_add(1, std::memory_order_relaxed);
  const uint64_t drawn = mixed(mixed(now_seed.load() * kCalls + kind) + number);
  if (drawn % one_in != 0) return 0;
  faults[kind].fetch_add(1, std::memory_order_relaxed);
  return drawn / one_in | 1;
}

/// False: the call is made. Else errno is one of these.
bool fails(Call call, uint64_t one_in, std::initializer_list<int> errors) {
  const uint64_t drawn = draw(call, one_in);
  if (drawn == 0) return false;
  errno = errors.begin()[(drawn >> 1) % errors.size()];
  return true;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

void spare_this_thread() { is_spared = true; }

void start_faults(uint64_t seed) {
  now_seed = seed;
  for (size_t i = 0; i < kCalls; ++i) calls[i] = faults[i] = 0;
  are_on = true;
}

FaultCounts stop_faults() {
  are_on = false;
  seconds_off = 0;
  FaultCounts out{};
  for (size_t i = 0; i < kCalls; ++i) out[i] = faults[i].load();
  return out;
}

}  // namespace tidemark::faults

#define TIDEMARK_NEXT(name) \
  static auto* const name##_next = tidemark::faults::next<decltype(name)>(#name)
#define TIDEMARK_OURS extern "C" __attribute__((visibility("default")))

using tidemark::faults::Call;
using tidemark::faults::draw;
using tidemark::faults::fails;

// --- connections ---------------------------------------------------------------------------------

/// A connection that was aborted is gone.
template <class Accept>
int accept_or_fail(const Accept& accept_one) {
  if (!fails(Call::accept, 24, {EINTR, ECONNABORTED, EMFILE, ENFILE, ENOMEM, EINTR})) {
    return accept_one();
  }
  if (errno != ECONNABORTED) return -1;
  const int aborted = accept_one();
  if (aborted < 0) return -1;
  ::close(aborted);
  errno = ECONNABORTED;
  return -1;
}

TIDEMARK_OURS int accept(int s, sockaddr* address, socklen_t* size) {
  TIDEMARK_NEXT(accept);
  return accept_or_fail([&] { return accept_next(s, address, size); });
}

TIDEMARK_OURS int accept4(int s, sockaddr* address, socklen_t* size, int flags) {
  TIDEMARK_NEXT(accept4);
  return accept_or_fail([&] { return accept4_next(s, address, size, flags); });
}

TIDEMARK_OURS ssize_t recv(int s, void* to, size_t size, int flags) {
  TIDEMARK_NEXT(recv);
  const uint64_t drawn = draw(Call::receive, 6);
  if (drawn == 0 || size == 0) return recv_next(s, to, size, flags);
  if (drawn % 8 < 5) return recv_next(s, to, 1 + (drawn >> 8) % (size < 40 ? size : 40), flags);
  errno = drawn % 8 < 7 ? EINTR : ECONNRESET;
  return -1;
}

TIDEMARK_OURS ssize_t recvmsg(int s, msghdr* message, int flags) {
  TIDEMARK_NEXT(recvmsg);
  if (message->msg_iovlen != 1) return recvmsg_next(s, message, flags);
  return recv(s, message->msg_iov->iov_base, message->msg_iov->iov_len, flags);
}

TIDEMARK_OURS ssize_t send(int s, const void* from, size_t size, int flags) {
  TIDEMARK_NEXT(send);
  const uint64_t drawn = draw(Call::send, 6);
  if (drawn == 0 || size == 0) return send_next(s, from, size, flags);
  if (drawn % 8 < 4) return send_next(s, from, 1 + (drawn >> 8) % size, flags);
  errno = drawn % 8 < 6 ? EINTR : drawn % 8 == 6 ? EAGAIN : EPIPE;
  return -1;
}

/// Whoever is told that there is no room waits to be told of room: only where there is none may
/// that be said to an event loop.
TIDEMARK_OURS ssize_t sendmsg(int s, const msghdr* message, int flags) {
  TIDEMARK_NEXT(sendmsg);
  if (fails(Call::send, 6, {EINTR, EINTR, EINTR, EPIPE, ECONNRESET})) return -1;
  return sendmsg_next(s, message, flags);
}

TIDEMARK_OURS int epoll_wait(int set, epoll_event* events, int most, int milliseconds) {
  TIDEMARK_NEXT(epoll_wait);
  if (fails(Call::wait, 10, {EINTR})) return -1;
  return epoll_wait_next(set, events, most, milliseconds);
}

// --- files ---------------------------------------------------------------------------------------

TIDEMARK_OURS int open(const char* path, int flags, ...) {
  TIDEMARK_NEXT(open);
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (fails(Call::open, 4, {EMFILE, ENFILE, EIO, EACCES, EINTR})) return -1;
  return open_next(path, flags, mode);
}

TIDEMARK_OURS FILE* fopen(const char* path, const char* how) {
  TIDEMARK_NEXT(fopen);
  if (fails(Call::open, 4, {EMFILE, EIO, EACCES})) return nullptr;
  return fopen_next(path, how);
}

TIDEMARK_OURS int stat(const char* path, struct stat* to) {
  TIDEMARK_NEXT(stat);
  if (fails(Call::look, 6, {EACCES, EIO, ENOMEM})) return -1;
  return stat_next(path, to);
}

TIDEMARK_OURS DIR* opendir(const char* path) {
  TIDEMARK_NEXT(opendir);
  if (fails(Call::list, 6, {EMFILE, EACCES, EIO, ENOENT})) return nullptr;
  return opendir_next(path);
}

TIDEMARK_OURS dirent* readdir(DIR* folder) {
  TIDEMARK_NEXT(readdir);
  if (fails(Call::list, 12, {EIO})) return nullptr;
  return readdir_next(folder);
}

// --- memory, threads, time -----------------------------------------------------------------------

TIDEMARK_OURS void* mmap(void* at, size_t size, int protection, int flags, int file, off_t from) {
  TIDEMARK_NEXT(mmap);
  if (fails(Call::map, 3, {ENOMEM})) return MAP_FAILED;
  return mmap_next(at, size, protection, flags, file, from);
}

/// Memory of objects: what `new` asks for.
void* operator new(size_t size) {
  if (draw(Call::object, 600) != 0) throw std::bad_alloc();
  void* const made = std::malloc(size > 0 ? size : 1);
  if (!made) throw std::bad_alloc();
  return made;
}
void operator delete(void* made) noexcept { std::free(made); }
void operator delete(void* made, size_t) noexcept { std::free(made); }

TIDEMARK_OURS int pthread_create(pthread_t* made, const pthread_attr_t* how, void* (*run)(void*),
                                 void* given) {
  TIDEMARK_NEXT(pthread_create);
  if (draw(Call::thread, 24) != 0) return EAGAIN;
  return pthread_create_next(made, how, run, given);
}

TIDEMARK_OURS int clock_gettime(clockid_t which, timespec* to) {
  TIDEMARK_NEXT(clock_gettime);
  using namespace tidemark::faults;
  if (const uint64_t drawn = draw(Call::clock, 400)) {
    if (which == CLOCK_MONOTONIC) seconds_ahead += static_cast<int64_t>(drawn % 90);
    if (which == CLOCK_REALTIME) seconds_off = static_cast<int64_t>(drawn % 7200) - 3600;
  }
  const int failed = clock_gettime_next(which, to);
  if (which == CLOCK_MONOTONIC) to->tv_sec += seconds_ahead.load(std::memory_order_relaxed);
  if (which == CLOCK_REALTIME) to->tv_sec += seconds_off.load(std::memory_order_relaxed);
  return failed;
}

/// Waits to a time of the clock as it was told.
TIDEMARK_OURS int pthread_cond_clockwait(pthread_cond_t* told, pthread_mutex_t* mutex,
                                         clockid_t which, const timespec* until) {
  TIDEMARK_NEXT(pthread_cond_clockwait);
  timespec real = *until;
  if (which == CLOCK_MONOTONIC) real.tv_sec -= tidemark::faults::seconds_ahead.load();
  return pthread_cond_clockwait_next(told, mutex, which, &real);
}
