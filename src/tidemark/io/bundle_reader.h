// BundleReader: the tensors of a TensorFlow checkpoint, found by name and read one at a time.
//
//   BundleReader bundle("run/model-1");
//   Tensor w = bundle.read("w");
#pragma once

#include <tidemark/tensor.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tidemark/io/input_file.h"
#include "tidemark/io/ordered_code.h"

namespace tidemark::io {

/// Nothing the files say is believed: sizes are checked against them before anything is allocated.
/// Throws NotFoundError where there is none, DataLossError where one is damaged and
/// UnimplementedError for what TensorFlow has and this library has not. Any number of threads.
class TIDEMARK_API BundleReader {
 public:
  struct Entry {
    uint64_t dtype = 0;  // TensorFlow's number; not all have a DType here
    Shape shape;
    uint64_t shard = 0, offset = 0, bytes = 0;
    uint32_t checksum = 0;
    std::vector<std::vector<Extent>> slices;  // of a partitioned tensor, which has no bytes itself
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  explicit BundleReader(std::string prefix);

  const std::string& prefix() const { return prefix_; }
  /// Tensors by name; the parts of partitioned ones are not among them.
  const Entries& entries() const { return entries_; }
  /// Throws NotFoundError for a key that is not there.
  Tensor read(std::string_view key) const;
  /// Reads a tensor into memory that is there already. False, and nothing is changed, where it is
  /// of another dtype or shape, or made of texts or parts. Throws DataLossError half way.
  bool fill(std::string_view key, const Tensor& reserved) const;
  /// Reads it and drops it in pieces, so that a damaged file is known before anything changes.
  void verify(std::string_view key) const;

 private:
  void add(std::string_view key, std::string_view value);
  void read_header(std::string_view bytes);
  Entry parsed(std::string_view bytes) const;
  const Entry& entry_of(std::string_view key) const;
  const Entry& part_of(std::string_view key, const Entry& whole,
                       std::span<const Extent> part) const;
  DType dtype_of(std::string_view key, const Entry& entry) const;
  std::shared_ptr<const InputFile> shard(uint64_t number) const;
  /// The entry's file, once it is known that the entry lies within it and its shape fits its bytes.
  std::shared_ptr<const InputFile> checked(std::string_view key, const Entry& entry) const;
  /// Reads the entry's bytes, or drops them where `to` is null, and throws DataLossError where
  /// their checksum is another.
  void read_checked(const InputFile& file, std::string_view key, const Entry& entry,
                    char* to) const;
  void read_plain(std::string_view key, const Entry& entry, char* to) const;
  Tensor read_whole(std::string_view key, const Entry& entry) const;
  Tensor read_strings(std::string_view key, const Entry& entry) const;
  Tensor read_partitioned(std::string_view key, const Entry& entry) const;
  [[noreturn]] void damaged(std::string_view what) const;

  std::string prefix_;
  uint64_t shards_ = 0;
  Entries entries_, parts_;
  mutable std::mutex mutex_;  // of what follows
  mutable std::shared_ptr<const InputFile> open_shard_;
  mutable uint64_t open_number_ = 0;
};

}  // namespace tidemark::io
