// Compiled kernels as files that later processes read, in a folder that is this user's alone.
//
// A file holds the source it was made of and a checksum: one that was torn, or that is of another
// source, is as good as none. Nothing here throws: without files kernels are compiled again.
#pragma once

#include <cstdint>
#include <string>

namespace tidemark::cuda {

class CodeFiles {
 public:
  /// `target`: what code is made for and by. Files of other targets are not looked at.
  explicit CodeFiles(std::string target);

  /// Empty: there is none.
  std::string read(const std::string& source) const;
  /// The oldest ones go where all together pass the bound (TIDEMARK_KERNEL_CACHE).
  void write(const std::string& source, const std::string& code) const;

 private:
  std::string path_of(const std::string& source) const;

  std::string target_;
  std::string folder_;  // empty: none may be kept
  int64_t most_bytes_ = 0;
};

}  // namespace tidemark::cuda
