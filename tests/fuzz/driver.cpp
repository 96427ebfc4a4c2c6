// fuzz NAME [executions] [seed] [--seconds=N] [--only=…] [--corpora=FOLDER]
// fuzz --list
//
// A find is told with the seed that repeats it. So is an execution that takes 20 seconds of a core,
// or two minutes in which it waits, or memory far beyond any limit.
#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>

#include "fuzzer.h"

namespace tidemark::fuzz {

namespace {

constexpr double kLongest = 20;    // seconds of a core that an execution may take
constexpr int kLongestWait = 120;  // and seconds in all: other programs may be first
constexpr uint64_t kMostResident = uint64_t{2} << 30;

/// What a signal handler tells.
struct Progress {
  std::string_view name;
  std::atomic<uint64_t> seed{0};  // of the execution under way
  std::atomic<int64_t> executions{0};
  int64_t before = -1;    // executions at the last tick with progress
  int ticks = 0;          // since
  std::clock_t used = 0;  // of a core, until then
  int statm = -1;
};
Progress progress;

void say(std::string_view text) { (void)!::write(2, text.data(), text.size()); }
void say(uint64_t number) {
  char text[24];
  say({text, static_cast<size_t>(std::to_chars(text, text + sizeof(text), number).ptr - text)});
}

void tell_where() {
  say("found in ");
  say(progress.name);
  say(" after ");
  say(static_cast<uint64_t>(progress.executions.load()));
  say(" executions; to repeat it: ");
  say(progress.name);
  say(" 1 ");
  say(progress.seed.load());
  say("\n");
}

void on_crash(int signal) {
  std::signal(signal, SIG_DFL);
  tell_where();
  std::raise(signal);
}

uint64_t resident_bytes() {
  char text[64] = {};
  if (::pread(progress.statm, text, sizeof(text) - 1, 0) <= 0) return 0;
  const char* at = std::strchr(text, ' ');
  return at ? std::strtoull(at, nullptr, 10) * 4096 : 0;
}

/// Each second.
void on_tick(int) {
  const int64_t now = progress.executions.load();
  const std::clock_t used = std::clock();
  if (now != progress.before) {
    progress.before = now;
    progress.used = used;
    progress.ticks = 0;
  }
  const double seconds = static_cast<double>(used - progress.used) / CLOCKS_PER_SEC;
  if (++progress.ticks > kLongestWait || seconds > kLongest) found("it takes too long");
  if (resident_bytes() > kMostResident) found("it takes too much memory");
}

void watch() {
  progress.statm = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS}) {
    std::signal(signal, on_crash);
  }
  std::signal(SIGALRM, on_tick);
  const itimerval second{{1, 0}, {1, 0}};
  ::setitimer(ITIMER_REAL, &second, nullptr);
}

struct Extent {
  int64_t executions = 20000;
  uint64_t seed = 1;
  double seconds = std::numeric_limits<double>::infinity();
};

bool take_option(std::string_view word, std::string_view name, std::string& value) {
  if (!word.starts_with(name)) return false;
  value = word.substr(name.size());
  return true;
}

}  // namespace

std::map<std::string_view, MakeFuzzer>& fuzzers() {
  static std::map<std::string_view, MakeFuzzer> all;
  return all;
}

void found(std::string_view what) {
  say("found: ");
  say(what);
  say("\n");
  std::abort();
}

int run_fuzzer(int count, char** words) {
  Extent extent;
  Settings settings;
  std::string name, seconds;
  int plain = 0;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--list") {
      for (const auto& [known, make] : fuzzers()) std::puts(std::string(known).c_str());
      return 0;
    }
    if (take_option(word, "--seconds=", seconds)) {
      extent.seconds = std::atof(seconds.c_str());
      extent.executions = std::numeric_limits<int64_t>::max();
    } else if (!take_option(word, "--only=", settings.only) &&
               !take_option(word, "--corpora=", settings.corpora)) {
      if (word == "--unguided") continue;
      if (plain == 0) name = word;
      if (plain == 1) extent.executions = std::atoll(words[i]);
      if (plain == 2) extent.seed = std::strtoull(words[i], nullptr, 10);
      ++plain;
    }
  }
  const auto chosen = fuzzers().find(name);
  if (chosen == fuzzers().end()) {
    std::fprintf(stderr, "no fuzzer '%s'; --list tells which there are\n", name.c_str());
    return 2;
  }
  progress.name = chosen->first;
  const std::unique_ptr<Fuzzer> fuzzer = chosen->second(settings);
  watch();
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  int64_t executions = 0, results = 0;
  // Seeds all over, so that those of another run are others.
  Random seeds(extent.seed);
  for (uint64_t seed = extent.seed; executions < extent.executions; seed = seeds()) {
    if (executions % 64 == 0 && passed() > extent.seconds) break;
    progress.seed.store(seed, std::memory_order_relaxed);
    Random random(seed);
    results += fuzzer->execute(random) ? 1 : 0;
    progress.executions.store(++executions, std::memory_order_relaxed);
  }
  std::printf("%s: %lld executions in %.1f s, %lld results, %lld typed errors\n", name.c_str(),
              static_cast<long long>(executions), passed(), static_cast<long long>(results),
              static_cast<long long>(executions - results));
  return results > 0 || executions < 1000 ? 0 : 1;
}

}  // namespace tidemark::fuzz
