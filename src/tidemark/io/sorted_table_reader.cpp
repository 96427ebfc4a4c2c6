#include "tidemark/base/text/crc32c.h"
#include "tidemark/base/text/snappy.h"
#include "tidemark/base/wire.h"
#include "tidemark/io/sorted_table.h"
#include "tidemark/io/sorted_table_format.h"

namespace tidemark::io {

namespace {

/// Keys share what they begin with, so a small file can hold many long ones. Far more than this is
/// no table that anybody wrote for use.
constexpr uint64_t kMostExpansion = 64;
constexpr uint64_t kAlwaysAllowed = uint64_t{1} << 20;

/// Reads one table, and counts what its keys and values would take.
class TableReader {
 public:
  explicit TableReader(const InputFile& file)
      : file_(file), budget_(kAlwaysAllowed + kMostExpansion * file.size()) {}

  void read(const TableEntry& each) {
    for_each_entry(index_block(), [&](std::string_view, std::string_view place) {
      for_each_entry(block_at(place), [&](std::string_view key, std::string_view value) {
        if (has_last_ && key <= last_) damaged("its keys do not rise");
        last_ = key;
        has_last_ = true;
        each(key, value);
      });
    });
  }

 private:
  [[noreturn]] void damaged(std::string_view what) const { fail_damaged(file_.path(), what); }

  std::string index_block() {
    if (file_.size() < table::kFooter) damaged("it is cut short");
    const std::string footer = file_.read(file_.size() - table::kFooter, table::kFooter);
    std::string_view magic = std::string_view(footer).substr(table::kPlaces);
    uint64_t number = 0;
    if (!take_fixed(magic, number) || number != table::kMagic) {
      damaged("it does not end as an index of a checkpoint does");
    }
    std::string_view places = std::string_view(footer).substr(0, table::kPlaces);
    block_at(places);  // says nothing here, but a change in it is one of the file
    uint64_t ignored = 0;
    if (!take_varint(places, ignored) || !take_varint(places, ignored))
      damaged("its footer is malformed");
    return block_at(places);
  }

  /// The entries of a block, with what says where whole keys stand cut off.
  std::string block_at(std::string_view place) {
    uint64_t offset = 0, bytes = 0;
    if (!take_varint(place, offset) || !take_varint(place, bytes)) damaged("a place is malformed");
    if (bytes > file_.size() || !file_.has(offset, bytes + table::kTrailer)) {
      damaged("a block lies outside of it");
    }
    spend(bytes);
    std::string block = file_.read(offset, bytes + table::kTrailer);
    std::string_view checksum = std::string_view(block).substr(bytes + 1);
    uint32_t wanted = 0;
    take_fixed(checksum, wanted);
    const std::string_view summed = std::string_view(block).substr(0, bytes + 1);
    if (text::masked_crc32c(text::crc32c(summed)) != wanted) {
      damaged("the checksum of a block is wrong");
    }
    const char compression = block[bytes];
    block.resize(bytes);
    if (compression == table::kSnappy) {
      block = expanded(block);
    } else if (compression != table::kUncompressed) {
      damaged("a block is compressed in an unknown way");
    }
    return entries_of(std::move(block));
  }

  std::string expanded(std::string_view block) {
    const std::optional<uint64_t> bytes = text::snappy_size(block);
    if (!bytes) damaged("a compressed block is malformed");
    spend(*bytes);
    std::optional<std::string> out = text::unsnappy(block);
    if (!out) damaged("a compressed block is malformed");
    return std::move(*out);
  }

  std::string entries_of(std::string block) const {
    const uint64_t bytes = block.size();
    std::string_view count_bytes = std::string_view(block);
    uint32_t starts = 0;
    if (bytes < sizeof(starts)) damaged("a block is cut short");
    count_bytes.remove_prefix(bytes - sizeof(starts));
    take_fixed(count_bytes, starts);
    if (starts > bytes / sizeof(uint32_t) - 1) damaged("a block is malformed");
    block.erase(bytes - (uint64_t{starts} + 1) * sizeof(uint32_t));
    return block;
  }

  template <class Each>
  void for_each_entry(const std::string& block, Each each) {
    std::string key;
    for (std::string_view rest = block; !rest.empty();) {
      uint64_t shared = 0, unshared = 0, value_bytes = 0;
      if (!take_varint(rest, shared) || !take_varint(rest, unshared) ||
          !take_varint(rest, value_bytes) || shared > key.size() || unshared > rest.size() ||
          value_bytes > rest.size() - unshared) {
        damaged("an entry is malformed");
      }
      spend(shared + unshared + value_bytes);
      key.resize(shared);
      key.append(rest.substr(0, unshared));
      each(std::string_view(key), rest.substr(unshared, value_bytes));
      rest.remove_prefix(unshared + value_bytes);
    }
  }

  void spend(uint64_t bytes) {
    if (bytes > budget_) damaged("its keys take far more room than the file");
    budget_ -= bytes;
  }

  const InputFile& file_;
  uint64_t budget_;
  std::string last_;
  bool has_last_ = false;
};

}  // namespace

void read_sorted_table(const InputFile& file, const TableEntry& each) {
  TableReader(file).read(each);
}

}  // namespace tidemark::io
