#include <tidemark/call.h>
#include <tidemark/sequential.h>

#include <cctype>

#include "tidemark/nn/building.h"

namespace tidemark::nn {

namespace {

/// "BatchNormalization" as "batch_normalization", "Conv2D" as "conv2d": Keras's names of layers.
std::string snake_case(const std::string& kind) {
  std::string out;
  for (size_t i = 0; i < kind.size(); ++i) {
    const auto c = static_cast<unsigned char>(kind[i]);
    const bool starts_word = std::isupper(c) && i > 0 && std::islower(kind[i - 1]);
    if (starts_word) out += '_';
    out += static_cast<char>(std::tolower(c));
  }
  return out;
}

}  // namespace

void Sequential::add_numbered(const Module& member) {
  const std::string name = snake_case(member.kind());
  const int64_t before = (*kinds_)[name]++;
  add(before == 0 ? name : name + "_" + std::to_string(before), member);
}

Tensor Sequential::operator()(const Tensor& x) const {
  TIDEMARK_HERE;
  Tensor y = x;
  for (const Step& step : *steps_) y = step(y);
  return y;
}

Tensor Residual::operator()(const Tensor& x) const {
  TIDEMARK_HERE;
  return x + Sequential::operator()(x);
}

}  // namespace tidemark::nn
