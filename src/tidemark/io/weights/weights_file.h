// WeightsFile: tensors by name, in whatever format a file has.
//
//   const std::unique_ptr<WeightsFile> file = open_weights("model.pt");
//   for (const auto& [name, entry] : file->entries()) std::cout << name << entry.shape << "\n";
//   Tensor w = file->read("encoder.weight");
//
// Told from the bytes: safetensors, .npz and .npy, PyTorch's .pt and .pth, HDF5 as Keras writes it
// (.h5, .weights.h5, .keras), TensorFlow's checkpoints (by their prefix or .index); of models the
// constants (ONNX, TFLite) or variables (saved models).
#pragma once

#include <tidemark/tensor.h>

#include <map>
#include <memory>
#include <string>

namespace tidemark::io::weights {

struct Entry {
  std::string type;              // the format's own name for it where there is no dtype here
  DType dtype = DType::invalid;  // invalid: it cannot be read
  Shape shape;
  uint64_t bytes = 0;
};

/// Any number of threads. Nothing a file says is believed, and no code in it is run.
class TIDEMARK_API WeightsFile {
 public:
  using Entries = std::map<std::string, Entry, std::less<>>;
  virtual ~WeightsFile() = default;

  /// "safetensors", "npz", "torch", "hdf5", "checkpoint"; of models "ONNX", "TFLite", "Tidemark".
  virtual std::string_view format() const = 0;
  virtual const Entries& entries() const = 0;
  /// Throws NotFoundError for a name that is not there, UnimplementedError for a type that nothing
  /// here holds. Where the file can be mapped and suits the dtype, over its own pages.
  virtual Tensor read(std::string_view name) const = 0;

 protected:
  const Entry& entry(std::string_view name, const std::string& path) const;
};

/// Throws NotFoundError where there is none, DataLossError where it is damaged and
/// InvalidArgumentError for a format that holds no weights.
TIDEMARK_API std::unique_ptr<WeightsFile> open_weights(const std::string& path);

std::unique_ptr<WeightsFile> open_numpy(const std::string& path);
std::unique_ptr<WeightsFile> open_torch(const std::string& path);
/// The constants of an ONNX or TFLite model.
std::unique_ptr<WeightsFile> open_graph(const std::string& path);
/// The variables of a folder with a saved model.
std::unique_ptr<WeightsFile> open_saved(const std::string& folder);

}  // namespace tidemark::io::weights
