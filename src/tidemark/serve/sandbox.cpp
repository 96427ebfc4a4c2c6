#include "tidemark/serve/sandbox.h"

#include <tidemark/error.h>

#if defined(__linux__) && defined(__x86_64__)

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>

namespace tidemark::serve {

namespace {

[[noreturn]] void not_here(const char* what) {
  const int why = errno;
  fail<UnimplementedError>("--sandbox: this system has no ", what, " (", std::strerror(why),
                           "). Serve without it, or in a container of its own");
}

void give_up_privileges() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) not_here("PR_SET_NO_NEW_PRIVS");
}

// --- files: Landlock -----------------------------------------------------------------------------

/// All kinds of access to files that this version of Landlock knows.
uint64_t known_accesses(long version) {
  const int kinds = version >= 5 ? 16 : version >= 3 ? 15 : version == 2 ? 14 : 13;
  return (uint64_t{1} << kinds) - 1;
}

void allow_reading(int rules, const std::string& path) {
  const int opened = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (opened < 0) return;  // what is not there cannot be read either
  struct stat status {};
  ::fstat(opened, &status);
  landlock_path_beneath_attr rule{};
  rule.parent_fd = opened;
  rule.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE;
  if (S_ISDIR(status.st_mode)) rule.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
  const long failed = ::syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  ::close(opened);
  if (failed != 0) not_here("rules of Landlock for this file system");
}

/// The folder of the program, which holds our libraries.
std::string own_folder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path().string();
}

// --- system calls: seccomp -----------------------------------------------------------------------

constexpr unsigned kAllowed[] = {
    // files that are open, and looking at others
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_preadv, SYS_close, SYS_lseek,
    SYS_fstat, SYS_stat, SYS_lstat, SYS_newfstatat, SYS_statx, SYS_access, SYS_faccessat,
    SYS_faccessat2, SYS_readlink, SYS_readlinkat, SYS_getdents64, SYS_fcntl, SYS_fadvise64,
    SYS_getcwd, SYS_statfs, SYS_fstatfs,
    // memory
    SYS_mmap, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_madvise, SYS_mincore, SYS_brk,
    SYS_memfd_create, SYS_ftruncate, SYS_membarrier, SYS_get_mempolicy,
    // connections that are there or come in
    SYS_accept, SYS_accept4, SYS_recvfrom, SYS_recvmsg, SYS_sendto, SYS_sendmsg, SYS_shutdown,
    SYS_getsockname, SYS_getpeername, SYS_setsockopt, SYS_getsockopt, SYS_poll, SYS_ppoll,
    SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_wait, SYS_epoll_pwait, SYS_eventfd2,
    SYS_timerfd_create, SYS_timerfd_settime, SYS_pipe2,
    // threads, time, signals to itself
    SYS_exit, SYS_exit_group, SYS_futex, SYS_set_robust_list, SYS_rseq, SYS_gettid, SYS_getpid,
    SYS_sched_yield, SYS_sched_getaffinity, SYS_sched_setaffinity, SYS_sched_getparam,
    SYS_sched_getscheduler, SYS_getcpu, SYS_nanosleep, SYS_clock_nanosleep, SYS_clock_gettime,
    SYS_clock_getres, SYS_gettimeofday, SYS_time, SYS_rt_sigaction, SYS_rt_sigprocmask,
    SYS_rt_sigreturn, SYS_rt_sigtimedwait, SYS_sigaltstack, SYS_restart_syscall,
    // what the machine is
    SYS_uname, SYS_sysinfo, SYS_getrusage, SYS_times, SYS_getrlimit, SYS_getuid, SYS_geteuid,
    SYS_getgid, SYS_getegid, SYS_getrandom};

/// A filter of seccomp, written from front to back.
class Filter {
 public:
  static constexpr size_t kNumber = offsetof(seccomp_data, nr);
  static constexpr size_t kArchitecture = offsetof(seccomp_data, arch);
  /// The lower half of an argument: all of it, for numbers of 32 bits.
  static constexpr size_t argument(int i) { return offsetof(seccomp_data, args) + 8 * size_t(i); }
  static constexpr uint32_t refusal(int error) {
    return SECCOMP_RET_ERRNO | (uint32_t(error) & SECCOMP_RET_DATA);
  }

