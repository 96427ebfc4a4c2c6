#include <tidemark/error.h>

#include <algorithm>

#include "tidemark/base/text/crc32c.h"
#include "tidemark/io/bytes_sink.h"
#include "tidemark/io/sorted_table.h"
#include "tidemark/io/sorted_table_format.h"

namespace tidemark::io {

namespace {

constexpr size_t kBlockBytes = size_t{256} << 10;

template <class T>
std::string fixed(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

size_t shared_bytes(std::string_view a, std::string_view b) {
  const size_t most = std::min(a.size(), b.size());
  return static_cast<size_t>(std::mismatch(a.begin(), a.begin() + most, b.begin()).first -
                             a.begin());
}

/// A short key that is not below `last` and below `next`.
std::string between(std::string_view last, std::string_view next) {
  const size_t shared = shared_bytes(last, next);
  if (shared >= std::min(last.size(), next.size())) return std::string(last);
  const auto differs = static_cast<unsigned char>(last[shared]);
  if (differs == 0xff || differs + 1 >= static_cast<unsigned char>(next[shared])) {
    return std::string(last);
  }
  std::string out(last.substr(0, shared + 1));
  ++out.back();
  return out;
}

/// A short key that is not below `last`.
std::string after(std::string_view last) {
  for (size_t i = 0; i < last.size(); ++i) {
    if (last[i] == '\xff') continue;
    std::string out(last.substr(0, i + 1));
    ++out.back();
    return out;
  }
  return std::string(last);
}

}  // namespace

void SortedTableWriter::Block::add(std::string_view key, std::string_view value) {
  size_t shared = 0;
  if (since_start < keys_until_whole) {
    shared = shared_bytes(last_key, key);
  } else {
    starts += fixed(static_cast<uint32_t>(bytes.size()));
    since_start = 0;
  }
  ++since_start;
  BytesSink entry;
  put_varint(entry, shared);
  put_varint(entry, key.size() - shared);
  put_varint(entry, value.size());
  entry.append(key.substr(shared));
  entry.append(value);
  bytes += entry.bytes;
  last_key = key;
}

std::string SortedTableWriter::Place::encoded() const {
  BytesSink out;
  put_varint(out, offset);
  put_varint(out, bytes);
  return std::move(out.bytes);
}

SortedTableWriter::Place SortedTableWriter::write(Block& block) {
  std::string& bytes = block.bytes;
  bytes += block.starts;
  bytes += fixed(static_cast<uint32_t>(block.starts.size() / sizeof(uint32_t)));
  const Place place{written_, bytes.size()};
  bytes += table::kUncompressed;
  bytes += fixed(text::masked_crc32c(text::crc32c(bytes)));
  file_.write(bytes);
  written_ += bytes.size();
  block = Block(block.keys_until_whole);
  return place;
}

void SortedTableWriter::note_full_block(const std::string& key) {
  if (full_) index_.add(key, full_->encoded());
  full_.reset();
}

void SortedTableWriter::add(std::string_view key, std::string_view value) {
  if (written_ + data_.bytes.size() > 0 && key <= last_key_) {
    fail<InternalError>("keys of a table must rise: '", key, "'");
  }
  note_full_block(between(last_key_, key));
  data_.add(key, value);
  last_key_ = key;
  const size_t bytes = data_.bytes.size() + data_.starts.size() + sizeof(uint32_t);
  if (bytes >= kBlockBytes) full_ = write(data_);
}

void SortedTableWriter::finish() {
  if (!data_.bytes.empty()) full_ = write(data_);
  note_full_block(after(last_key_));
  Block nothing(1);
  const Place further = write(nothing);
  std::string footer = further.encoded() + write(index_).encoded();
  footer.resize(table::kPlaces);
  file_.write(footer + fixed(table::kMagic));
}

}  // namespace tidemark::io
