// Characters of string outputs. An element refers to characters of its own tensor's buffer, so an
// output that takes elements from an input needs copies of their characters.
#pragma once

#include <tidemark/kernel.h>

#include <string_view>

namespace tidemark::cpu {

/// Writes the elements of a string output one by one, characters in the order of writing.
class StringWriter {
 public:
  StringWriter(KernelContext& k, int output);
  void put(int64_t index, std::string_view value);

 private:
  StringRef* refs_;
  char* base_;  // what offsets count from
  char* next_;
};

/// For a string output whose elements were moved from `source` and still refer to its characters:
/// copies those. Does nothing for other dtypes.
void own_characters(KernelContext& k, int output, const Tensor& source);

}  // namespace tidemark::cpu
