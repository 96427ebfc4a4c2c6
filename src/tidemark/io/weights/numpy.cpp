// NumPy's files: .npy, one array, and .npz, an archive of such.
#include <algorithm>

#include "tidemark/io/input_file.h"
#include "tidemark/io/mapped_file.h"
#include "tidemark/io/weights/npy.h"
#include "tidemark/io/weights/weights_file.h"
#include "tidemark/io/zip_archive.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::io::weights {

namespace {

Entry entry_of(const NpyArray& array) {
  return {array.dtype == DType::invalid ? array.type : std::string(name_of(array.dtype)),
          array.dtype, array.shape, array.bytes};
}

class NumpyFile final : public WeightsFile {
 public:
  explicit NumpyFile(const std::string& path) : file_(MappedFile::open(path)) {
    const std::string_view bytes = file_->bytes();
    if (!bytes.starts_with("PK")) {
      add("array", bytes.substr(0, kLongestNpyHeader), bytes.size(), nullptr);
      return;
    }
    archive_ = std::make_unique<ZipArchive>(bytes, path);
    for (const ZipMember& member : archive_->members()) {
      std::string_view name = member.name;
      if (!name.ends_with(".npy")) continue;
      name.remove_suffix(4);
      const std::string head = archive_->head(member, kLongestNpyHeader);
      add(std::string(name), head, member.bytes, &member);
    }
  }

  std::string_view format() const override { return "npz"; }
  const Entries& entries() const override { return entries_; }

  Tensor read(std::string_view name) const override {
    (void)entry(name, file_->path());
    const auto& [array, member] = arrays_.find(name)->second;
    if (!member) return npy_tensor(array, file_->bytes().substr(array.data_at), file_);
    if (!member->is_compressed) {
      return npy_tensor(array, archive_->stored(*member).substr(array.data_at), file_);
    }
    // The header comes out of it as well.
    const Tensor whole = new_tensor(DType::uint8, Shape{static_cast<int64_t>(member->bytes)});
    auto* to = static_cast<char*>(whole.mutable_raw_data());
    archive_->read(*member, to);
    return npy_tensor(array, {to + array.data_at, array.bytes},
                      std::make_shared<const Tensor>(whole));
  }

 private:
  void add(const std::string& name, std::string_view head, uint64_t size, const ZipMember* member) {
    NpyArray array = read_npy_header(head, size, message(file_->path(), ": ", name));
    entries_.emplace(name, entry_of(array));
    arrays_.emplace(name, std::make_pair(std::move(array), member));
  }

  std::shared_ptr<const MappedFile> file_;
  std::unique_ptr<ZipArchive> archive_;
  Entries entries_;
  std::map<std::string, std::pair<NpyArray, const ZipMember*>, std::less<>> arrays_;
};

}  // namespace

std::unique_ptr<WeightsFile> open_numpy(const std::string& path) {
  return std::make_unique<NumpyFile>(path);
}

}  // namespace tidemark::io::weights
