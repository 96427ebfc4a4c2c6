// Recordings made up for tests.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "tidemark/profile/event_store.h"

namespace tidemark::profile::testing {

/// A file that goes with the object.
class TemporaryFile {
 public:
  TemporaryFile() {
    char name[] = "/tmp/tidemark-recording-XXXXXX";
    const int file = mkstemp(name);
    if (file >= 0) close(file);
    path_ = name;
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }
  std::string read() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  void write(std::string_view bytes) const {
    std::ofstream(path_, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

 private:
  std::string path_;
};

inline Header header() {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.header_bytes = sizeof(Header);
  header.limit = 1 << 30;
  return header;
}

/// The bytes of a recording with these events and names.
struct Draft {
  std::vector<char> bytes;
  Draft() {
    const Header h = header();
    bytes.assign(reinterpret_cast<const char*>(&h), reinterpret_cast<const char*>(&h) + sizeof h);
  }
  Draft& name(NameTable table, uint32_t number, std::string_view text) {
    append_name_block(bytes, table, number, text);
    return *this;
  }
  Draft& events(const std::vector<Event>& all) {
    append_block(bytes, BlockKind::events, all.data(), all.size() * sizeof(Event));
    return *this;
  }
  Draft& plan(const PlanHead& head, const std::vector<PlanBuffer>& buffers) {
    std::string block(reinterpret_cast<const char*>(&head), sizeof head);
    block.append(reinterpret_cast<const char*>(buffers.data()),
                 buffers.size() * sizeof(PlanBuffer));
    append_block(bytes, BlockKind::plan, block.data(), block.size());
    return *this;
  }
  Draft& end(uint64_t events) {
    const EndBlock block{events, 0};
    append_block(bytes, BlockKind::end, &block, sizeof block);
    return *this;
  }
  std::string_view view() const { return {bytes.data(), bytes.size()}; }
};

}  // namespace tidemark::profile::testing
