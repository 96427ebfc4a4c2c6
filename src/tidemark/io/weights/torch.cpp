// PyTorch's .pt and .pth files: a ZIP archive with a pickle that says how tensors lie in storages,
// or, from before PyTorch 1.6, pickles with the storages behind them.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <set>

#include "tidemark/io/input_file.h"
#include "tidemark/io/mapped_file.h"
#include "tidemark/io/stored_size.h"
#include "tidemark/io/weights/npy.h"
#include "tidemark/io/weights/pickle.h"
#include "tidemark/io/weights/weights_file.h"
#include "tidemark/io/zip_archive.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::io::weights {

namespace {

using Kind = PickledValue::Kind;

constexpr int kDeepest = 32;            // dictionaries in each other
constexpr size_t kMostNames = 1 << 20;  // of values, also where one stands under several names

struct Named {
  std::string_view name;
  DType dtype;
};
constexpr std::array kStorages = {
    Named{"FloatStorage", DType::float32},
    Named{"DoubleStorage", DType::float64},
    Named{"HalfStorage", DType::float16},
    Named{"BFloat16Storage", DType::bfloat16},
    Named{"LongStorage", DType::int64},
    Named{"IntStorage", DType::int32},
    Named{"ShortStorage", DType::int16},
    Named{"CharStorage", DType::int8},
    Named{"ByteStorage", DType::uint8},
    Named{"BoolStorage", DType::bool_},
    Named{"ComplexFloatStorage", DType::complex64},
    Named{"ComplexDoubleStorage", DType::complex128},
};

/// How a tensor lies in its storage.
struct Layout {
  std::string storage;
  uint64_t offset = 0;  // in elements
  Ints strides;
};

class TorchFile final : public WeightsFile {
 public:
  explicit TorchFile(const std::string& path) : file_(MappedFile::open(path)) {
    const std::string_view bytes = file_->bytes();
    if (bytes.starts_with("PK")) {
      read_archive();
    } else {
      read_old();
    }
  }

  std::string_view format() const override { return "torch"; }
  const Entries& entries() const override { return entries_; }

  Tensor read(std::string_view name) const override {
    const Entry& wanted = entry(name, file_->path());
    const Layout& layout = layouts_.find(name)->second;
    const std::string_view all = storages_.find(layout.storage)->second;
    const uint64_t width = size_of(wanted.dtype);
    if (is_dense(wanted.shape, layout.strides)) {
      return tensor_over(wanted.dtype, wanted.shape,
                         all.substr(layout.offset * width, wanted.bytes), file_);
    }
    // Element by element: parts of others, or turned round.
    std::string dense(wanted.bytes, '\0');
    Ints at(static_cast<size_t>(wanted.shape.rank()), 0);
    for (uint64_t to = 0; to < wanted.bytes; to += width) {
      uint64_t from = layout.offset;
      for (size_t i = 0; i < at.size(); ++i) {
        from += static_cast<uint64_t>(at[i] * layout.strides[i]);
      }
      std::memcpy(dense.data() + to, all.data() + from * width, width);
      for (size_t i = at.size(); i-- > 0;) {
        if (++at[i] < wanted.shape[static_cast<int>(i)]) break;
        at[i] = 0;
      }
    }
    return tensor_over(wanted.dtype, wanted.shape, dense, nullptr);
  }

 private:
  [[noreturn]] void damaged(std::string_view what) const { fail_damaged(file_->path(), what); }

  static bool is_dense(const Shape& shape, const Ints& strides) {
    int64_t expected = 1;
    for (int i = shape.rank(); i-- > 0;) {
      if (shape[i] == 0) return true;
      if (shape[i] != 1 && strides[static_cast<size_t>(i)] != expected) return false;
      expected *= shape[i];
    }
    return true;
  }

  void read_archive() {
    const ZipArchive archive(file_->bytes(), file_->path());
    const ZipMember* pickled = nullptr;
    for (const ZipMember& member : archive.members()) {
      if (member.name.ends_with("/data.pkl") || member.name == "data.pkl") pickled = &member;
    }
    if (!pickled) fail(file_->path(), " is an archive without data.pkl: no weights of PyTorch's");
    const std::string_view folder =
        pickled->name.substr(0, pickled->name.size() - std::string_view("data.pkl").size());
    const ZipMember* order = archive.find(message(folder, "byteorder"));
    if (order && archive.stored(*order) != "little") {
      fail<UnimplementedError>(file_->path(), ": numbers in the other byte order are not read");
    }
    const std::string data = message(folder, "data/");
    for (const ZipMember& member : archive.members()) {
      if (!member.name.starts_with(data)) continue;
      storages_.emplace(member.name.substr(data.size()), archive.stored(member));
    }
    const Pickle pickle(archive.stored(*pickled), file_->path());
    collect(pickle, pickle.root(), "", 0);
  }

