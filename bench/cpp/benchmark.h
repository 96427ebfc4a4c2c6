// What the C++ benchmarks share: a benchmark is a function that returns named figures.
//
//   Figures add_small(const Options& options) {
//     return {{"add_ns", best_ns(options.quick ? 5 : 50, 10000, [&] { keep(td::add(a, b)); })}};
//   }
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <string>

namespace bench {

using Figures = std::map<std::string, double>;

struct Options {
  bool quick = false;
};

inline constexpr int kThreads = 2;

/// Stops the compiler from dropping work whose result nobody uses.
template <class T>
inline void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

inline double now_ns() {
  using namespace std::chrono;
  return double(duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
}

/// Nanoseconds a call of one loop of `calls`.
template <class Call>
double loop_ns(int calls, Call&& call) {
  const double start = now_ns();
  for (int i = 0; i < calls; ++i) call();
  return (now_ns() - start) / calls;
}

/// Nanoseconds a call, the best of `repeats` loops.
template <class Call>
double best_ns(int repeats, int calls, Call&& call) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repeats; ++i) best = std::min(best, loop_ns(calls, call));
  return best;
}

/// Keeps the smallest of the values noted under a name.
inline void note_best(Figures& figures, const std::string& name, double value) {
  const auto [place, is_new] = figures.try_emplace(name, value);
  if (!is_new) place->second = std::min(place->second, value);
}

/// Exact resident memory of this process, in bytes.
int64_t resident_bytes();

Figures add_small(const Options& options);
Figures streaming_ops(const Options& options);
Figures matmul(const Options& options);
Figures flat_memory(const Options& options);
Figures thread_exchange(const Options& options);
Figures ledger(const Options& options);

}  // namespace bench
