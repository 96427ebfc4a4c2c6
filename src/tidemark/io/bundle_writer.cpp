#include "tidemark/io/bundle_writer.h"

#include <tidemark/error.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "tidemark/base/interrupt.h"
#include "tidemark/base/text/crc32c.h"
#include "tidemark/io/bundle_format.h"
#include "tidemark/io/bytes_sink.h"
#include "tidemark/io/file_system.h"
#include "tidemark/io/sorted_table.h"

namespace tidemark::io {

namespace {

namespace fs = std::filesystem;

template <class Sink>
void put_fixed32_field(Sink& sink, uint32_t number, uint32_t value) {
  put_varint(sink, uint64_t{number} << 3 | 5);
  sink.append(std::string_view(reinterpret_cast<const char*>(&value), sizeof(value)));
}

/// Zeros are left out, as the wire format has it.
void put_unless_zero(BytesSink& sink, uint32_t number, uint64_t value) {
  if (value != 0) put_varint_field(sink, number, value);
}

std::string entry_of(const Tensor& value, uint64_t offset, uint64_t bytes, uint32_t checksum) {
  BytesSink shape;
  for (const int64_t size : value.shape()) {
    BytesSink dim;
    put_unless_zero(dim, bundle::kDimSize, static_cast<uint64_t>(size));
    put_bytes_field(shape, bundle::kDim, dim.bytes);
  }
  BytesSink entry;
  put_varint_field(entry, bundle::kDType, static_cast<uint64_t>(value.dtype()));
  put_bytes_field(entry, bundle::kShape, shape.bytes);
  put_unless_zero(entry, bundle::kOffset, offset);
  put_unless_zero(entry, bundle::kBytes, bytes);
  put_fixed32_field(entry, bundle::kChecksum, text::masked_crc32c(checksum));
  return std::move(entry.bytes);
}

std::string header(uint64_t shards) {
  BytesSink version;
  put_varint_field(version, bundle::kProducer, bundle::kThisVersion);
  BytesSink out;
  put_varint_field(out, bundle::kNumShards, shards);
  put_bytes_field(out, bundle::kVersion, version.bytes);
  return std::move(out.bytes);
}

/// The files of the prefix's data, whatever number of shards they are of.
std::vector<fs::path> data_files(const std::string& prefix) {
  const fs::path path(prefix);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const std::string begin = path.filename().string() + ".data-";
  constexpr std::string_view form = "00000-of-00000";
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const std::string& name : names_in(folder.string(), ignored)) {
    if (name.size() != begin.size() + form.size() || !name.starts_with(begin)) continue;
    const std::string_view tail = std::string_view(name).substr(begin.size());
    if (tail.substr(5, 4) == form.substr(5, 4)) found.push_back(folder / name);
  }
  return found;
}

}  // namespace

uint64_t free_number_of_shards(const std::string& prefix) {
  uint64_t shards = 1;
  std::error_code ignored;
  while (fs::exists(bundle::shard_path(prefix, 0, shards), ignored)) ++shards;
  return shards;
}

BundleWriter::BundleWriter(std::string prefix)
    : prefix_(std::move(prefix)),
      shards_(free_number_of_shards(prefix_)),
      data_(bundle::shard_path(prefix_, 0, shards_)) {
  remove_abandoned(prefix_);
}

void BundleWriter::add(const std::string& key, const Tensor& value) {
  if (key.empty()) fail("a tensor in a checkpoint needs a name");
  if (entries_.contains(key)) fail("'", key, "' is in the checkpoint ", prefix_, " already");
  if (value.is_symbolic()) {
    fail("'", key,
         "' cannot be written: it has no value, only a place in a graph; run the graph and write ",
         "what that gives");
  }
  const Tensor here = value.to(Device());
  const uint64_t offset = written_;
  const uint32_t checksum =
      here.dtype() == DType::string
          ? write_strings(here)
          : write_plain({static_cast<const char*>(here.raw_data()), here.nbytes()});
  entries_[key] = entry_of(here, offset, written_ - offset, checksum);
}

/// Cut so that a piece is still in the cache when it is written after being summed.
uint32_t BundleWriter::write_plain(std::string_view bytes) {
  constexpr size_t kPiece = size_t{1} << 20;
  uint32_t checksum = 0;
  for (size_t at = 0; at < bytes.size(); at += kPiece) {
    check_interrupt();
    const std::string_view piece = bytes.substr(at, kPiece);
    checksum = text::crc32c(piece, checksum);
    data_.write(piece);
  }
  written_ += bytes.size();
  return checksum;
}

/// The lengths as varints, a checksum of them, the characters. The checksums see a length as a
/// number of four bytes, or of eight where it needs them.
uint32_t BundleWriter::write_strings(const Tensor& value) {
  BytesSink lengths;
  uint32_t checksum = 0;
  for (int64_t i = 0; i < value.num_elements(); ++i) {
    const uint64_t length = value.string_at(i).size();
    put_varint(lengths, length);
    const size_t width = length <= UINT32_MAX ? sizeof(uint32_t) : sizeof(uint64_t);
    checksum = text::crc32c({reinterpret_cast<const char*>(&length), width}, checksum);
  }
  const uint32_t masked = text::masked_crc32c(checksum);
  lengths.append({reinterpret_cast<const char*>(&masked), sizeof(masked)});
  checksum = text::crc32c({reinterpret_cast<const char*>(&masked), sizeof(masked)}, checksum);
  data_.write(lengths.bytes);
  written_ += lengths.bytes.size();
  for (int64_t i = 0; i < value.num_elements(); ++i) {
    const std::string_view text = value.string_at(i);
    checksum = text::crc32c(text, checksum);
    data_.write(text);
    written_ += text.size();
  }
  return checksum;
}

void BundleWriter::write_index() const {
  FileWriter file(prefix_ + std::string(bundle::kIndexSuffix));
  SortedTableWriter table(file);
  table.add(bundle::kHeaderKey, header(shards_));
  for (const auto& [key, entry] : entries_) table.add(key, entry);
  table.finish();
  file.commit();
}

void BundleWriter::remove_other_data() const {
  std::error_code ignored;
  const fs::path mine = bundle::shard_path(prefix_, 0, shards_);
  for (const fs::path& path : data_files(prefix_)) {
    if (path.filename() != mine.filename()) fs::remove(path, ignored);
  }
}

void BundleWriter::finish() {
  data_.commit();
  write_index();
  remove_other_data();
}

void remove_bundle(const std::string& prefix) {
  std::error_code ignored;
  fs::remove(prefix + std::string(bundle::kIndexSuffix), ignored);
  for (const fs::path& path : data_files(prefix)) fs::remove(path, ignored);
}

}  // namespace tidemark::io
