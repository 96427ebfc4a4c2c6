// A sorted table of keys and values in one file: the `.index` of a TensorFlow checkpoint.
//
//   SortedTableWriter table(file);            // file: a FileWriter
//   table.add("a", "1");                      // keys in rising order
//   table.finish();
//   read_sorted_table(InputFile(path), [](std::string_view key, std::string_view value) { … });
//
// The file is a row of blocks and a footer. A block's entries are {bytes shared with the key
// before, bytes of the key that follow, bytes of the value}, as varints, then those bytes; every
// few entries begin anew with a whole key. Where they do stands behind the entries, and how often.
// A byte for the compression and a masked CRC-32C close the block. The last block but one names no
// further data here, the last one the data blocks; the footer says where these two lie.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tidemark/io/file_writer.h"
#include "tidemark/io/input_file.h"

namespace tidemark::io {

/// Blocks are written as they fill, so a long table takes little memory. The bytes are those that
/// TensorFlow writes for the same entries.
class TIDEMARK_API SortedTableWriter {
 public:
  explicit SortedTableWriter(FileWriter& file) : file_(file) {}
  /// Each key must be greater than the one before it, byte by byte.
  void add(std::string_view key, std::string_view value);
  void finish();

 private:
  struct Block {
    explicit Block(int keys) : keys_until_whole(keys) {}
    void add(std::string_view key, std::string_view value);
    int keys_until_whole;
    std::string bytes, last_key;
    std::string starts =
        std::string(4, '\0');  // where whole keys stand, four bytes each; the first at 0
    int since_start = 0;
  };
  struct Place {
    uint64_t offset, bytes;
    std::string encoded() const;
  };
  /// Appends the block to the file and empties it.
  Place write(Block& block);
  /// Notes the block that is full in the index, under a key from its last one to the next.
  void note_full_block(const std::string& key);

  FileWriter& file_;
  uint64_t written_ = 0;
  std::string last_key_;
  Block data_{16}, index_{1};
  std::optional<Place> full_;  // written, and not yet in the index: the next key is not known
};

using TableEntry = std::function<void(std::string_view key, std::string_view value)>;

/// Calls `each` with the entries in their order. Throws DataLossError for what is no such table,
/// whose keys do not rise, or whose keys take far more room than the file.
TIDEMARK_API void read_sorted_table(const InputFile& file, const TableEntry& each);

}  // namespace tidemark::io
