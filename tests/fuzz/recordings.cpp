// Damages recordings and analyses them. Allowed ends: an analysis, or a typed error.
#include <string>

#include "damaged_files.h"
#include "tidemark/profile/analysis.h"
#include "tidemark/profile/testing.h"

namespace {

using namespace tidemark;
using namespace tidemark::profile;
using fuzz::Random;

std::string recording(Random& random) {
  testing::Draft draft;
  for (uint32_t i = 1; i < 6; ++i) draft.name(NameTable::place, i, "train.py:" + std::to_string(i));
  draft.name(NameTable::op, 1, "add").name(NameTable::text, 1, "f");
  const size_t blocks = 1 + random() % 4;
  uint64_t time = 0;
  for (size_t b = 0; b < blocks; ++b) {
    std::vector<Event> events;
    for (size_t i = random() % 60; i > 0; --i) {
      events.push_back({time += random() % 100, random() % 16, random() % 5000,
                        static_cast<uint32_t>(random() % 6), static_cast<uint16_t>(random() % 2),
                        static_cast<EventKind>(random() % 14),
                        static_cast<uint8_t>(random() % 12)});
    }
    draft.events(events);
    const auto number = [&] { return static_cast<uint32_t>(random() % 9); };
    const std::vector<PlanBuffer> buffers(
        random() % 5, PlanBuffer{1, 2, number(), number(), number(), number(), number(), 0});
    if (random() % 2 == 0) draft.plan({time, 1, 2, 3, 4, number(), number()}, buffers);
  }
  draft.end(0);
  return std::string(draft.view());
}

void damage_recording(std::string& file, Random& random) {
  for (size_t times = random() % 4; times > 0; --times) {
    const size_t at = random() % file.size();
    switch (random() % 4) {
      case 0:
        file.resize(at + 1);
        break;
      case 1:
        file[at] = static_cast<char>(random());
        break;
      case 2:
        file.insert(at, std::string(random() % 40, static_cast<char>(random())));
        break;
      default:
        for (size_t i = at; i < std::min(at + 8, file.size()); ++i) file[i] = '\xff';
    }
  }
}

class Recordings final : public fuzz::Fuzzer {
 public:
  bool execute(Random& random) override {
    std::string bytes = recording(random);
    damage_recording(bytes, random);
    fuzz::put_bytes(path_, bytes);
    return fuzz::ends_well([&] {
      const Analysis a = analyse(path_, {.stretches = 20, .samples = 16});
      if (a.events > bytes.size() / sizeof(Event)) {
        fuzz::found("more events than there are bytes for");
      }
      return true;
    });
  }

 private:
  const fuzz::MemoryFolder folder_{"fuzz_recordings"};
  const std::string path_ = folder_.file("damaged");
};

const fuzz::AddFuzzer added("recordings", fuzz::make<Recordings>);

}  // namespace
