#include "tidemark/io/keras/hdf5.h"

#include <cstring>

#include "tidemark/base/wire.h"
#include "tidemark/io/stored_size.h"

namespace tidemark::io::keras {

namespace {

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
/// Bounds on what a damaged file can ask for.
constexpr int kDeepest = 64;
constexpr uint64_t kMostObjects = 100'000, kLargestHeap = uint64_t{1} << 26;

enum Message : uint32_t {
  kDataspace = 1,
  kDatatype = 3,
  kLink = 6,
  kLayout = 8,
  kFilters = 11,
  kAttribute = 12,
  kContinuation = 16,
  kSymbolTable = 17,
};

constexpr uint64_t kTextBytes = 16;  // of a text that lies elsewhere

/// The next number off the front; 0 where the bytes end, which `ok` tells.
struct Fields {
  std::string_view rest;
  bool ok = true;

  template <class T>
  T take() {
    T value{};
    ok = take_fixed(rest, value) && ok;
    return value;
  }
  std::string_view take_bytes(uint64_t count) {
    ok = ok && count <= rest.size();
    if (!ok) return {};
    const std::string_view out = rest.substr(0, count);
    rest.remove_prefix(count);
    return out;
  }
  void skip(uint64_t count) { take_bytes(count); }
};

constexpr uint64_t padded(uint64_t size) { return (size + 7) / 8 * 8; }

/// Invalid: a type that no weight has.
DType dtype_of(std::string_view bytes) {
  Fields fields{bytes};
  const auto kind = fields.take<uint8_t>() & 0x0F;
  const auto bits = fields.take<uint8_t>();
  fields.skip(2);
  const auto size = fields.take<uint32_t>();
  const bool is_little_endian = (bits & 1) == 0, is_signed = (bits & 8) != 0;
  if (!fields.ok) return DType::invalid;
  if (kind == 5 && size == 2) return DType::bfloat16;  // opaque to NumPy, and so to h5py
  if (kind == 8 && size == 1) return DType::bool_;     // an enumeration
  if (!is_little_endian) return DType::invalid;
  if (kind == 1) {
    return size == 2   ? DType::float16
           : size == 4 ? DType::float32
           : size == 8 ? DType::float64
                       : DType::invalid;
  }
  if (kind != 0) return DType::invalid;
  switch (size) {
    case 1:
      return is_signed ? DType::int8 : DType::uint8;
    case 2:
      return is_signed ? DType::int16 : DType::uint16;
    case 4:
      return is_signed ? DType::int32 : DType::uint32;
    case 8:
      return is_signed ? DType::int64 : DType::uint64;
    default:
      return DType::invalid;
  }
}

/// False: malformed.
bool take_dataspace(std::string_view bytes, Shape& shape) {
  Fields fields{bytes};
  const auto version = fields.take<uint8_t>();
  const auto rank = fields.take<uint8_t>();
  fields.skip(version == 1 ? 6 : 2);
  shape = Shape();
  for (int i = 0; i < rank && fields.ok; ++i) {
    const auto size = fields.take<uint64_t>();
    if (size > uint64_t{1} << 48 || i >= Shape::kMaxRank) return false;
    shape.push_back(static_cast<int64_t>(size));
  }
  return fields.ok && (version == 1 || version == 2);
}

}  // namespace

/// What the messages of an object's header say.
struct Hdf5File::Object {
  Array array;
  bool has_type = false, has_layout = false;
  uint64_t tree = 0, heap = 0;
  bool is_group = false;
  std::string name;
  std::vector<std::pair<std::string, std::vector<std::string>>> texts;
  std::vector<std::pair<uint64_t, uint64_t>> more;  // where the header goes on
  std::string_view missing;                         // what of it cannot be read here
};

void Hdf5File::damaged(std::string_view what) const {
  fail_damaged(path(), message("its HDF5 ", what));
}

std::string Hdf5File::bytes_at(uint64_t offset, uint64_t count) const {
  if (offset > size_ || count > size_ - offset) damaged("refers to bytes beyond its end");
  return input_->read(start_ + offset, count);
}

Hdf5File::Hdf5File(std::shared_ptr<const InputFile> input, uint64_t start, uint64_t size)
    : input_(std::move(input)), start_(start), size_(size) {
  read_object(root(), "", 0);
}

uint64_t Hdf5File::root() const {
  const std::string head = bytes_at(0, std::min<uint64_t>(size_, 100));
  if (!head.starts_with(kSignature)) damaged("part does not begin as such a file does");
  const int version = head[8];
  if (version > 1) {
    fail<UnimplementedError>(path(), ": HDF5 of superblock version ", version,
                             " is not read; save it with h5py's default, libver='earliest'");
  }
  Fields fields{std::string_view(head).substr(8)};
  fields.skip(5);
  const auto offset_size = fields.take<uint8_t>(), length_size = fields.take<uint8_t>();
  // Up to the base address, over four more numbers of eight bytes and the root's name.
  fields.skip((version == 0 ? 9 : 13) + 4 * 8 + 8);
  const auto address = fields.take<uint64_t>();
  if (!fields.ok || offset_size != 8 || length_size != 8) damaged("has a malformed superblock");
  return address;
}

void Hdf5File::read_object(uint64_t address, const std::string& path, int depth) {
  if (depth > kDeepest || ++objects_ > kMostObjects) damaged("has too many objects");
  const std::string head = bytes_at(address, 16);
  Fields fields{head};
  if (fields.take<uint8_t>() != 1) {
    fail<UnimplementedError>(this->path(), ": the HDF5 object ", path,
                             " has a header of a newer version; save it with h5py's default");
  }
  fields.skip(7);
  Object object;
  object.more.emplace_back(address + 16, fields.take<uint32_t>());
  for (size_t i = 0; i < object.more.size(); ++i) {  // grows meanwhile
    if (i > 1000) damaged("has an object without end");
    read_messages(object.more[i].first, object.more[i].second, object);
  }
  if (!object.name.empty()) names_.emplace(path, object.name);
  for (auto& [name, texts] : object.texts) texts_.emplace(message(path, "@", name), texts);
  if (object.is_group) {
    const std::string heap_head = bytes_at(object.heap, 32);
    Fields heap{heap_head};
    if (heap.take_bytes(4) != "HEAP") damaged("has a group without names");
    heap.skip(4);
    const auto heap_size = heap.take<uint64_t>();
    heap.skip(8);
    if (heap_size > kLargestHeap) damaged("has a group with too many names");
    const std::string names = bytes_at(heap.take<uint64_t>(), heap_size);
    return read_tree(object.tree, names, path, depth);
  }
  if (!object.missing.empty() || !object.has_type || !object.has_layout) {
    fail<UnimplementedError>(this->path(), ": the HDF5 array ", path, " is ",
                             object.missing.empty() ? "of an unknown form" : object.missing,
                             "; Keras writes plain numbers in one piece");
  }
  const std::optional<uint64_t> elements =
      elements_within(object.array.shape, size_of(object.array.dtype), size_);
  if (!elements) damaged(message("array ", path, " is larger than the file"));
  object.array.bytes = *elements * size_of(object.array.dtype);
  const auto [dtype, shape, offset, bytes] = object.array;
  if (bytes > 0 && (offset > size_ || bytes > size_ - offset)) {
    damaged(message("array ", path, " lies beyond the end"));
  }
  arrays_.emplace(path, object.array);
}

void Hdf5File::read_messages(uint64_t offset, uint64_t size, Object& object) const {
  const std::string bytes = bytes_at(offset, size);
  Fields fields{bytes};
  while (fields.rest.size() >= 8) {
    const auto kind = fields.take<uint16_t>(), count = fields.take<uint16_t>();
    fields.skip(4);
    const std::string_view one = fields.take_bytes(count);
    if (!fields.ok) damaged("has a malformed header");
    read_message(kind, one, object);
  }
}

void Hdf5File::read_message(uint32_t kind, std::string_view bytes, Object& object) const {
  Fields fields{bytes};
  switch (kind) {
    case kContinuation: {
      const auto offset = fields.take<uint64_t>();
      object.more.emplace_back(offset, fields.take<uint64_t>());
      break;
    }
    case kSymbolTable:
      object.is_group = true;
      object.tree = fields.take<uint64_t>();
      object.heap = fields.take<uint64_t>();
      break;
    case kLink:
      object.missing = "in a group of the newer form";
      break;
    case kDataspace:
      fields.ok = take_dataspace(bytes, object.array.shape);
      break;
    case kDatatype:
      object.array.dtype = dtype_of(bytes);
      object.has_type = true;
      if (object.array.dtype == DType::invalid) object.missing = "of a type that weights have not";
      break;
    case kFilters:
      object.missing = "compressed";
      break;
    case kLayout: {
      const auto version = fields.take<uint8_t>(), how = fields.take<uint8_t>();
      object.has_layout = true;
      object.array.offset = fields.take<uint64_t>();
      if (version != 3 || how != 1) object.missing = "in pieces";
      break;
    }
    case kAttribute:
      return read_attribute(bytes, object);
    default:
      break;
  }
  if (!fields.ok) damaged("has a malformed header");
}

const std::vector<std::string>* Hdf5File::texts(std::string_view path,
                                                std::string_view attribute) const {
  const auto found = texts_.find(message(path, "@", attribute));
  return found == texts_.end() ? nullptr : &found->second;
}

/// Only "name" counts, and what Keras 2 keeps so: texts of any length, which lie elsewhere.
void Hdf5File::read_attribute(std::string_view bytes, Object& object) const {
  Fields fields{bytes};
  const auto version = fields.take<uint8_t>();
  fields.skip(1);
  const auto name_size = fields.take<uint16_t>(), type_size = fields.take<uint16_t>(),
             space_size = fields.take<uint16_t>();
  if (version == 3) fields.skip(1);
  const bool pads = version == 1;
  const std::string_view name = fields.take_bytes(pads ? padded(name_size) : name_size);
  const std::string_view type = fields.take_bytes(pads ? padded(type_size) : type_size);
  const std::string_view space = fields.take_bytes(pads ? padded(space_size) : space_size);
  constexpr int kVariableLength = 9;
  if (!fields.ok || type.empty() || (type[0] & 0x0F) != kVariableLength) return;
  const std::string_view word = name.substr(0, name.find('\0'));
  if (word == "name") {
    object.name = take_text(fields.rest);
  } else if (word == "model_config" || word == "layer_names" || word == "weight_names") {
    Shape shape;
    if (!take_dataspace(space, shape) || shape.rank() > 1) return;
    const uint64_t count = shape.rank() == 0 ? 1 : static_cast<uint64_t>(shape[0]);
    if (count > fields.rest.size() / kTextBytes) damaged("has an attribute that is cut short");
    std::vector<std::string>& texts = object.texts.emplace_back(word, 0).second;
    for (uint64_t i = 0; i < count; ++i) {
      texts.push_back(take_text(fields.rest.substr(i * kTextBytes)));
    }
  }
}

std::string Hdf5File::take_text(std::string_view bytes) const {
  Fields fields{bytes};
  const auto length = fields.take<uint32_t>();
  const auto address = fields.take<uint64_t>();
  const auto index = fields.take<uint32_t>();
  return fields.ok && length > 0 ? heap_text(address, index).substr(0, length) : std::string();
}

std::string Hdf5File::heap_text(uint64_t address, uint32_t index) const {
  const std::string head = bytes_at(address, 16);
  uint64_t size = 0;
  std::memcpy(&size, head.data() + 8, sizeof(size));
  if (!head.starts_with("GCOL") || size < head.size() || size > kLargestHeap)
    damaged("has a malformed heap");
  // Looked through from its beginning for each text.
  heap_bytes_ += size;
  if (heap_bytes_ > kLargestHeap + std::min(64 * size_, uint64_t{1} << 30)) {
    damaged("asks for its texts too often");
  }
  if (heap_.first != address || heap_.second.size() != size) {
    heap_ = {address, bytes_at(address, size)};
  }
  Fields fields{std::string_view(heap_.second).substr(16)};
  while (fields.rest.size() >= 16) {
    const auto number = fields.take<uint16_t>();
    fields.skip(6);
    const auto count = fields.take<uint64_t>();
    if (number == 0) break;
    if (count > fields.rest.size()) damaged("has a malformed heap");
    if (number == index) return std::string(fields.rest.substr(0, count));
    fields.skip(std::min<uint64_t>(padded(count), fields.rest.size()));
  }
  damaged("has a text that is missing");
}

void Hdf5File::read_tree(uint64_t address, std::string_view names, const std::string& path,
                         int depth) {
  if (depth > kDeepest || ++objects_ > kMostObjects) damaged("has too many objects");
  const std::string head = bytes_at(address, 24);
  Fields fields{head};
  if (fields.take_bytes(4) != "TREE" || fields.take<uint8_t>() != 0) {
    damaged("has a malformed group");
  }
  const auto level = fields.take<uint8_t>();
  const auto count = fields.take<uint16_t>();
  const std::string entries = bytes_at(address + 24, uint64_t{16} * count);
  Fields each{entries};
  for (int i = 0; i < count; ++i) {
    each.skip(8);
    const auto child = each.take<uint64_t>();
    if (level > 0) {
      read_tree(child, names, path, depth + 1);
    } else {
      read_symbols(child, names, path, depth);
    }
  }
}

void Hdf5File::read_symbols(uint64_t address, std::string_view names, const std::string& path,
                            int depth) {
  const std::string head = bytes_at(address, 8);
  uint16_t count = 0;
  std::memcpy(&count, head.data() + 6, sizeof(count));
  if (!head.starts_with("SNOD")) damaged("has a malformed group");
  constexpr uint64_t kEntry = 40;
  const std::string entries = bytes_at(address + 8, kEntry * count);
  for (uint64_t i = 0; i < count; ++i) {
    Fields fields{std::string_view(entries).substr(i * kEntry, kEntry)};
    const auto name_at = fields.take<uint64_t>();
    const auto object = fields.take<uint64_t>();
    if (name_at >= names.size()) damaged("has a name beyond its end");
    const std::string_view rest = names.substr(name_at);
    const std::string name(rest.substr(0, rest.find('\0')));
    read_object(object, path.empty() ? name : path + "/" + name, depth + 1);
  }
}

Tensor Hdf5File::read(std::string_view path) const {
  const auto found = arrays_.find(path);
  if (found == arrays_.end()) fail<NotFoundError>(this->path(), " has no array ", path);
  const Array& array = found->second;
  Tensor out = Tensor::uninitialized(array.dtype, array.shape);
  if (array.bytes > 0) {
    input_->read(start_ + array.offset, static_cast<char*>(out.mutable_raw_data()), array.bytes);
  }
  return out;
}

}  // namespace tidemark::io::keras
