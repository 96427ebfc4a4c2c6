#include "tidemark/io/bundle_reader.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "tidemark/base/interrupt.h"
#include "tidemark/base/text/crc32c.h"
#include "tidemark/base/thread_pool.h"
#include "tidemark/base/wire.h"
#include "tidemark/io/bundle_format.h"
#include "tidemark/io/partitioned.h"
#include "tidemark/io/sorted_table.h"
#include "tidemark/io/stored_size.h"
#include "tidemark/memory/workspace.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::io {

namespace {

/// A piece is still in the cache when it is summed after being read; threads take stretches.
constexpr uint64_t kPiece = uint64_t{256} << 10, kStretch = uint64_t{4} << 20;

bool read_shape(std::string_view bytes, Shape& shape) {
  WireReader dims(bytes);
  for (WireField dim; dims.next(dim);) {
    if (dim.number == bundle::kUnknownRank) return false;
    if (dim.number != bundle::kDim) continue;
    if (!dim.is_bytes() || shape.rank() == Shape::kMaxRank) return false;
    int64_t size = 0;
    WireReader fields(dim.bytes);
    for (WireField field; fields.next(field);) {
      if (field.number == bundle::kDimSize && field.is_varint()) {
        size = static_cast<int64_t>(field.value);
      }
    }
    if (!fields.ok() || size < 0) return false;
    shape.push_back(size);
  }
  return dims.ok();
}

bool read_slice(std::string_view bytes, std::vector<Extent>& slice) {
  WireReader extents(bytes);
  for (WireField one; extents.next(one);) {
    if (one.number != bundle::kExtent || !one.is_bytes()) continue;
    Extent extent;
    WireReader fields(one.bytes);
    for (WireField field; fields.next(field);) {
      if (!field.is_varint()) continue;
      const auto value = static_cast<int64_t>(field.value);
      if (field.number == bundle::kStart) extent.start = value;
      if (field.number == bundle::kLength) extent.length = value;
    }
    if (!fields.ok()) return false;
    slice.push_back(extent);
  }
  return extents.ok();
}

}  // namespace

BundleReader::BundleReader(std::string prefix) : prefix_(std::move(prefix)) {
  const InputFile index(prefix_ + std::string(bundle::kIndexSuffix));
  read_sorted_table(index,
                    [this](std::string_view key, std::string_view value) { add(key, value); });
  if (shards_ == 0) damaged("its index has no header");
}

void BundleReader::damaged(std::string_view what) const { fail_damaged(prefix_, what); }

void BundleReader::add(std::string_view key, std::string_view value) {
  if (key == bundle::kHeaderKey) return read_header(value);
  if (shards_ == 0) damaged("its index does not begin with a header");
  Entries& to = key.front() == '\0' ? parts_ : entries_;  // see slice_key
  to.emplace_hint(to.end(), key, parsed(value));
}

void BundleReader::read_header(std::string_view bytes) {
  uint64_t least = 0;
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    if (field.number == bundle::kNumShards && field.is_varint()) shards_ = field.value;
    if (field.number == bundle::kEndianness && field.is_varint() && field.value != 0) {
      fail<UnimplementedError>(prefix_,
                               " was written on a big-endian machine, which this Tidemark ",
                               "does not read; write it again on a little-endian one");
    }
    if (field.number == bundle::kVersion && field.is_bytes()) {
      WireReader version(field.bytes);
      for (WireField part; version.next(part);) {
        if (part.number == bundle::kMinConsumer && part.is_varint()) least = part.value;
      }
    }
  }
  if (!reader.ok() || shards_ == 0) damaged("its header is malformed");
  if (least > bundle::kThisVersion) {
    fail<UnimplementedError>(prefix_, " needs a reader of version ", least,
                             " of the format; this Tidemark's is ", bundle::kThisVersion);
  }
}

BundleReader::Entry BundleReader::parsed(std::string_view bytes) const {
  Entry entry;
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    if (field.is_bytes()) {
      if (field.number == bundle::kShape && !read_shape(field.bytes, entry.shape)) {
        damaged("a shape is malformed");
      }
      if (field.number == bundle::kSlice && !read_slice(field.bytes, entry.slices.emplace_back())) {
        damaged("a slice is malformed");
      }
      continue;
    }
    if (field.number == bundle::kDType) entry.dtype = field.value;
    if (field.number == bundle::kShard) entry.shard = field.value;
    if (field.number == bundle::kOffset) entry.offset = field.value;
    if (field.number == bundle::kBytes) entry.bytes = field.value;
    if (field.number == bundle::kChecksum) entry.checksum = static_cast<uint32_t>(field.value);
  }
  if (!reader.ok() || entry.dtype == 0) damaged("an entry is malformed");
  if (entry.shard >= shards_) damaged("an entry names a file that does not belong to it");
  return entry;
}

