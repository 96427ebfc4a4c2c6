// Reads texts from outside: byte sizes and environment variables. Allowed ends: a value in range,
// or InvalidArgumentError; what is printed is read back as the same number.
//
//   fuzz_texts [texts] [seed]
#include <tidemark/bytes.h>
#include <tidemark/error.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "tidemark/base/settings.h"

namespace {

using namespace tidemark;

/// Mostly pieces that mean something in a byte size, so that many texts are nearly right.
std::string random_text(std::mt19937_64& random) {
  static const char* const pieces[] = {"0",
                                       "1",
                                       "9",
                                       "64",
                                       ".",
                                       " ",
                                       "k",
                                       "MiB",
                                       "gb",
                                       "EiB",
                                       "e",
                                       "E5",
                                       "+",
                                       "-",
                                       "0x",
                                       "inf",
                                       "nan",
                                       "b",
                                       "\t",
                                       "\n",
                                       "7",
                                       "1024",
                                       "9223372036854775807",
                                       "true",
                                       "off",
                                       "18446744073709551616",
                                       "99999999999999999999"};
  std::string text;
  for (auto n = random() % 7; n > 0; --n) {
    if (random() % 12 == 0) {
      text += static_cast<char>(random() % 256);
    } else {
      text += pieces[random() % std::size(pieces)];
    }
  }
  if (random() % 200 == 0) text.append(random() % 5000, '9');
  return text;
}

/// 1 when the text has a meaning, 0 when it is refused.
template <class Read>
int64_t readable(const Read& read) {
  try {
    read();
    return 1;
  } catch (const InvalidArgumentError& error) {
    if (*error.what() == '\0') std::abort();
    return 0;
  }
}

int64_t read_all(const std::string& text) {
  int64_t understood = readable([&] {
    const int64_t bytes = parse_bytes(text);
    if (bytes < 0) std::abort();
    // Three digits after the point are printed, so the text stands for nearly the same number.
    const int64_t again = parse_bytes(format_bytes(bytes));
    if (std::abs(static_cast<double>(again - bytes)) > 0.01 * static_cast<double>(bytes)) {
      std::abort();
    }
  });
  if (text.find('\0') != std::string::npos) return understood;  // no environment can hold it
  setenv(settings::kMemoryLimit.name, text.c_str(), 1);
  setenv(settings::kPoison.name, text.c_str(), 1);
  setenv(settings::kNumThreads.name, text.c_str(), 1);
  setenv(("TIDEMARK_" + text.substr(0, text.find('='))).c_str(), "1", 1);
  understood += readable([] { (void)settings::bytes(settings::kMemoryLimit); });
  understood += readable([] { (void)settings::flag(settings::kPoison); });
  understood += readable([] {
    if (settings::integer(settings::kNumThreads) < 0) std::abort();
  });
  (void)settings::unknown_variables();
  unsetenv(("TIDEMARK_" + text.substr(0, text.find('='))).c_str());
  return understood;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t texts = argc > 1 ? std::atoll(argv[1]) : 20000;
  std::mt19937_64 random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  int64_t understood = 0;
  for (int64_t i = 0; i < texts; ++i) understood += read_all(random_text(random));
  std::printf("%lld texts: %lld meanings\n", static_cast<long long>(texts),
              static_cast<long long>(understood));
  return understood > 0 ? 0 : 1;
}
