// Hdf5File: the arrays of an HDF5 file, as h5py writes one by default and Keras uses it.
//
//   Hdf5File file(input, 0, input->size());
//   for (const auto& [path, array] : file.arrays()) ...      // "layers/dense/vars/0"
//   Tensor kernel = file.read("layers/dense/vars/0");
//
// Superblock of version 0 or 1, groups as symbol tables, arrays in one piece. What else HDF5 has
// throws UnimplementedError, what is damaged DataLossError; sizes are checked against the file
// before anything is allocated.
#pragma once

#include <tidemark/tensor.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tidemark/io/input_file.h"

namespace tidemark::io::keras {

class Hdf5File {
 public:
  struct Array {
    DType dtype = DType::invalid;
    Shape shape;
    uint64_t offset = 0, bytes = 0;
  };

  /// The file begins at `start` of the input and has `size` bytes.
  Hdf5File(std::shared_ptr<const InputFile> input, uint64_t start, uint64_t size);

  const std::string& path() const { return input_->path(); }
  /// By their paths, in the order of the file's names.
  const std::map<std::string, Array, std::less<>>& arrays() const { return arrays_; }
  /// What the attribute "name" of a group says, by the group's path: there is none for most.
  const std::map<std::string, std::string, std::less<>>& names() const { return names_; }
  /// The texts of an attribute that Keras 2 gave a group ("" is the root): "model_config",
  /// "layer_names" or "weight_names". Null: there is none.
  const std::vector<std::string>* texts(std::string_view path, std::string_view attribute) const;
  /// Throws NotFoundError for a path that is not there.
  Tensor read(std::string_view path) const;

 private:
  struct Object;
  std::string bytes_at(uint64_t offset, uint64_t count) const;
  std::string heap_text(uint64_t address, uint32_t index) const;
  /// A text that lies in a heap: its length, the heap's address, its number there.
  std::string take_text(std::string_view bytes) const;
  uint64_t root() const;
  void read_object(uint64_t address, const std::string& path, int depth);
  void read_messages(uint64_t offset, uint64_t size, Object& object) const;
  void read_message(uint32_t kind, std::string_view bytes, Object& object) const;
  void read_attribute(std::string_view bytes, Object& object) const;
  void read_tree(uint64_t address, std::string_view names, const std::string& path, int depth);
  void read_symbols(uint64_t address, std::string_view names, const std::string& path, int depth);
  [[noreturn]] void damaged(std::string_view what) const;

  std::shared_ptr<const InputFile> input_;
  uint64_t start_, size_;
  uint64_t objects_ = 0;
  std::map<std::string, Array, std::less<>> arrays_;
  std::map<std::string, std::string, std::less<>> names_;
  std::map<std::string, std::vector<std::string>, std::less<>> texts_;  // "group@attribute"
  mutable std::pair<uint64_t, std::string> heap_;                       // the one read last
  mutable uint64_t heap_bytes_ = 0;  // of all that were looked through
};

}  // namespace tidemark::io::keras
