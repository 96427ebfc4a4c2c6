// FolderWriter: a folder of files that is there as a whole or not at all.
//
//   FolderWriter folder("models/digits/1", {"saved_model.pb", "variables"});
//   … write files under folder.path() …
//   folder.commit();        // without it nothing is left behind
#pragma once

#include <tidemark/export.h>

#include <set>
#include <string>

namespace tidemark::io {

/// The files are written into a folder of another name beside the target, which then takes its
/// place in one step. A process killed at any moment leaves the old folder or the new one. What
/// else lies in the old folder is in the new one too: all but the entries `replaced`.
/// Where a file system cannot exchange two folders, or the target cannot be moved (it is a mount),
/// the old one is gone for a moment; the new one is whole beside it then.
class TIDEMARK_API FolderWriter {
 public:
  /// Makes the folders above the target. Throws as the system says.
  FolderWriter(const std::string& target, std::set<std::string> replaced);
  ~FolderWriter();
  FolderWriter(const FolderWriter&) = delete;

  const std::string& path() const { return path_; }
  void commit();

 private:
  std::string target_, path_;
  std::set<std::string> replaced_;
  bool is_done_ = false;
};

/// Removes a folder and what is in it; links are removed, not followed.
TIDEMARK_API void remove_tree(const std::string& path);

}  // namespace tidemark::io
