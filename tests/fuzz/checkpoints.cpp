// Reads checkpoints in TensorFlow's format that were damaged, or made by somebody who knows the
// checksums. Allowed ends: tensors whose every byte can be read, or one of the typed errors.
//
//   fuzz_checkpoints [files] [seed]
#include <tidemark/create.h>
#include <tidemark/memory.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

#include "tidemark/base/text/crc32c.h"
#include "tidemark/io/bundle_format.h"
#include "tidemark/io/bundle_reader.h"
#include "tidemark/io/bundle_writer.h"
#include "tidemark/io/bytes_sink.h"
#include "tidemark/io/object_graph.h"
#include "tidemark/io/sorted_table.h"

namespace {

using namespace tidemark;
using Random = std::mt19937_64;

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
}

std::string part(int64_t start, int64_t length) {
  io::BytesSink extent, slice;
  put_varint_field(extent, io::bundle::kStart, static_cast<uint64_t>(start));
  put_varint_field(extent, io::bundle::kLength, static_cast<uint64_t>(length));
  put_bytes_field(slice, io::bundle::kExtent, extent.bytes);
  return slice.bytes;
}

void change(std::string& bytes, Random& random) {
  const size_t at = bytes.empty() ? 0 : random() % bytes.size();
  switch (random() % 5) {
    case 0:
      if (!bytes.empty()) bytes[at] ^= static_cast<char>(1 << random() % 8);
      break;
    case 1:
      if (!bytes.empty()) bytes[at] = static_cast<char>(random());
      break;
    case 2:
      if (!bytes.empty()) bytes[at] = static_cast<char>(random() % 2 ? 0x7f : 0xff);
      break;
    case 3:
      bytes.erase(at, 1 + random() % 4);
      break;
    default:
      bytes.insert(at, std::string(1 + random() % 9, static_cast<char>(random())));
  }
}

std::string some_objects() {
  io::ObjectNode root, variable;
  root.children = {{"v", 1}};
  root.slots = {{1, 1, "m"}};
  variable.attributes = {{"VARIABLE_VALUE", "v", "v/.ATTRIBUTES/VARIABLE_VALUE"}};
  return io::write_object_graph({root, variable});
}

void read_changed_objects(std::string objects, Random& random) {
  for (auto n = 1 + random() % 4; n > 0; --n) change(objects, random);
  try {
    (void)io::read_object_graph(objects);
  } catch (const Error& error) {
    if (*error.what() == '\0') std::abort();
  }
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

bool read_everything(const std::string& prefix) {
  try {
    const io::BundleReader reader(prefix);
    bool all = true;
    for (const auto& [key, entry] : reader.entries()) {
      try {
        reader.verify(key);
        const Tensor value = reader.read(key);
        if (value.to_string().empty() && value.num_elements() > 0) std::abort();
        if (key == io::kObjectGraphKey && value.dtype() == DType::string &&
            value.num_elements() == 1) {
          (void)io::read_object_graph(value.string_at(0));
        }
      } catch (const Error& error) {
        if (*error.what() == '\0') std::abort();
        all = false;
      }
    }
    return all;
  } catch (const Error& error) {
    if (*error.what() == '\0') std::abort();
    return false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t files = argc > 1 ? std::atoll(argv[1]) : 20000;
  Random random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  const std::filesystem::path in_memory = "/dev/shm";  // many small files, none worth a disk
  const std::filesystem::path place =
      ::access(in_memory.c_str(), W_OK) == 0 ? in_memory : std::filesystem::temp_directory_path();
  const std::filesystem::path folder = place / ("fuzz_checkpoints_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string prefix = (folder / "model").string();
  const std::string objects = some_objects();
  const auto entries = save(prefix, objects);
  write_index(prefix, entries);
  const std::string index = read_file(prefix + ".index");
  const std::string data_path = io::bundle::shard_path(prefix, 0, 1), data = read_file(data_path);
  // Behind it lie a compression byte that is zero and the checksum of both.
  size_t block_bytes = 0;
  for (size_t i = 1; i + 4 < index.size() && block_bytes == 0; ++i) {
    uint32_t stored = 0;
    std::memcpy(&stored, index.data() + i, sizeof(stored));
    if (text::masked_crc32c(text::crc32c({index.data(), i})) == stored) block_bytes = i;
  }
  memory::set_limit(int64_t{256} << 20);
  if (block_bytes == 0 || !read_everything(prefix)) std::abort();
  int64_t read = 1;
  for (int64_t i = 0; i < files; ++i) {
    std::string bytes = index;
    switch (random() % 4) {
      case 0: {
        auto changed = entries;
        for (auto n = 1 + random() % 3; n > 0; --n) {
          auto at = std::next(changed.begin(), static_cast<long>(random() % changed.size()));
          change(at->second, random);
        }
        write_index(prefix, changed);
        break;
      }
      case 1:
        for (auto n = 1 + random() % 3; n > 0; --n) change_block(bytes, block_bytes, random);
        put_file(prefix + ".index", bytes);
        break;
      case 2:
        change(bytes, random);
        put_file(prefix + ".index", bytes);
        break;
      default:
        put_file(prefix + ".index", index);
    }
    std::string damaged = data;
    if (random() % 3 == 0) change(damaged, random);
    put_file(data_path, damaged);
    read += read_everything(prefix) ? 1 : 0;
    read_changed_objects(objects, random);
  }
  std::filesystem::remove_all(folder);
  std::printf("%lld files: %lld read\n", static_cast<long long>(files),
              static_cast<long long>(read));
  return 0;
}
