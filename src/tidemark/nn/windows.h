// The padding of windows.
#pragma once

#include <string>
#include <string_view>

namespace tidemark::nn {

/// As ops have it: "VALID" or "SAME". Throws InvalidArgumentError for any other.
std::string padding_of(std::string_view kind, const std::string& padding);

}  // namespace tidemark::nn
