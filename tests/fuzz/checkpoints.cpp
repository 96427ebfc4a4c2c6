// Reads checkpoints in TensorFlow's format that were damaged, or made by somebody who knows the
// checksums. Allowed ends: tensors whose every byte can be read, or one of the typed errors.
#include <tidemark/create.h>
#include <tidemark/memory.h>

#include <cstring>
#include <map>

#include "damaged_files.h"
#include "tidemark/base/text/crc32c.h"
#include "tidemark/io/bundle_format.h"
#include "tidemark/io/bundle_reader.h"
#include "tidemark/io/bundle_writer.h"
#include "tidemark/io/bytes_sink.h"
#include "tidemark/io/object_graph.h"
#include "tidemark/io/sorted_table.h"

namespace {

using namespace tidemark;
using fuzz::Random;

std::string part(int64_t start, int64_t length) {
  io::BytesSink extent, slice;
  put_varint_field(extent, io::bundle::kStart, static_cast<uint64_t>(start));
  put_varint_field(extent, io::bundle::kLength, static_cast<uint64_t>(length));
  put_bytes_field(slice, io::bundle::kExtent, extent.bytes);
  return slice.bytes;
}

std::string some_objects() {
  io::ObjectNode root, variable;
  root.children = {{"v", 1}};
  root.slots = {{1, 1, "m"}};
  variable.attributes = {{"VARIABLE_VALUE", "v", "v/.ATTRIBUTES/VARIABLE_VALUE"}};
  return io::write_object_graph({root, variable});
}

void read_changed_objects(std::string objects, Random& random) {
  fuzz::damage_often(objects, random);
  fuzz::ends_well([&] {
    (void)io::read_object_graph(objects);
    return true;
  });
}

/// The entries of a checkpoint with numbers, texts, objects and a tensor in two parts.
std::map<std::string, std::string> save(const std::string& prefix, const std::string& objects) {
  const std::string_view texts[] = {"", "one", "déjà"};
  const std::string_view objects_text = objects;
  const io::Extent top[] = {{0, 2}}, bottom[] = {{2, 1}};
  io::BundleWriter writer(prefix);
  writer.add("v/.ATTRIBUTES/VARIABLE_VALUE", Tensor::of({1.f, 2.f, 3.f, 4.f}, {2, 2}));
  writer.add("flags", Tensor::of({true, false}));
  writer.add("texts", Tensor::of_strings(texts, {3}));
  writer.add(std::string(io::kObjectGraphKey), Tensor::of_strings({&objects_text, 1}, {}));
  writer.add(io::slice_key("parted", top), Tensor::of({1.f, 2.f}));
  writer.add(io::slice_key("parted", bottom), Tensor::of({3.f}));
  writer.finish();
  std::map<std::string, std::string> entries;
  io::read_sorted_table(io::InputFile(prefix + ".index"),
                        [&](auto key, auto value) { entries.emplace(key, value); });
  io::BytesSink dim, shape, whole;
  put_varint_field(dim, io::bundle::kDimSize, 3);
  put_bytes_field(shape, io::bundle::kDim, dim.bytes);
  put_varint_field(whole, io::bundle::kDType, static_cast<uint64_t>(DType::float32));
  put_bytes_field(whole, io::bundle::kShape, shape.bytes);
  put_bytes_field(whole, io::bundle::kSlice, part(0, 2));
  put_bytes_field(whole, io::bundle::kSlice, part(2, 1));
  entries.emplace("parted", whole.bytes);
  return entries;
}

void write_index(const std::string& prefix, const std::map<std::string, std::string>& entries) {
  io::FileWriter file(prefix + ".index");
  io::SortedTableWriter table(file);
  for (const auto& [key, value] : entries) table.add(key, value);
  table.finish();
  file.commit();
}

/// Bytes of the first block with its checksum made right again.
void change_block(std::string& index, size_t block_bytes, Random& random) {
  std::string block = index.substr(0, block_bytes);
  const size_t at = random() % block.size();
  block[at] = static_cast<char>(random() % 3 ? random() : 0xff);
  const uint32_t sum = text::masked_crc32c(text::crc32c(block));
  std::memcpy(index.data(), block.data(), block.size());
  std::memcpy(index.data() + block_bytes, &sum, sizeof(sum));
}

bool read_entry(const io::BundleReader& reader, const std::string& key) {
  reader.verify(key);
  const Tensor value = reader.read(key);
  if (value.to_string().empty() && value.num_elements() > 0) fuzz::found("an empty tensor");
  if (key == io::kObjectGraphKey && value.dtype() == DType::string && value.num_elements() == 1) {
    (void)io::read_object_graph(value.string_at(0));
  }
  return true;
}

bool read_everything(const std::string& prefix) {
  return fuzz::ends_well([&] {
    const io::BundleReader reader(prefix);
    bool all = true;
    for (const auto& [key, entry] : reader.entries()) {
      if (!fuzz::ends_well([&] { return read_entry(reader, key); })) all = false;
    }
    return all;
  });
}

/// Behind the first block lie a compression byte that is zero and the checksum of both.
size_t first_block_of(const std::string& index) {
  for (size_t i = 1; i + 4 < index.size(); ++i) {
    uint32_t stored = 0;
    std::memcpy(&stored, index.data() + i, sizeof(stored));
    if (text::masked_crc32c(text::crc32c({index.data(), i})) == stored) return i;
  }
  fuzz::found("no block in the index");
}

class Checkpoints final : public fuzz::Fuzzer {
 public:
  Checkpoints() {
    index_ = index_of(entries_);
    data_ = fuzz::read_bytes(io::bundle::shard_path(written_, 0, 1));
    fuzz::put_bytes(prefix_ + ".index", index_);
    fuzz::put_bytes(data_path_, data_);
    block_bytes_ = first_block_of(index_);
    memory::set_limit(int64_t{256} << 20);
    if (!read_everything(prefix_)) fuzz::found("the checkpoint that is not damaged is not read");
  }

