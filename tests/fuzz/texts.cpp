// Reads texts from outside: byte sizes and environment variables. Allowed ends: a value in range,
// or InvalidArgumentError; what is printed is read back as the same number.
#include <tidemark/bytes.h>
#include <tidemark/error.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "fuzzer.h"
#include "tidemark/base/settings.h"

namespace {

using namespace tidemark;
using fuzz::Random;

/// Mostly pieces that mean something in a byte size, so that many texts are nearly right.
std::string random_text(Random& random) {
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
    if (*error.what() == '\0') fuzz::found("an error without words");
    return 0;
  }
}

int64_t read_all(const std::string& text, bool looks_for_unknown) {
  int64_t understood = readable([&] {
    const int64_t bytes = parse_bytes(text);
    if (bytes < 0) fuzz::found("a negative size");
    // Three digits after the point are printed, so the text stands for nearly the same number.
    const int64_t again = parse_bytes(format_bytes(bytes));
    if (std::abs(static_cast<double>(again - bytes)) > 0.01 * static_cast<double>(bytes)) {
      fuzz::found("a size is not read as it was written");
    }
  });
  if (text.find('\0') != std::string::npos) return understood;  // no environment can hold it
  // The environment has these very texts: what setenv copies stays for good.
  const std::string unknown = "TIDEMARK_" + text.substr(0, std::min<size_t>(text.find('='), 40));
  std::string variables[] = {settings::kMemoryLimit.name + ("=" + text),
                             settings::kPoison.name + ("=" + text),
                             settings::kNumThreads.name + ("=" + text), unknown + "=1"};
  for (std::string& variable : variables) putenv(variable.data());
  understood += readable([] { (void)settings::bytes(settings::kMemoryLimit); });
  understood += readable([] { (void)settings::flag(settings::kPoison); });
  understood += readable([] {
    if (settings::integer(settings::kNumThreads) < 0) fuzz::found("a negative number");
  });
  if (looks_for_unknown) (void)settings::unknown_variables();
  for (const char* name : {settings::kMemoryLimit.name, settings::kPoison.name,
                           settings::kNumThreads.name, unknown.c_str()}) {
    unsetenv(name);
  }
  return understood;
}

class Texts final : public fuzz::Fuzzer {
 public:
  bool execute(Random& random) override {
    // The nearest known name takes longer to find than all else.
    const bool looks_for_unknown = random() % 32 == 0;
    return read_all(random_text(random), looks_for_unknown) > 0;
  }
};

const fuzz::AddFuzzer added("texts", fuzz::make<Texts>);

}  // namespace
