// FileWriter: a file that is there as a whole or not at all.
//
//   FileWriter file(path);
//   file.write(bytes);
//   file.commit();          // without it nothing is left behind
#pragma once

#include <tidemark/export.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark::io {

/// Written under another name beside the path, flushed to the disk, then renamed over it. A process
/// killed at any moment leaves the old file or the new one under the path.
class TIDEMARK_API FileWriter {
 public:
  /// Throws NotFoundError or PermissionDenied as the system says.
  explicit FileWriter(std::string path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  void flush();
  void put(std::string_view bytes);

  std::string path_, temporary_, pending_;
  uint64_t written_ = 0, begun_ = 0;  // bytes of the file; those of them that the disk was told of
  int descriptor_ = -1;
};

/// What a file or folder is called until it is whole: a name beside the path, of this process.
std::string name_while_written(const std::string& path);
/// Has the system write down which names the path's folder holds.
void sync_folder_of(const std::string& path);

/// Removes what writers that were killed have left in the path's folder.
TIDEMARK_API void remove_abandoned(const std::string& path);

}  // namespace tidemark::io
