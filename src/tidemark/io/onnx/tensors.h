// Tensors out of an ONNX file: every size is checked against the file before memory is taken.
#pragma once

#include <mutex>

#include "tidemark/io/mapped_file.h"
#include "tidemark/io/onnx/value.h"

namespace tidemark::io::onnx {

/// Opens the data files that tensors name, each once. Any number of threads.
class ExternalFiles {
 public:
  ExternalFiles(std::string folder, MappedFile::How how) : folder_(std::move(folder)), how_(how) {}
  const std::shared_ptr<const MappedFile>& open(std::string_view location);

 private:
  std::mutex mutex_;
  std::string folder_;
  MappedFile::How how_;
  std::map<std::string, std::shared_ptr<const MappedFile>, std::less<>> open_;
};

/// Data that lie in files of their own are used where they are, if they are aligned. Throws
/// DataLossError where sizes and data disagree.
Value read_tensor_value(const TensorMessage& message, ExternalFiles& files);
/// Throws what reading would throw; nothing is allocated. Gives the bytes that a tensor will take.
size_t check_tensor(const TensorMessage& message, ExternalFiles& files);
/// The dense form.
Value read_sparse_value(const SparseMessage& message, ExternalFiles& files);

}  // namespace tidemark::io::onnx
