// Reads models in TensorFlow's format that were damaged. Allowed ends: a model that runs or says
// why not, or one of the typed errors.
//
//   fuzz_foreign_models [files] [seed]
#include <tidemark/memory.h>

#include <cstdio>

#include "damaged_files.h"
#include "foreign_model.h"
#include "run_model.h"

using namespace tidemark;

int main(int argc, char** argv) {
  const fuzz::Extent extent(argc, argv, 20000);
  fuzz::Random random(extent.seed);
  const fuzz::ScratchFolder folder("fuzz_foreign");
  const std::string path = folder.file("saved_model.pb"), whole = fuzz::small_model();
  const auto take = [&](const std::string& bytes) {
    fuzz::put_bytes(path, bytes);
    return fuzz::ends_well([&] {
      fuzz::load_and_run(folder.path(), std::chrono::seconds(5));
      return true;
    });
  };
  if (!take(whole)) {
    std::puts("the model that is not damaged does not load");
    return 1;
  }
  memory::set_limit(memory::stats().live + (int64_t{1} << 28));
  long long loaded = 0;
  for (int64_t i = 0; i < extent.files; ++i) {
    std::string bytes = whole;
    fuzz::damage_often(bytes, random);
    if (random() % 16 == 0) bytes.resize(random() % (bytes.size() + 1));
    loaded += take(bytes) ? 1 : 0;
  }
  std::printf("%lld files, %lld of them still load\n", static_cast<long long>(extent.files),
              loaded);
  return 0;
}
