// TIDEMARK_RECORD: a recording of a whole process, of a program that knows nothing of it.

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "tidemark/base/settings.h"
#include "tidemark/profile/recorder.h"

namespace tidemark::profile {

namespace {

constinit bool records = false;

[[gnu::destructor]] void finish() {
  if (!records) return;
  try {
    stop();
  } catch (...) {  // the reader says what is missing of the file
  }
}

/// When the library is loaded. A program that records by itself says so by its own means.
[[gnu::constructor]] void begin() {
  if (std::getenv(settings::kRecord.name) == nullptr) return;
  try {
    const std::string path = settings::text(settings::kRecord);
    if (path.empty()) return;
    start({.path = path});
    ::unsetenv(settings::kRecord.name);  // a process that this one starts would write over it
    records = true;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tidemark: no recording: %s\n", error.what());
  }
}

}  // namespace

}  // namespace tidemark::profile
