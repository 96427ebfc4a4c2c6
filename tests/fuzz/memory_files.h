// Files that this process alone sees, in its memory: fuzzers that damage files would else spend
// half of their time in the file system. They are read, not mapped.
//
//   const MemoryFolder folder("recordings");
//   put_bytes(folder.file("damaged"), bytes);
//   analyse(folder.file("damaged"), {});
#pragma once

#include <string>
#include <string_view>

namespace tidemark::fuzz {

class MemoryFolder {
 public:
  explicit MemoryFolder(const std::string& name);
  ~MemoryFolder();
  MemoryFolder(const MemoryFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Replaces the file of that path, if a folder of ours is to have it.
bool put_in_memory(const std::string& path, std::string_view bytes);

}  // namespace tidemark::fuzz
