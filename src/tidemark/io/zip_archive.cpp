#include "tidemark/io/zip_archive.h"

#include <algorithm>
#include <cstring>

#include "tidemark/base/codecs/library.h"
#include "tidemark/io/input_file.h"

namespace tidemark::io {

namespace {

constexpr uint64_t kEntry = 46, kLocal = 30, kEnd = 22, kWideLocator = 20, kWideEnd = 56;
constexpr uint64_t kLongestComment = 65535;
constexpr uint64_t kMostExpansion = 1040;  // deflate makes no more than 1032 bytes of one

template <class T>
T number_at(std::string_view bytes, uint64_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

/// Numbers that do not fit their 32 bits stand in the extra field of kind 1, in this order.
bool take_wide(std::string_view extra, ZipMember& member, uint64_t& header) {
  while (extra.size() >= 4) {
    const auto kind = number_at<uint16_t>(extra, 0), size = number_at<uint16_t>(extra, 2);
    if (size > extra.size() - 4) return false;
    std::string_view field = extra.substr(4, size);
    if (kind == 1) {
      for (uint64_t* wanted : {&member.bytes, &member.packed, &header}) {
        if (*wanted != UINT32_MAX) continue;
        if (field.size() < 8) return false;
        *wanted = number_at<uint64_t>(field, 0);
        field.remove_prefix(8);
      }
    }
    extra.remove_prefix(4 + size);
  }
  return true;
}

}  // namespace

void ZipArchive::damaged(std::string_view what) const { fail_damaged(path_, what); }

std::string_view ZipArchive::part(uint64_t offset, uint64_t size) const {
  if (offset > bytes_.size() || size > bytes_.size() - offset) {
    damaged("its archive refers to what lies behind its end");
  }
  return bytes_.substr(offset, size);
}

ZipArchive::ZipArchive(std::string_view bytes, std::string path)
    : bytes_(bytes), path_(std::move(path)) {
  // The record at the end, behind which a comment may stand.
  const uint64_t tail = std::min<uint64_t>(bytes.size(), kEnd + kLongestComment);
  const size_t found = bytes.substr(bytes.size() - tail).rfind("PK\5\6");
  if (found == std::string_view::npos || tail - found < kEnd) {
    damaged("it is no archive, or is cut short");
  }
  const uint64_t at = bytes.size() - tail + found;
  uint64_t count = number_at<uint16_t>(bytes, at + 10), size = number_at<uint32_t>(bytes, at + 12),
           offset = number_at<uint32_t>(bytes, at + 16);
  const bool is_wide = count == UINT16_MAX || size == UINT32_MAX || offset == UINT32_MAX;
  if (is_wide && at >= kWideLocator && part(at - kWideLocator, 4) == "PK\6\7") {
    const std::string_view record =
        part(number_at<uint64_t>(bytes, at - kWideLocator + 8), kWideEnd);
    if (!record.starts_with("PK\6\6")) damaged("its archive has no list of members");
    count = number_at<uint64_t>(record, 32);
    size = number_at<uint64_t>(record, 40);
    offset = number_at<uint64_t>(record, 48);
  }
  read_directory(offset, size, count);
}

void ZipArchive::read_directory(uint64_t offset, uint64_t size, uint64_t count) {
  std::string_view rest = part(offset, size);
  if (count > size / kEntry) damaged("its archive lists more members than it has room for");
  for (; count > 0; --count) {
    if (rest.size() < kEntry || !rest.starts_with("PK\1\2")) {
      damaged("its archive's list of members is malformed");
    }
    const uint64_t name_size = number_at<uint16_t>(rest, 28);
    const uint64_t extra_size = number_at<uint16_t>(rest, 30);
    const uint64_t whole = kEntry + name_size + extra_size + number_at<uint16_t>(rest, 32);
    if (whole > rest.size()) damaged("its archive's list of members is cut short");
    ZipMember member;
    member.name = rest.substr(kEntry, name_size);
    member.checksum = number_at<uint32_t>(rest, 16);
    member.packed = number_at<uint32_t>(rest, 20);
    member.bytes = number_at<uint32_t>(rest, 24);
    uint64_t header = number_at<uint32_t>(rest, 42);
    if (!take_wide(rest.substr(kEntry + name_size, extra_size), member, header)) {
      damaged("its archive has a member without a size");
    }
    const auto flags = number_at<uint16_t>(rest, 8), method = number_at<uint16_t>(rest, 10);
    const bool is_known = (flags & 1) == 0 && (method == 0 || method == 8);
    if (!is_known) unreadable_.emplace_back(member.name);
    member.is_compressed = method != 0;
    const std::string_view local = part(header, kLocal);
    if (!local.starts_with("PK\3\4")) damaged("its archive has a member that is not there");
    member.offset =
        header + kLocal + number_at<uint16_t>(local, 26) + number_at<uint16_t>(local, 28);
    (void)part(member.offset, member.packed);
    if (is_known && !member.is_compressed && member.bytes != member.packed) {
      damaged("its archive has a member of two sizes");
    }
    if (member.is_compressed && member.bytes / kMostExpansion > member.packed) {
      damaged("its archive has a member that cannot be as large as it says");
    }
    members_.push_back(member);
    rest.remove_prefix(whole);
  }
}

const ZipMember* ZipArchive::find(std::string_view name) const {
  const auto found = std::ranges::find(members_, name, &ZipMember::name);
  return found == members_.end() ? nullptr : &*found;
}

std::string_view ZipArchive::stored(const ZipMember& member) const {
  if (std::ranges::count(unreadable_, member.name) != 0) {
    fail<UnimplementedError>(path_, ": ", member.name,
                             " is encrypted or compressed in a way that is not read");
  }
  if (member.is_compressed) {
    fail<UnimplementedError>(path_, ": ", member.name, " is compressed; write it as it is");
  }
  return bytes_.substr(member.offset, member.packed);
}

void ZipArchive::read(const ZipMember& member, char* to) const {
  if (!member.is_compressed) {
    const std::string_view bytes = stored(member);
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    return;
  }
  const std::string packed = as_gzip(member);
  codecs::Caller caller;
  size_t written = 0;
  const int status = codecs::table().inflate({packed.data(), packed.size()}, 1, to, member.bytes,
                                             &written, &caller);
  if (caller.has_failed(status) || written != member.bytes) {
    damaged(message(member.name, " does not decompress to what its checksum says"));
  }
}

/// With the head and the end of a gzip file, whose checksum and size are a member's own.
std::string ZipArchive::as_gzip(const ZipMember& member) const {
  if (std::ranges::count(unreadable_, member.name) != 0) (void)stored(member);
  std::string packed("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  packed += bytes_.substr(member.offset, member.packed);
  const auto size = static_cast<uint32_t>(member.bytes);
  packed.append(reinterpret_cast<const char*>(&member.checksum), 4);
  packed.append(reinterpret_cast<const char*>(&size), 4);
  return packed;
}

std::string ZipArchive::head(const ZipMember& member, uint64_t most) const {
  if (!member.is_compressed) return std::string(stored(member).substr(0, most));
  std::string out(std::min(member.bytes, most), '\0');
  const std::string packed = as_gzip(member);
  codecs::Caller caller;
  size_t written = 0;
  // Ends with an error where there is more than the room takes.
  (void)codecs::table().inflate({packed.data(), packed.size()}, 1, out.data(), out.size(), &written,
                                &caller);
  out.resize(written);
  return out;
}

std::string ZipArchive::text(const ZipMember& member) const {
  std::string out(member.bytes, '\0');
  read(member, out.data());
  return out;
}

}  // namespace tidemark::io
