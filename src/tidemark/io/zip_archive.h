// The members of a ZIP archive whose writer is not trusted.
//
//   const ZipArchive archive(file->bytes(), file->path());
//   const ZipMember* weights = archive.find("model.weights.h5");
//   std::string_view bytes = archive.stored(*weights);      // where they lie
#pragma once

#include <tidemark/export.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::io {

struct ZipMember {
  std::string_view name;
  uint64_t offset = 0;  // of its bytes, packed or not
  uint64_t packed = 0, bytes = 0;
  uint32_t checksum = 0;
  bool is_compressed = false;
};

/// Views of the bytes, which must outlive it. Archives beyond 4 GiB (ZIP64) are read; encrypted
/// members and compressions other than deflate throw UnimplementedError when they are asked for.
class TIDEMARK_API ZipArchive {
 public:
  /// Throws DataLossError for what is no archive, or says what cannot be.
  ZipArchive(std::string_view bytes, std::string path);

  const std::vector<ZipMember>& members() const { return members_; }
  /// Null: there is none of this name.
  const ZipMember* find(std::string_view name) const;
  /// The bytes of a member that is not compressed.
  std::string_view stored(const ZipMember& member) const;
  /// The member's bytes, decompressed where they are compressed, into room for `member.bytes`.
  void read(const ZipMember& member, char* to) const;
  std::string text(const ZipMember& member) const;
  /// The first `most` bytes of it, or all; what follows is not looked at.
  std::string head(const ZipMember& member, uint64_t most) const;

 private:
  void read_directory(uint64_t offset, uint64_t size, uint64_t count);
  std::string as_gzip(const ZipMember& member) const;
  std::string_view part(uint64_t offset, uint64_t size) const;
  [[noreturn]] void damaged(std::string_view what) const;

  std::string_view bytes_;
  std::string path_;
  std::vector<ZipMember> members_;
  std::vector<std::string> unreadable_;  // names of members whose compression is not read
};

}  // namespace tidemark::io
