// Counting what a string op will write.
//
// An op whose result has as many characters as its computation says is written once, as a template
// over a sink: the shape rule runs it with CharacterCount, the kernel with the sink that writes.
#pragma once

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
