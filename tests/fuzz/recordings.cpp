// Damages recordings and analyses them. Allowed ends: an analysis, or a typed error.
//
//   fuzz_recordings [files] [seed]
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "tidemark/profile/analysis.h"
#include "tidemark/profile/testing.h"

#include <tidemark/error.h>

namespace {

using namespace tidemark::profile;

std::string recording(std::mt19937_64& random) {
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

void damage(std::string& file, std::mt19937_64& random) {
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

}  // namespace

int main(int argc, char** argv) {
  const long files = argc > 1 ? std::atol(argv[1]) : 20000;
  std::mt19937_64 random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  const testing::TemporaryFile file;
  long analysed = 0, refused = 0;
  for (long i = 0; i < files; ++i) {
    std::string bytes = recording(random);
    damage(bytes, random);
    file.write(bytes);
    try {
      const Analysis a = analyse(file.path(), {.stretches = 20, .samples = 16});
      analysed += a.events <= bytes.size() / sizeof(Event);
    } catch (const tidemark::Error&) {
      ++refused;
    }
  }
  std::printf("%ld recordings: %ld analysed, %ld refused\n", files, analysed, refused);
  return analysed + refused == files && analysed > refused ? 0 : 1;
}
