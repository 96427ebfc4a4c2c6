// Characters of string outputs. An element refers to characters of its own tensor's buffer, so an
// output that takes elements from an input needs copies of their characters.
#pragma once

#include <tidemark/kernel.h>

#include <cstring>
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
  int64_t count_ = 0;
};

/// Writes the elements of a string output in order, each from pieces: what text::CharacterCount
/// counted in the shape rule, a kernel writes with this. Looks now and then whether it is to stop.
class StringSink {
 public:
  StringSink(KernelContext& k, int output);
  void append(std::string_view piece) {
    if (!piece.empty()) std::memcpy(next_, piece.data(), piece.size());
    next_ += piece.size();
    if (next_ >= next_look_) [[unlikely]]
      look();
  }
  void append(char c) {
    *next_++ = c;
    if (next_ >= next_look_) [[unlikely]]
      look();
  }
  void fill(char c, int64_t times);
  /// The next `size` characters, for the caller to write.
  char* extend(size_t size);
  /// Ends an element and begins the next.
  void close();
  int64_t elements() const { return index_; }

 private:
  void look();
  StringRef* refs_;
  char* base_;  // what offsets count from
  char* begin_;
  char* next_;
  char* next_look_;
  int64_t index_ = 0;
};

/// For a string output whose elements were moved from `source` and still refer to its characters:
/// copies those. Does nothing for other dtypes.
void own_characters(KernelContext& k, int output, const Tensor& source);

}  // namespace tidemark::cpu
