#include "tidemark/io/keras/archive.h"

#include <algorithm>
#include <cstring>

namespace tidemark::io::keras {

namespace {

template <class T>
T number_at(std::string_view bytes, size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

/// The record at the archive's end, behind which a comment may stand.
std::string end_record(const InputFile& file) {
  constexpr uint64_t kRecord = 22, kLongestComment = 65535;
  const uint64_t count = std::min(file.size(), kRecord + kLongestComment);
  const std::string tail = file.read(file.size() - count, count);
  const size_t at = tail.rfind("PK\5\6");
  if (at == std::string::npos || tail.size() - at < kRecord) {
    fail_damaged(file.path(), "it is no archive, or is cut short");
  }
  return tail.substr(at, kRecord);
}

}  // namespace

std::optional<Member> find_member(const InputFile& file, std::string_view name) {
  const std::string end = end_record(file);
  const auto size = number_at<uint32_t>(end, 12), offset = number_at<uint32_t>(end, 16);
  if (offset == UINT32_MAX) {
    fail<UnimplementedError>(file.path(), ": archives beyond 4 GiB are not read; save the weights ",
                             "alone, with model.save_weights(\"model.weights.h5\")");
  }
  const std::string directory = file.read(offset, size);
  std::string_view rest = directory;
  constexpr size_t kEntry = 46, kLocal = 30;
  while (rest.size() >= kEntry && rest.starts_with("PK\1\2")) {
    const size_t name_size = number_at<uint16_t>(rest, 28);
    const size_t entry =
        kEntry + name_size + number_at<uint16_t>(rest, 30) + number_at<uint16_t>(rest, 32);
    if (entry > rest.size()) break;
    if (rest.substr(kEntry, name_size) != name) {
      rest.remove_prefix(entry);
      continue;
    }
    if (number_at<uint16_t>(rest, 10) != 0) {
      fail<UnimplementedError>(file.path(), ": ", name, " is compressed, as Keras does not do it; ",
                               "save the model again");
    }
    const auto bytes = number_at<uint32_t>(rest, 24), at = number_at<uint32_t>(rest, 42);
    const std::string local = file.read(at, kLocal);
    const uint64_t start =
        uint64_t{at} + kLocal + number_at<uint16_t>(local, 26) + number_at<uint16_t>(local, 28);
    if (!local.starts_with("PK\3\4") || !file.has(start, bytes)) break;
    return Member{start, bytes};
  }
  if (!rest.empty()) fail_damaged(file.path(), "its list of members is malformed");
  return std::nullopt;
}

}  // namespace tidemark::io::keras
