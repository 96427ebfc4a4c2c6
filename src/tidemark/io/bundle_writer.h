// BundleWriter: tensors by name, as TensorFlow's checkpoints keep them.
//
//   BundleWriter bundle("run/model-1");
//   bundle.add("w", w);          // its bytes go to the file now; nothing of it is kept
//   bundle.finish();             // run/model-1.index and run/model-1.data-00000-of-00001
#pragma once

#include <tidemark/tensor.h>

#include <map>
#include <string>
#include <string_view>

#include "tidemark/io/file_writer.h"

namespace tidemark::io {

/// The checkpoint is there as a whole or not at all, also where it takes the place of one with the
/// same name: the new data lie in a file of another name (another number of shards) until the
/// index, replaced in one step, refers to it; only then the old data go.
class TIDEMARK_API BundleWriter {
 public:
  /// Throws NotFoundError or PermissionDenied as the system says.
  explicit BundleWriter(std::string prefix);
  /// Throws InvalidArgumentError for a key that was added before, or is empty.
  void add(const std::string& key, const Tensor& value);
  void finish();

 private:
  uint32_t write_plain(std::string_view bytes);
  uint32_t write_strings(const Tensor& value);
  void write_index() const;
  void remove_other_data() const;

  std::string prefix_;
  uint64_t shards_;
  FileWriter data_;
  uint64_t written_ = 0;
  std::map<std::string, std::string> entries_;
};

/// The number of shards a new checkpoint says it has, so that no file there is written over.
TIDEMARK_API uint64_t free_number_of_shards(const std::string& prefix);

/// Removes a checkpoint: the index first, so that no moment leaves one that names missing data.
TIDEMARK_API void remove_bundle(const std::string& prefix);

}  // namespace tidemark::io
