// The recorder: what happens to memory, as fixed-size events in a ring or a file.
//
//   profile::start({.path = "run.tidemark"});
//   ... the program ...
//   profile::stop();                                  // says what was written
//
// Off it costs one branch an allocation and one an op. On, an event is a short lock and 32 bytes; a
// thread of its own writes the file, and the front end is told of moments worth a look
// (base/attached.h). When the file cannot be written, recording says so on the
// standard error and switches itself off; the program goes on.
#pragma once

#include <tidemark/export.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "tidemark/profile/format.h"

namespace tidemark::profile {

struct Options {
  std::string path;                // empty: a ring in memory, written down by save()
  uint64_t ring_events = 1 << 20;  // as many are kept, at least
};

struct Status {
  bool is_on = false;
  uint64_t events = 0;  // so far, of this recording or the last one
  uint64_t lost = 0;
  std::string path;
  std::string error;  // why it switched itself off; empty: it did not
};

/// Throws InvalidArgumentError when one is under way or the file cannot be opened.
TIDEMARK_API void start(const Options& options);
/// Ends the recording, if there is one. A file is whole when this returns.
TIDEMARK_API Status stop();
TIDEMARK_API Status status();
/// Writes the ring's events down, of a recording that goes on or has ended.
TIDEMARK_API void save(const std::string& path);

extern TIDEMARK_API std::atomic<bool> is_on;
inline bool is_recording() noexcept { return is_on.load(std::memory_order_relaxed); }

/// Notes that something happened on the running line: a step, a trace, a call, … Does nothing
/// while nobody records.
TIDEMARK_API void mark(EventKind kind, std::string_view text, uint64_t value) noexcept;

}  // namespace tidemark::profile