  bool execute(Random& random) override {
    put_index(random);
    std::string damaged = data_;
    if (random() % 3 == 0) fuzz::damage(damaged, random);
    fuzz::put_bytes(data_path_, damaged);
    read_changed_objects(objects_, random);
    return read_everything(prefix_);
  }

 private:
  void put_index(Random& random) const {
    std::string bytes = index_;
    switch (random() % 4) {
      case 0: {
        auto changed = entries_;
        for (auto n = 1 + random() % 3; n > 0; --n) {
          auto at = std::next(changed.begin(), static_cast<long>(random() % changed.size()));
          fuzz::damage(at->second, random);
        }
        bytes = index_of(changed);
        break;
      }
      case 1:
        for (auto n = 1 + random() % 3; n > 0; --n) change_block(bytes, block_bytes_, random);
        break;
      case 2:
        fuzz::damage(bytes, random);
        break;
      default:
        break;
    }
    fuzz::put_bytes(prefix_ + ".index", bytes);
  }

  std::string index_of(const std::map<std::string, std::string>& entries) const {
    write_index(written_, entries);
    return fuzz::read_bytes(written_ + ".index");
  }

  const fuzz::ScratchFolder scratch_{"fuzz_checkpoints"};
  const fuzz::MemoryFolder folder_{"fuzz_checkpoints"};
  const std::string written_ = scratch_.file("model"), prefix_ = folder_.file("model"),
                    objects_ = some_objects(), data_path_ = io::bundle::shard_path(prefix_, 0, 1);
  const std::map<std::string, std::string> entries_ = save(written_, objects_);
  std::string index_, data_;
  size_t block_bytes_ = 0;
};

const fuzz::AddFuzzer added("checkpoints", fuzz::make<Checkpoints>);

}  // namespace