  /// A magic number, a version and numbers of the system; the object; the storages' keys; then of
  /// each storage the number of elements and the elements.
  void read_old() {
    std::string_view rest = file_->bytes();
    const auto next = [&] {
      const Pickle pickle(rest, file_->path());
      rest.remove_prefix(pickle.size());
      return pickle;
    };
    if (rest.empty() || rest[0] != '\x80') {
      fail(file_->path(), " begins as no file of PyTorch's does");
    }
    for (int i = 0; i < 3; ++i) (void)next();
    const Pickle pickle = next();
    const Pickle keys = next();
    std::map<std::string_view, uint64_t> widths;
    for (ValueRef at = 0; at < pickle.count(); ++at) {
      const PickledValue& value = pickle.value(at);
      if (value.kind != Kind::storage) continue;
      const DType dtype = dtype_of(pickle.value(value.items[0]).text);
      if (dtype != DType::invalid) widths[value.text] = size_of(dtype);
    }
    for (const ValueRef key : keys.value(keys.root()).items) {
      const auto width = widths.find(keys.value(key).text);
      uint64_t count = 0;
      if (rest.size() < 8) damaged("it is cut short");
      std::memcpy(&count, rest.data(), 8);
      rest.remove_prefix(8);
      if (width == widths.end()) damaged("it has a storage that no tensor names");
      if (count > rest.size() / width->second) damaged("it is cut short");
      storages_.emplace(std::string(width->first), rest.substr(0, count * width->second));
      rest.remove_prefix(count * width->second);
    }
    collect(pickle, pickle.root(), "", 0);
  }

  static DType dtype_of(std::string_view storage) {
    const auto* found = std::ranges::find(kStorages, storage, &Named::name);
    return found == kStorages.end() ? DType::invalid : found->dtype;
  }

  /// Tensors by the keys that lead to them.
  void collect(const Pickle& pickle, ValueRef at, const std::string& name, int depth) {
    const PickledValue& value = pickle.value(at);
    if (++names_ > kMostNames || depth > kDeepest)
      damaged("its values refer to each other too often");
    if (value.kind == Kind::tensor) return add(pickle, value, name);
    if (value.kind != Kind::dict && value.kind != Kind::list) return;
    const bool is_dict = value.kind == Kind::dict;
    for (size_t i = 0; i < value.items.size(); i += is_dict ? 2 : 1) {
      std::string key = std::to_string(i);
      if (is_dict) {
        const PickledValue& given = pickle.value(value.items[i]);
        key = given.kind == Kind::text ? std::string(given.text) : std::to_string(given.number);
      }
      const ValueRef item = value.items[i + (is_dict ? 1 : 0)];
      collect(pickle, item, name.empty() ? key : message(name, ".", key), depth + 1);
    }
  }

  static Ints integers_of(const Pickle& pickle, ValueRef at) {
    Ints out;
    for (const ValueRef item : pickle.value(at).items) out.push_back(pickle.value(item).number);
    return out;
  }

  void add(const Pickle& pickle, const PickledValue& tensor, const std::string& name) {
    const PickledValue& storage = pickle.value(tensor.items[0]);
    if (storage.kind != Kind::storage) damaged(message("the tensor ", name, " has no storage"));
    const Ints sizes = integers_of(pickle, tensor.items[2]);
    Layout layout{std::string(storage.text), 0, integers_of(pickle, tensor.items[3])};
    const int64_t offset = pickle.value(tensor.items[1]).number;
    Entry made;
    made.type = pickle.value(storage.items[0]).text;
    made.dtype = dtype_of(made.type);
    if (sizes.size() != layout.strides.size() || sizes.size() > Shape::kMaxRank || offset < 0) {
      damaged(message("the tensor ", name, " has sizes and strides that do not fit"));
    }
    const auto found = storages_.find(layout.storage);
    if (found == storages_.end())
      damaged(message("the storage of the tensor ", name, " is missing"));
    if (made.dtype != DType::invalid) {
      const uint64_t width = size_of(made.dtype), room = found->second.size() / width;
      layout.offset = static_cast<uint64_t>(offset);
      uint64_t last = layout.offset;
      bool is_empty = false;
      for (size_t i = 0; i < sizes.size(); ++i) {
        const int64_t size = sizes[i], stride = layout.strides[i];
        if (size < 0 || stride < 0) damaged(message("the tensor ", name, " has negative sizes"));
        made.shape.push_back(size);
        is_empty |= size == 0;
        uint64_t step = 0;
        if (__builtin_mul_overflow(static_cast<uint64_t>(std::max<int64_t>(size - 1, 0)),
                                   static_cast<uint64_t>(stride), &step) ||
            __builtin_add_overflow(last, step, &last)) {
          damaged(message("the tensor ", name, " lies outside of its storage"));
        }
      }
      const std::optional<uint64_t> elements =
          elements_within(made.shape, width, file_->bytes().size());
      if (!elements || layout.offset > room || (!is_empty && last >= room)) {
        damaged(message("the tensor ", name, " lies outside of its storage"));
      }
      made.bytes = *elements * width;
    }
    layouts_.emplace(name, std::move(layout));
    entries_.emplace(name, std::move(made));
  }

  std::shared_ptr<const MappedFile> file_;
  std::map<std::string, std::string_view, std::less<>> storages_;
  std::map<std::string, Layout, std::less<>> layouts_;
  Entries entries_;
  size_t names_ = 0;
};

}  // namespace

std::unique_ptr<WeightsFile> open_torch(const std::string& path) {
  return std::make_unique<TorchFile>(path);
}

}  // namespace tidemark::io::weights