const BundleReader::Entry& BundleReader::entry_of(std::string_view key) const {
  const auto found = entries_.find(key);
  if (found == entries_.end()) fail<NotFoundError>("Key ", key, " not found in checkpoint");
  return found->second;
}

DType BundleReader::dtype_of(std::string_view key, const Entry& entry) const {
  if (!bundle::is_known_dtype(entry.dtype)) {
    fail<UnimplementedError>("'", key, "' in ", prefix_, " has TensorFlow's dtype number ",
                             entry.dtype, ", which is not among those of this library");
  }
  return static_cast<DType>(entry.dtype);
}

std::shared_ptr<const InputFile> BundleReader::shard(uint64_t number) const {
  const std::scoped_lock lock(mutex_);
  if (!open_shard_ || open_number_ != number) {
    open_shard_ = std::make_shared<const InputFile>(bundle::shard_path(prefix_, number, shards_));
    open_number_ = number;
  }
  return open_shard_;
}

std::shared_ptr<const InputFile> BundleReader::checked(std::string_view key,
                                                       const Entry& entry) const {
  const DType dtype = dtype_of(key, entry);
  std::shared_ptr<const InputFile> file = shard(entry.shard);
  if (!file->has(entry.offset, entry.bytes)) {
    fail_damaged(file->path(), message("'", key, "' is cut short"));
  }
  // A text takes at least the byte that says how long it is.
  const uint64_t each = dtype == DType::string ? 1 : size_of(dtype);
  const std::optional<uint64_t> elements = elements_within(entry.shape, each, entry.bytes);
  if (!elements || (dtype != DType::string && *elements * each != entry.bytes)) {
    damaged(message("the shape of '", key, "' does not fit its bytes"));
  }
  return file;
}

void BundleReader::read_checked(const InputFile& file, std::string_view key, const Entry& entry,
                                char* to) const {
  check_interrupt();  // other threads may take all stretches
  std::vector<uint32_t> sums((entry.bytes + kStretch - 1) / kStretch);
  const auto length = [&](uint64_t begin, uint64_t most) {
    return std::min(most, entry.bytes - begin);
  };
  parallel_for(static_cast<int64_t>(sums.size()), 1, [&](int64_t number, int64_t) {
    const uint64_t begin = static_cast<uint64_t>(number) * kStretch;
    const uint64_t end = begin + length(begin, kStretch);
    const memory::Workspace dropped(to ? 0 : length(begin, kPiece));
    uint32_t sum = 0;
    for (uint64_t at = begin; at < end; at += kPiece) {
      check_interrupt();
      char* piece = to ? to + at : static_cast<char*>(dropped.data());
      const uint64_t count = std::min(kPiece, end - at);
      file.read(entry.offset + at, piece, count);
      sum = text::crc32c({piece, count}, sum);
    }
    sums[static_cast<size_t>(number)] = sum;
  });
  uint32_t checksum = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    checksum = text::joined_crc32c(checksum, sums[i], length(i * kStretch, kStretch));
  }
  if (text::masked_crc32c(checksum) != entry.checksum) {
    fail_damaged(file.path(), message("the checksum of '", key, "' is wrong"));
  }
}

void BundleReader::read_plain(std::string_view key, const Entry& entry, char* to) const {
  const std::shared_ptr<const InputFile> file = checked(key, entry);
  read_checked(*file, key, entry, to);
  // Any other byte is no bool to C++.
  const bool is_bool = static_cast<DType>(entry.dtype) == DType::bool_;
  for (uint64_t i = 0; is_bool && i < entry.bytes; ++i) to[i] = to[i] != 0;
}

Tensor BundleReader::read_whole(std::string_view key, const Entry& entry) const {
  checked(key, entry);
  if (static_cast<DType>(entry.dtype) == DType::string) return read_strings(key, entry);
  Tensor out = new_tensor(static_cast<DType>(entry.dtype), entry.shape);
  read_plain(key, entry, static_cast<char*>(out.mutable_raw_data()));
  return out;
}

