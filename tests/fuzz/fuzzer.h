// Fuzzers: each draws inputs that anybody might send, one from each seed, and gives them to what
// reads them. An input ends in a result or in a typed error; anything else is a find, which its
// seed repeats.
//
//   class Texts final : public Fuzzer {
//     bool execute(Random& random) override { return is_understood(random_text(random)); }
//   };
//   const AddFuzzer added("texts", make<Texts>);
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

namespace tidemark::fuzz {

/// Numbers from a seed; each execution has one, so it costs nothing to begin (splitmix64).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t operator()() {
    uint64_t x = state_ += 0x9E3779B97F4A7C15;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
  }

 private:
  uint64_t state_;
};

class Fuzzer {
 public:
  virtual ~Fuzzer() = default;
  /// True: the input that was drawn came to a result.
  virtual bool execute(Random& random) = 0;
};

struct Settings {
  std::string corpora = "tests/fuzz/corpora";  // well-formed inputs, by fuzzer
  std::string only;                            // of what a fuzzer takes turns with
};

using MakeFuzzer = std::unique_ptr<Fuzzer> (*)(const Settings& settings);

/// By name. Fuzzers put themselves in.
std::map<std::string_view, MakeFuzzer>& fuzzers();
struct AddFuzzer {
  AddFuzzer(std::string_view name, MakeFuzzer make) { fuzzers().emplace(name, make); }
};
template <class Made>
std::unique_ptr<Fuzzer> make(const Settings& settings) {
  if constexpr (std::is_constructible_v<Made, const Settings&>) {
    return std::make_unique<Made>(settings);
  } else {
    return std::make_unique<Made>();
  }
}

/// Ends the process as a find.
[[noreturn]] void found(std::string_view what);

/// What a program does whose words these are: driver.cpp says which there are.
int run_fuzzer(int count, char** words);

}  // namespace tidemark::fuzz
