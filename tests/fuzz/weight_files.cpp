// Reads files of weights that were damaged: npz, PyTorch's, HDF5. Allowed ends: tensors whose every
// byte can be read, or a typed error.
#include <tidemark/memory.h>

#include "damaged_files.h"
#include "tidemark/base/interrupt.h"
#include "tidemark/io/inspect.h"
#include "tidemark/io/weights/weights_file.h"

namespace {

using namespace tidemark;

bool read_everything(const std::string& path) {
  const Interrupt soon{.deadline = Interrupt::Clock::now() + std::chrono::seconds(5)};
  const InterruptScope bounded(soon);
  return fuzz::ends_well([&] {
    if (io::inspect(path).format.empty()) fuzz::found("a file of no format");
    const auto file = io::weights::open_weights(path);
    for (const auto& [name, entry] : file->entries()) {
      if (entry.dtype == DType::invalid) continue;
      const Tensor value = file->read(name);
      if (value.nbytes() != entry.bytes) fuzz::found("another size than was said");
      if (value.to_string().empty()) fuzz::found("a tensor without words");
    }
    return true;
  });
}

class WeightFiles final : public fuzz::Fuzzer {
 public:
  explicit WeightFiles(const fuzz::Settings& settings)
      : files_(fuzz::files_in(settings.corpora + "/weights")) {
    memory::set_limit(int64_t{256} << 20);
  }

  bool execute(fuzz::Random& random) override {
    std::string bytes = files_[random() % files_.size()];
    fuzz::damage_often(bytes, random);
    fuzz::put_bytes(path_, bytes);
    return read_everything(path_);
  }

 private:
  const std::vector<std::string> files_;
  const fuzz::ScratchFolder folder_{"fuzz_weights"};
  const std::string path_ = folder_.file("damaged.weights");
};

const fuzz::AddFuzzer added("weight_files", fuzz::make<WeightFiles>);

}  // namespace