bool BundleReader::fill(std::string_view key, const Tensor& reserved) const {
  const Entry& entry = entry_of(key);
  if (!entry.slices.empty() || static_cast<DType>(entry.dtype) != reserved.dtype() ||
      reserved.dtype() == DType::string || entry.shape != reserved.shape() ||
      !reserved.device().is_cpu()) {
    return false;
  }
  read_plain(key, entry, static_cast<char*>(reserved.mutable_raw_data()));
  return true;
}

Tensor BundleReader::read_strings(std::string_view key, const Entry& entry) const {
  const std::shared_ptr<const InputFile> file = checked(key, entry);
  const std::string bytes = file->read(entry.offset, entry.bytes);
  std::string_view rest = bytes;
  std::vector<uint64_t> lengths(static_cast<size_t>(entry.shape.num_elements()));
  uint32_t checksum = 0, stored = 0;
  for (uint64_t& length : lengths) {
    if (!take_varint(rest, length)) damaged(message("the texts of '", key, "' are cut short"));
    const size_t width = length <= UINT32_MAX ? sizeof(uint32_t) : sizeof(uint64_t);
    checksum = text::crc32c({reinterpret_cast<const char*>(&length), width}, checksum);
  }
  const std::string_view of_lengths = rest.substr(0, sizeof(stored));
  if (!take_fixed(rest, stored) || stored != text::masked_crc32c(checksum)) {
    damaged(message("the checksum of the lengths of '", key, "' is wrong"));
  }
  checksum = text::crc32c(rest, text::crc32c(of_lengths, checksum));
  if (text::masked_crc32c(checksum) != entry.checksum) {
    fail_damaged(file->path(), message("the checksum of '", key, "' is wrong"));
  }
  std::vector<std::string_view> texts(lengths.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    if (lengths[i] > rest.size()) damaged(message("a text of '", key, "' is cut short"));
    texts[i] = rest.substr(0, lengths[i]);
    rest.remove_prefix(lengths[i]);
  }
  if (!rest.empty()) damaged(message("the texts of '", key, "' are followed by more"));
  return Tensor::of_strings(texts, entry.shape);
}

const BundleReader::Entry& BundleReader::part_of(std::string_view key, const Entry& whole,
                                                 std::span<const Extent> part) const {
  const auto found = parts_.find(slice_key(key, part));
  if (found == parts_.end()) damaged(message("a part of '", key, "' is missing"));
  const Entry& entry = found->second;
  if (entry.dtype != whole.dtype || entry.shape != shape_of_part(whole.shape, part)) {
    damaged(message("a part of '", key, "' has another shape than its place"));
  }
  return entry;
}

Tensor BundleReader::read_partitioned(std::string_view key, const Entry& entry) const {
  const DType dtype = dtype_of(key, entry);
  if (dtype == DType::string) {
    fail<UnimplementedError>("'", key, "' in ", prefix_, " is partitioned and holds texts, which ",
                             "this Tidemark does not read");
  }
  if (const char* fault = find_fault_of_parts(entry.shape, entry.slices)) {
    damaged(message("the parts of '", key, "' ", fault));
  }
  // All parts are known to lie in their files before the whole is allocated.
  for (const std::vector<Extent>& part : entry.slices) {
    const Entry& stored = part_of(key, entry, part);
    checked(key, stored);
  }
  Tensor out = new_tensor(dtype, entry.shape);
  for (const std::vector<Extent>& part : entry.slices) {
    const Tensor value = read_whole(key, part_of(key, entry, part));
    copy_part(out, part, value);
  }
  return out;
}

Tensor BundleReader::read(std::string_view key) const {
  const Entry& entry = entry_of(key);
  return entry.slices.empty() ? read_whole(key, entry) : read_partitioned(key, entry);
}

void BundleReader::verify(std::string_view key) const {
  const Entry& entry = entry_of(key);
  if (!entry.slices.empty() || static_cast<DType>(entry.dtype) == DType::string) {
    read(key);
    return;
  }
  const std::shared_ptr<const InputFile> file = checked(key, entry);
  read_checked(*file, key, entry, nullptr);
}

}  // namespace tidemark::io
