// The texts of device/ that kernels are made of.
//
//   with_texts("#include \"indexing.h\"\nextern \"C\" __global__ void k(…) { tm::take<…>(a); }")
//
// Kernels name what they need, so that their own source, by which compiled ones are found, is
// short.
#pragma once

#include <span>
#include <string>

namespace tidemark::cuda {

/// All that the compiler gets: special_functions.h, device/elements.h, and `source` with the texts
/// in place of the lines that include them. Throws InternalError for one that is not there.
std::string with_texts(const std::string& source);

struct Text {
  const char* name;  // "elements.h"
  const char* const* text;
};
/// special_functions.h and elements.h come first, then loops.h, on which the others build.
std::span<const Text> all_texts();

}  // namespace tidemark::cuda
