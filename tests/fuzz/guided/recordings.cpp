// Recordings, with the maps of plans they hold.
#include <tidemark/error.h>

#include "targets.h"
#include "tidemark/profile/analysis.h"
#include "tidemark/profile/testing.h"

namespace tidemark::fuzz {

namespace {

using namespace profile;

void take(std::string_view bytes) {
  static const MemoryFolder folder("recordings");
  static const std::string path = folder.file("recording");
  put_bytes(path, bytes);
  try {
    const Analysis a = analyse(path, {.stretches = 20, .samples = 16});
    if (a.events > bytes.size() / sizeof(Event)) found("more events than there are bytes for");
  } catch (const Error&) {
  }
}

std::map<std::string, std::string> seeds() {
  profile::testing::Draft draft;
  draft.name(NameTable::place, 1, "train.py:1").name(NameTable::op, 1, "add");
  std::vector<Event> events;
  for (uint64_t i = 0; i < 12; ++i) {
    events.push_back({10 * i, i % 4, 64 * i, 1, 1, static_cast<EventKind>(i), 0});
  }
  draft.events(events);
  const std::vector<PlanBuffer> buffers(2, PlanBuffer{1, 2, 0, 1, 1, 1, 1, 0});
  draft.plan({100, 1, 2, 3, 4, 2, 2}, buffers);
  draft.end(0);
  return {{"small", std::string(draft.view())}};
}

const AddTarget added("recordings", {.take = take, .seeds = seeds});

}  // namespace

}  // namespace tidemark::fuzz
