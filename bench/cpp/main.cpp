// bench_cpp <benchmark> [--quick]: runs one benchmark on two cores, prints its figures as JSON.

#include <sched.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <stdexcept>

#include "benchmark.h"

namespace bench {
namespace {

struct Benchmark {
  const char* name;
  Figures (*run)(const Options&);
};

constexpr Benchmark kBenchmarks[] = {
    {"add_small", add_small},     {"streaming_ops", streaming_ops},     {"matmul", matmul},
    {"flat_memory", flat_memory}, {"thread_exchange", thread_exchange}, {"ledger", ledger},
};

/// The first two of the cores this process may use, as every other measured process.
void use_two_cores() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&chosen) < kThreads; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &chosen);
  }
  sched_setaffinity(0, sizeof chosen, &chosen);
}

void print(const Figures& figures) {
  const char* separator = "{";
  for (const auto& [name, value] : figures) {
    std::printf("%s\"%s\": %.9g", separator, name.c_str(), value);
    separator = ", ";
  }
  std::printf("}\n");
}

int run(int count, char** arguments) {
  Options options;
  options.quick = count > 2 && std::strcmp(arguments[2], "--quick") == 0;
  for (const Benchmark& benchmark : kBenchmarks) {
    if (count > 1 && std::strcmp(arguments[1], benchmark.name) == 0) {
      use_two_cores();
      print(benchmark.run(options));
      return 0;
    }
  }
  std::fprintf(stderr, "usage: bench_cpp <benchmark> [--quick]; benchmarks:");
  for (const Benchmark& benchmark : kBenchmarks) std::fprintf(stderr, " %s", benchmark.name);
  std::fprintf(stderr, "\n");
  return 2;
}

}  // namespace

int64_t resident_bytes() {
  std::ifstream lines("/proc/self/smaps_rollup");
  for (std::string word; lines >> word;) {
    int64_t kibibytes = 0;
    if (word == "Rss:" && lines >> kibibytes) return kibibytes * 1024;
  }
  throw std::runtime_error("/proc/self/smaps_rollup has no Rss line");
}

}  // namespace bench

int main(int count, char** arguments) {
  try {
    return bench::run(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
