// Keras's names of layers in containers: "Conv2DTranspose" is "conv2d_transpose".
#pragma once

#include <cctype>
#include <map>
#include <string>
#include <string_view>

namespace tidemark::nn {

inline std::string snake_case(std::string_view kind) {
  const auto is = [&](size_t at, int (*what)(int)) {
    return at < kind.size() && what(static_cast<unsigned char>(kind[at])) != 0;
  };
  std::string out;
  for (size_t i = 0; i < kind.size(); ++i) {
    const bool starts_word =
        i > 0 && is(i, std::isupper) && (is(i - 1, std::islower) || is(i + 1, std::islower));
    if (starts_word) out += '_';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(kind[i])));
  }
  return out;
}

/// The name of the next layer of this kind: "dense", "dense_1". Counts it.
inline std::string numbered_name(std::map<std::string, int64_t>& counts, std::string_view kind) {
  std::string name = snake_case(kind);
  const int64_t before = counts[name]++;
  return before == 0 ? name : name + "_" + std::to_string(before);
}

}  // namespace tidemark::nn
