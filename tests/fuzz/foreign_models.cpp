// Reads models in TensorFlow's format that were damaged. Allowed ends: a model that runs or says
// why not, or one of the typed errors.
#include <tidemark/memory.h>

#include "damaged_files.h"
#include "foreign_model.h"
#include "run_model.h"

namespace {

using namespace tidemark;

class ForeignModels final : public fuzz::Fuzzer {
 public:
  ForeignModels() {
    if (!takes(whole_)) fuzz::found("the model that is not damaged does not load");
    memory::set_limit(memory::stats().live + (int64_t{1} << 28));
  }

  bool execute(fuzz::Random& random) override {
    std::string bytes = whole_;
    fuzz::damage_often(bytes, random);
    if (random() % 16 == 0) bytes.resize(random() % (bytes.size() + 1));
    return takes(bytes);
  }

 private:
  bool takes(const std::string& bytes) const {
    fuzz::put_bytes(path_, bytes);
    return fuzz::ends_well([&] {
      fuzz::load_and_run(folder_.path(), std::chrono::seconds(5));
      return true;
    });
  }

  const fuzz::MemoryFolder folder_{"fuzz_foreign"};
  const std::string path_ = folder_.file("saved_model.pb"), whole_ = fuzz::small_model();
};

const fuzz::AddFuzzer added("foreign_models", fuzz::make<ForeignModels>);

}  // namespace
