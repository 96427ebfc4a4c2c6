// Counting what a string op will write.
//
// An op whose result has as many characters as its computation says is written once, as a template
// over a sink: the shape rule runs it with CharacterCount, the kernel with the sink that writes.
#pragma once

#include <tidemark/op.h>

#include <string_view>

namespace tidemark::text {

class CharacterCount {
 public:
  void append(std::string_view piece) { characters_ += static_cast<int64_t>(piece.size()); }
  void append(char) { ++characters_; }
  void add(int64_t characters) { characters_ += characters; }
  void close() { ++elements_; }
  int64_t characters() const { return characters_; }
  int64_t elements() const { return elements_; }

 private:
  int64_t characters_ = 0, elements_ = 0;
};

/// False while a graph is traced: then nothing can be counted.
inline bool holds_values(const OpCall& call) {
  for (const Tensor& t : call.inputs) {
    if (!t.impl()->buffer) return false;
  }
  return true;
}

}  // namespace tidemark::text
