// Reads .keras files that were damaged: in the archive, the description or the HDF5 part. Allowed
// ends: a model that computes, or a typed error.
#include <tidemark/create.h>
#include <tidemark/keras.h>
#include <tidemark/memory.h>

#include "damaged_files.h"

namespace {

using namespace tidemark;

bool loads(const std::string& path) {
  return fuzz::ends_well([&] {
    const keras::Model model = keras::load_model(path);
    return model(zeros({1, 4})).num_elements() > 0;
  });
}

class KerasFiles final : public fuzz::Fuzzer {
 public:
  explicit KerasFiles(const fuzz::Settings& settings)
      : whole_(fuzz::read_bytes(settings.corpora + "/keras/model.keras")) {
    fuzz::put_bytes(path_, whole_);
    memory::set_limit(int64_t{64} << 20);
    if (!loads(path_)) fuzz::found("the model that is not damaged does not load");
  }

  bool execute(fuzz::Random& random) override {
    std::string bytes = whole_;
    // The HDF5 part has most of the bytes; the rest gets as much damage.
    const bool in_weights = random() % 2 == 0;
    fuzz::damage_often(bytes, random, in_weights ? weights_at_ : 0,
                       in_weights ? bytes.size() : weights_at_);
    if (random() % 16 == 0) bytes.resize(random() % bytes.size());
    fuzz::put_bytes(path_, bytes);
    return loads(path_);
  }

 private:
  const std::string whole_;
  const size_t weights_at_ = whole_.find("\x89HDF");
  const fuzz::MemoryFolder folder_{"fuzz_keras_files"};
  const std::string path_ = folder_.file("model.keras");
};

const fuzz::AddFuzzer added("keras_files", fuzz::make<KerasFiles>);

}  // namespace
