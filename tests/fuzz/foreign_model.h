// A small model as TensorFlow saves it, written by hand: what fuzzing of its reader begins with.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "tidemark/base/wire.h"
#include "tidemark/io/bytes_sink.h"

namespace tidemark::fuzz {

using io::BytesSink;

inline std::string text(uint32_t number, std::string_view bytes) {
  BytesSink out;
  put_bytes_field(out, number, bytes);
  return out.bytes;
}
inline std::string number(uint32_t field, uint64_t value) {
  BytesSink out;
  put_varint_field(out, field, value);
  return out.bytes;
}
inline std::string attr(std::string_view name, const std::string& value) {
  return text(5, text(1, name) + text(2, value));
}
inline std::string node(std::string_view name, std::string_view op,
                        std::initializer_list<std::string_view> inputs,
                        const std::string& attrs = {}) {
  std::string out = text(1, name) + text(2, op);
  for (std::string_view input : inputs) out += text(3, input);
  return text(1, out + attrs);
}

/// A signature that calls a function, which loops and branches the way of both versions.
inline std::string small_model() {
  const std::string real = attr("T", number(6, 1)), shape = text(2, number(1, 2));
  const std::string function = text(1, text(1, "f") + text(2, text(1, "a") + number(3, 1)) +
                                           text(3, text(1, "r") + number(3, 1))) +
                               text(3, text(1, "s") + text(2, "Square") + text(3, "a") + real) +
                               text(4, text(1, "r") + text(2, "s:y:0"));
  const std::string value = text(8, number(1, 1) + text(2, shape) + text(4, std::string(8, '\1')));
  const std::string graph =
      node("x", "Placeholder", {}, attr("dtype", number(6, 1))) +
      node("c", "Const", {}, attr("value", value) + attr("dtype", number(6, 1))) +
      node("sum", "AddV2", {"x", "c"}, real) +
      node("call", "PartitionedCall", {"sum"}, attr("f", text(10, text(1, "f")))) +
      node("zero", "Const", {}, attr("value", text(8, number(1, 10) + number(11, 1)))) +
      node("switch", "Switch", {"call", "zero"}, real) + node("off", "Neg", {"switch"}, real) +
      node("on", "Abs", {"switch:1"}, real) + node("merge", "Merge", {"off", "on"}, real) +
      node("enter", "Enter", {"merge"}, real + attr("frame_name", text(2, "loop"))) +
      node("again", "Merge", {"enter", "next"}, real) + node("less", "Less", {"again", "again"}) +
      node("any", "Any", {"less", "axis"}) +
      node("axis", "Const", {}, attr("value", text(8, number(1, 3) + number(7, 0)))) +
      node("test", "LoopCond", {"any"}) + node("go", "Switch", {"again", "test"}, real) +
      node("twice", "Square", {"go:1"}, real) + node("next", "NextIteration", {"twice"}, real) +
      node("exit", "Exit", {"go"}, real) + text(2, text(1, function));
  const auto info = [&](std::string_view tensor) {
    return text(1, tensor) + number(2, 1) + text(3, shape);
  };
  const std::string signature = text(1, text(1, "x") + text(2, info("x:0"))) +
                                text(2, text(1, "y") + text(2, info("exit:0")));
  return number(1, 1) + text(2, text(1, text(4, "serve")) + text(2, graph) +
                                    text(5, text(1, "serving_default") + text(2, signature)));
}

}  // namespace tidemark::fuzz
