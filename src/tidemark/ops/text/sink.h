// Counting what a string op will write.
//
// An op whose result has as many characters as its computation says is written once, as a template
// over a sink: the shape rule runs it with CharacterCount, the kernel with the sink that writes.
#pragma once

#include <tidemark/memory.h>
#include <tidemark/op.h>

#include <string_view>

#include "tidemark/base/interrupt.h"

namespace tidemark::text {

/// How often what goes over many characters looks whether it is to stop.
inline constexpr int64_t kCharactersALook = 16 << 10, kElementsALook = 1 << 10;

class CharacterCount {
 public:
  void append(std::string_view piece) { add(static_cast<int64_t>(piece.size())); }
  void append(char) { add(1); }
  void fill(char, int64_t times) { add(times); }
  void add(int64_t characters) {
    characters_ += characters;
    if (characters_ >= next_look_) [[unlikely]]
      look();
  }
  void close() {
    if (++elements_ % kElementsALook == 0) check_interrupt();
  }
  int64_t characters() const { return characters_; }
  int64_t elements() const { return elements_; }

 private:
  void look() {
    next_look_ = characters_ + kCharactersALook;
    check_interrupt();
    // However many more there are: nobody waits for them to be counted.
    const int64_t limit = memory::limit();
    if (characters_ > limit) {
      fail<ResourceExhaustedError>("OOM: the texts of a result have more than ", limit,
                                   " characters, which is the memory limit");
    }
  }
  int64_t characters_ = 0, elements_ = 0, next_look_ = kCharactersALook;
};

/// False while a graph is traced: then nothing can be counted.
inline bool holds_values(const OpCall& call) {
  for (const Tensor& t : call.inputs) {
    if (!t.impl()->buffer) return false;
  }
  return true;
}

}  // namespace tidemark::text
