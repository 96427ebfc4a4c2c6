#include "tidemark/io/tensorflow/importer.h"

#include <gtest/gtest.h>

#include "tidemark/io/bytes_sink.h"

namespace tidemark::io::tensorflow {

namespace {

std::string text(uint32_t number, std::string_view bytes) {
  BytesSink out;
  put_bytes_field(out, number, bytes);
  return out.bytes;
}

/// A library's function of one float, which does one op.
std::string function(std::string_view name, std::string_view op) {
  const std::string real = std::string("\x18\x01", 2);
  const std::string signature =
      text(1, name) + text(2, text(1, "a") + real) + text(3, text(1, "r") + real);
  const std::string type = text(5, text(1, "T") + text(2, std::string("\x30\x01", 2)));
  const std::string node = text(1, "made") + text(2, op) + text(3, "a") + type;
  return text(1, text(1, signature) + text(3, node) + text(4, text(1, "r") + text(2, "made:y:0")));
}

TEST(Importer, KeepsNoNameOfItsCaller) {
  const std::string graph =
      text(2, function("function_a", "Square") + function("function_b", "Neg"));
  const std::map<std::string_view, OpMessage> ops;
  Importer importer(read_graph_message(graph), ops);
  const auto called = [&](std::string_view name) {
    return importer.call_function(name, {Value(Tensor(3.f))})[0].tensor.to_string();
  };
  std::string name = "function_a";
  EXPECT_EQ(called(name), Tensor(9.f).to_string());
  name.back() = 'b';  // in the same memory
  EXPECT_EQ(called(name), Tensor(-3.f).to_string());
  EXPECT_EQ(called("function_a"), Tensor(9.f).to_string());
}

}  // namespace

}  // namespace tidemark::io::tensorflow
