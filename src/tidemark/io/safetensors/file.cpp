#include "tidemark/io/safetensors/file.h"

#include <algorithm>
#include <cstring>

#include "tidemark/base/wire.h"
#include "tidemark/io/file_writer.h"
#include "tidemark/io/input_file.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::io::safetensors {

namespace {

constexpr std::string_view kInMemory = "the safetensors data";

Tensor copy_of(const Entry& entry, std::string_view bytes) {
  Tensor out = new_tensor(entry.type->dtype, entry.shape);
  if (!bytes.empty()) std::memcpy(out.mutable_raw_data(), bytes.data(), bytes.size());
  return out;
}

/// Any other byte is no bool to C++, so these are never used where they lie.
Tensor bools_of(const Entry& entry, std::string_view bytes) {
  Tensor out = new_tensor(DType::bool_, entry.shape);
  std::ranges::transform(bytes, static_cast<bool*>(out.mutable_raw_data()),
                         [](char byte) { return byte != 0; });
  return out;
}

Tensor over_file(const Entry& entry, std::string_view bytes,
                 const std::shared_ptr<const MappedFile>& file) {
  using Owner = std::shared_ptr<const MappedFile>;
  const auto give_back = [](void* held) { delete static_cast<Owner*>(held); };
  return borrowed_tensor(entry.type->dtype, entry.shape, const_cast<char*>(bytes.data()), true,
                         give_back, new Owner(file));
}

void check_writable(const Tensors& tensors) {
  std::string missing;
  for (const auto& [name, tensor] : tensors) {
    if (tensor.is_symbolic()) {
      fail("'", name, "' cannot be written: it has no value, only a place in a graph; run the ",
           "graph and write what that gives");
    }
    if (!find_type(tensor.dtype())) {
      missing += message("\n  '", name, "' of ", tidemark::name_of(tensor.dtype()));
    }
  }
  if (missing.empty()) return;
  fail<UnimplementedError>("safetensors has no form for these dtypes:", missing);
}

}  // namespace

File::File(const std::string& path) : mapped_(MappedFile::open(path)), bytes_(mapped_->bytes()) {
  read_header_of(path);
}

File::File(std::string_view bytes) : bytes_(bytes) { read_header_of(std::string(kInMemory)); }

void File::read_header_of(const std::string& name) {
  std::string_view rest = bytes_;
  uint64_t length = 0;
  if (!take_fixed(rest, length)) fail_damaged(name, "it is shorter than the length of a header");
  if (length > kLongestHeader || length > rest.size()) {
    fail_damaged(name,
                 message("it says that its header has ", length, " bytes; it has ", rest.size(),
                         " behind that number, and at most ", kLongestHeader, " are allowed"));
  }
  data_ = rest.substr(length);
  header_ = read_header(name, rest.substr(0, length), data_.size());
}

Tensor File::read(std::string_view name) const {
  const auto found = header_.entries.find(name);
  if (found == header_.entries.end()) {
    fail<NotFoundError>("there is no '", name, "' in ",
                        mapped_ ? std::string_view(mapped_->path()) : kInMemory);
  }
  const Entry& entry = found->second;
  if (entry.type->dtype == DType::invalid) {
    fail<UnimplementedError>("'", name, "' has elements of ", entry.type->name,
                             ", which nothing here holds");
  }
  const std::string_view bytes = data_.substr(entry.begin, entry.end - entry.begin);
  if (entry.type->dtype == DType::bool_) return bools_of(entry, bytes);
  const bool is_aligned =
      reinterpret_cast<uintptr_t>(bytes.data()) % size_of(entry.type->dtype) == 0;
  if (!mapped_ || bytes.empty() || !is_aligned) return copy_of(entry, bytes);
  return over_file(entry, bytes, mapped_);
}

void File::check_all_readable() const {
  std::string missing;
  for (const auto& [name, entry] : header_.entries) {
    if (entry.type->dtype == DType::invalid) {
      missing += message("\n  '", name, "' of ", entry.type->name);
    }
  }
  if (missing.empty()) return;
  fail<UnimplementedError>("nothing here holds the elements of these tensors:", missing);
}

void write(const Tensors& tensors, const Metadata& metadata,
           const std::function<void(std::string_view)>& put) {
  check_writable(tensors);
  std::vector<std::pair<std::string_view, Tensor>> all(tensors.begin(), tensors.end());
  std::ranges::sort(all, [](const auto& one, const auto& other) {
    return is_written_before(find_type(one.second.dtype()), one.first,
                             find_type(other.second.dtype()), other.first);
  });
  Header header{.entries = {}, .metadata = metadata};
  uint64_t end = 0;
  for (const auto& [name, tensor] : all) {
    Entry entry{find_type(tensor.dtype()), tensor.shape(), end, end + tensor.nbytes()};
    end = entry.end;
    header.entries.emplace(name, std::move(entry));
  }
  const std::string text = write_header(header);
  if (text.size() > kLongestHeader) {
    fail("the header would have ", text.size(), " bytes; the format allows ", kLongestHeader,
         ". Write the tensors into several files");
  }
  const uint64_t length = text.size();
  put({reinterpret_cast<const char*>(&length), sizeof(length)});
  put(text);
  for (const auto& [name, tensor] : all) {
    const Tensor here = tensor.to(Device());
    put({static_cast<const char*>(here.raw_data()), here.nbytes()});
  }
}

void write_file(const std::string& path, const Tensors& tensors, const Metadata& metadata) {
  check_writable(tensors);
  FileWriter file(path);
  write(tensors, metadata, [&](std::string_view piece) { file.write(piece); });
  file.commit();
}

}  // namespace tidemark::io::safetensors
