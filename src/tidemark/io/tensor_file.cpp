#include "tidemark/io/tensor_file.h"

#include <cstring>
#include <optional>

#include "tidemark/base/text/crc32c.h"
#include "tidemark/io/bytes_sink.h"
#include "tidemark/io/file_writer.h"
#include "tidemark/io/stored_size.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::io {

namespace {

constexpr std::string_view kMagic = "TIDEMARK";
constexpr uint32_t kVersion = 1;
constexpr uint64_t kAlign = 64;

/// What the file begins with; the index follows, then the tensors from the next multiple of kAlign.
struct Head {
  char magic[8];
  uint32_t version;
  uint32_t index_checksum;
  uint64_t index_bytes;
  uint64_t file_bytes;
};
static_assert(sizeof(Head) == 32);

enum IndexField : uint32_t { kKind = 1, kMetadata = 2, kEntry = 3 };
enum EntryField : uint32_t { kName = 1, kDType = 2, kShape = 3, kOffset = 4, kBytes = 5, kSum = 6 };

uint64_t aligned(uint64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

/// The bytes of a tensor in the file. Strings: their lengths, then their characters.
class Payload {
 public:
  explicit Payload(const Tensor& anywhere) : here_(anywhere.to(Device())) {
    const Tensor& t = here_;
    if (t.dtype() != DType::string) {
      bytes_ = {static_cast<const char*>(t.raw_data()), t.nbytes()};
      return;
    }
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      const uint64_t length = t.string_at(i).size();
      made_.append(reinterpret_cast<const char*>(&length), sizeof(length));
    }
    for (int64_t i = 0; i < t.num_elements(); ++i) made_.append(t.string_at(i));
    bytes_ = made_;
  }
  Payload(const Payload&) = delete;
  std::string_view bytes() const { return bytes_; }

 private:
  Tensor here_;
  std::string made_;
  std::string_view bytes_;
};

std::string index_of(std::string_view kind, std::string_view metadata,
                     std::span<const NamedTensor> all, uint64_t& data_bytes) {
  BytesSink index;
  put_bytes_field(index, kKind, kind);
  put_bytes_field(index, kMetadata, metadata);
  data_bytes = 0;
  for (const NamedTensor& one : all) {
    if (one.value.is_symbolic()) {
      fail("'", one.name,
           "' cannot be written: it has no value, only a place in a graph; run the "
           "graph and write what that gives");
    }
    const Payload payload(one.value);
    BytesSink entry;
    put_bytes_field(entry, kName, one.name);
    put_varint_field(entry, kDType, static_cast<uint64_t>(one.value.dtype()));
    put_shape(entry, kShape, one.value.shape());
    put_varint_field(entry, kOffset, data_bytes);
    put_varint_field(entry, kBytes, payload.bytes().size());
    put_varint_field(entry, kSum, text::crc32c(payload.bytes()));
    put_bytes_field(index, kEntry, entry.bytes);
    data_bytes += aligned(payload.bytes().size());
  }
  return std::move(index.bytes);
}

bool is_known_dtype(uint64_t number) {
  return number > 0 && number < kDTypeSlots && kAny.contains(static_cast<DType>(number));
}

}  // namespace

void write_tensor_file(const std::string& path, std::string_view kind, std::string_view metadata,
                       std::span<const NamedTensor> all) {
  uint64_t data_bytes = 0;
  const std::string index = index_of(kind, metadata, all, data_bytes);
  const uint64_t first = aligned(sizeof(Head) + index.size());
  Head head{};
  std::memcpy(head.magic, kMagic.data(), sizeof(head.magic));
  head.version = kVersion;
  head.index_checksum = text::crc32c(index);
  head.index_bytes = index.size();
  head.file_bytes = first + data_bytes;
  const std::string zeros(kAlign, '\0');
  FileWriter file(path);
  file.write({reinterpret_cast<const char*>(&head), sizeof(head)});
  file.write(index);
  file.write(std::string_view(zeros).substr(0, first - sizeof(Head) - index.size()));
  for (const NamedTensor& one : all) {
    const Payload payload(one.value);
    const size_t bytes = payload.bytes().size();
    file.write(payload.bytes());
    file.write(std::string_view(zeros).substr(0, aligned(bytes) - bytes));
  }
  file.commit();
}

TensorFile::TensorFile(std::string path) : file_(std::move(path)) { read_index(); }

void TensorFile::damaged(std::string_view what) const { fail_damaged(path(), what); }