  void load(size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, uint32_t(offset)); }
  void mask(uint32_t bits) { add(BPF_ALU | BPF_AND | BPF_K, bits); }
  void answer(uint32_t action) { add(BPF_RET | BPF_K, action); }
  /// The answer for what was loaded, where it is this value.
  void answer_if(uint32_t value, uint32_t action) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    answer(action);
  }
  void refuse_unless(uint32_t value) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
    answer(refusal(EPERM));
  }
  /// For this system call: allowed where the argument's bits are these, else refused.
  void allow_if(uint32_t call, int which, uint32_t bits, uint32_t value) {
    add(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 5);
    load(argument(which));
    mask(bits);
    answer_if(value, SECCOMP_RET_ALLOW);
    answer(refusal(EPERM));
  }
  void install() {
    sock_fprog program{static_cast<unsigned short>(steps_.size()), steps_.data()};
    const auto flags = SECCOMP_FILTER_FLAG_TSYNC;
    if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) != 0) {
      not_here("filters of system calls for all threads");
    }
  }

 private:
  void add(unsigned code, uint32_t k, uint8_t if_true = 0, uint8_t if_false = 0) {
    steps_.push_back({static_cast<uint16_t>(code), if_true, if_false, k});
  }
  std::vector<sock_filter> steps_;
};

}  // namespace

void enter_sandbox(const std::vector<std::string>& readable) {
  const long version =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) not_here("Landlock");
  landlock_ruleset_attr handled{};
  handled.handled_access_fs = known_accesses(version);
  const auto rules =
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0));
  if (rules < 0) not_here("Landlock");
  for (const std::string& path : readable) allow_reading(rules, path);
  allow_reading(rules, own_folder());
  for (const char* path : {"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib",
                           "/etc/ld.so.cache", "/proc/self", "/proc/meminfo", "/proc/cpuinfo",
                           "/sys/fs/cgroup", "/sys/devices/system", "/dev/urandom"}) {
    allow_reading(rules, path);
  }
  give_up_privileges();
  const long failed = ::syscall(SYS_landlock_restrict_self, rules, 0);
  if (failed != 0) not_here("Landlock");
  ::close(rules);
}

void close_sandbox() {
  Filter filter;
  filter.load(Filter::kArchitecture);
  filter.refuse_unless(AUDIT_ARCH_X86_64);  // others number their calls otherwise
  filter.load(Filter::kNumber);
  for (const unsigned call : kAllowed) filter.answer_if(call, SECCOMP_RET_ALLOW);
  // Its flags are in memory that a filter cannot read; C's library then uses clone.
  filter.answer_if(SYS_clone3, Filter::refusal(ENOSYS));
  filter.allow_if(SYS_clone, 0, CLONE_THREAD, CLONE_THREAD);
  constexpr uint32_t kChanges = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
  filter.allow_if(SYS_openat, 2, kChanges, 0);
  filter.allow_if(SYS_open, 1, kChanges, 0);
  filter.allow_if(SYS_ioctl, 1, ~uint32_t{0}, FIONBIO);
  filter.allow_if(SYS_prlimit64, 0, ~uint32_t{0}, 0);                               // its own
  filter.allow_if(SYS_tgkill, 0, ~uint32_t{0}, static_cast<uint32_t>(::getpid()));  // its own
  filter.answer(Filter::refusal(EPERM));
  give_up_privileges();
  filter.install();
}

}  // namespace tidemark::serve

#else

namespace tidemark::serve {

void enter_sandbox(const std::vector<std::string>&) {
  fail<UnimplementedError>("--sandbox: there is one on Linux on x86-64 alone");
}
void close_sandbox() {}

}  // namespace tidemark::serve

#endif
