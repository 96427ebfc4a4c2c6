// Reads .keras files that were damaged: in the archive, the description or the HDF5 part. Allowed
// ends: a model that computes, or a typed error.
//
//   fuzz_keras_files [files] [seed]
#include <tidemark/create.h>
#include <tidemark/keras.h>
#include <tidemark/memory.h>

#include <cstdio>

#include "damaged_files.h"

namespace {

using namespace tidemark;

bool loads(const std::string& path) {
  return fuzz::ends_well([&] {
    const keras::Model model = keras::load_model(path);
    return model(zeros({1, 4})).num_elements() > 0;
  });
}

}  // namespace

int main(int count, char** words) {
  const fuzz::Extent extent(count, words, 20000);
  fuzz::Random random(extent.seed);
  const std::string whole = fuzz::read_bytes("tests/fuzz/corpora/keras/model.keras");
  const fuzz::ScratchFolder folder("fuzz_keras_files");
  const std::string path = folder.file("model.keras");
  fuzz::put_bytes(path, whole);
  memory::set_limit(int64_t{64} << 20);
  if (!loads(path)) std::abort();
  // The HDF5 part has most of the bytes; the rest gets as much damage.
  const size_t weights_at = whole.find("\x89HDF");
  long long read = 0;
  for (int64_t i = 0; i < extent.files; ++i) {
    std::string bytes = whole;
    const bool in_weights = random() % 2 == 0;
    fuzz::damage_often(bytes, random, in_weights ? weights_at : 0,
                       in_weights ? bytes.size() : weights_at);
    if (random() % 16 == 0) bytes.resize(random() % bytes.size());
    fuzz::put_bytes(path, bytes);
    read += loads(path) ? 1 : 0;
  }
  std::printf("%lld files: %lld read\n", static_cast<long long>(extent.files), read);
  return 0;
}