void TensorFile::read_index() {
  const uint64_t size = file_.size();
  Head head{};
  file_.read(0, reinterpret_cast<char*>(&head), sizeof(head));
  if (std::string_view(head.magic, sizeof(head.magic)) != kMagic) {
    damaged("it does not begin as a file of Tidemark does");
  }
  if (head.version != kVersion) {
    fail<UnimplementedError>(path(), " has version ", head.version, " of the format; this Tidemark",
                             " reads version ", kVersion);
  }
  if (head.file_bytes != size) damaged("it is cut short, or something was added to it");
  if (head.index_bytes > size - sizeof(Head)) damaged("its index is cut short");
  const std::string index = file_.read(sizeof(Head), head.index_bytes);
  if (text::crc32c(index) != head.index_checksum) damaged("the checksum of its index is wrong");
  first_byte_ = aligned(sizeof(Head) + head.index_bytes);
  if (first_byte_ > size) damaged("its index is cut short");
  WireReader reader(index);
  for (WireField field; reader.next(field);) {
    if (field.number == kKind && field.is_bytes()) kind_ = field.bytes;
    if (field.number == kMetadata && field.is_bytes()) metadata_ = field.bytes;
    if (field.number == kEntry && field.is_bytes()) add_entry(field.bytes);
  }
  if (!reader.ok()) damaged("its index is malformed");
}

void TensorFile::add_entry(std::string_view bytes) {
  std::string name;
  Entry entry;
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    if (field.number == kName && field.is_bytes()) name = field.bytes;
    if (field.number == kShape && (!field.is_bytes() || !take_shape(field.bytes, entry.shape))) {
      damaged("a shape is malformed");
    }
    if (!field.is_varint()) continue;
    if (field.number == kDType) {
      if (!is_known_dtype(field.value)) damaged("it names a dtype that does not exist");
      entry.dtype = static_cast<DType>(field.value);
    }
    if (field.number == kOffset) entry.offset = field.value;
    if (field.number == kBytes) entry.bytes = field.value;
    if (field.number == kSum) entry.checksum = static_cast<uint32_t>(field.value);
  }
  if (!reader.ok() || entry.dtype == DType::invalid) damaged("an entry is malformed");
  if (!entry.shape.is_fully_known()) damaged("a shape has unknown sizes");
  const uint64_t room = file_.size() - first_byte_;
  if (entry.offset > room || entry.bytes > room - entry.offset) damaged("a tensor is cut short");
  const uint64_t each = entry.dtype == DType::string ? sizeof(uint64_t) : size_of(entry.dtype);
  const std::optional<uint64_t> elements = elements_within(entry.shape, each, room);
  if (!elements) damaged("a shape is too large");
  const uint64_t wanted = *elements * each;
  if (entry.dtype == DType::string ? entry.bytes < wanted : entry.bytes != wanted) {
    damaged("a shape does not fit its bytes");
  }
  if (!entries_.emplace(std::move(name), std::move(entry)).second) damaged("a name stands twice");
}

Tensor TensorFile::read_strings(const Entry& entry) const {
  const std::string bytes = file_.read(first_byte_ + entry.offset, entry.bytes);
  if (text::crc32c(bytes) != entry.checksum) damaged("the checksum of a tensor is wrong");
  const auto count = static_cast<size_t>(entry.shape.num_elements());
  std::string_view lengths = bytes;
  std::string_view characters = lengths.substr(count * sizeof(uint64_t));
  std::vector<std::string_view> texts(count);
  for (std::string_view& text : texts) {
    uint64_t length = 0;
    if (!take_fixed(lengths, length) || length > characters.size()) damaged("a text is cut short");
    text = characters.substr(0, length);
    characters.remove_prefix(length);
  }
  return Tensor::of_strings(texts, entry.shape);
}

const TensorFile::Entry& TensorFile::entry_of(std::string_view name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) fail<NotFoundError>("there is no '", name, "' in ", path());
  return found->second;
}

Tensor TensorFile::reserve(std::string_view name) const {
  const Entry& entry = entry_of(name);
  return entry.dtype == DType::string ? read_strings(entry) : new_tensor(entry.dtype, entry.shape);
}

void TensorFile::fill(std::string_view name, const Tensor& reserved) const {
  const Entry& entry = entry_of(name);
  if (entry.dtype == DType::string) return;
  if (!reserved.device().is_cpu()) return copy_elements(read(name), reserved);
  auto* to = static_cast<char*>(reserved.mutable_raw_data());
  file_.read(first_byte_ + entry.offset, to, entry.bytes);
  if (text::crc32c({to, entry.bytes}) != entry.checksum) {
    damaged(message("the checksum of '", name, "' is wrong"));
  }
  // Any other byte is no bool to C++.
  for (uint64_t i = 0; entry.dtype == DType::bool_ && i < entry.bytes; ++i) to[i] = to[i] != 0;
}

Tensor TensorFile::read(std::string_view name) const {
  Tensor out = reserve(name);
  fill(name, out);
  return out;
}

}  // namespace tidemark::io
