// A .keras file: a ZIP archive whose members lie there as they are.
//
//   Member weights = find_member(*input, "model.weights.h5");
#pragma once

#include <optional>

#include "tidemark/io/input_file.h"

namespace tidemark::io::keras {

struct Member {
  uint64_t offset = 0, bytes = 0;
};

/// Where the member's bytes lie; none: there is no such member. Throws DataLossError for what is no
/// archive, UnimplementedError for a compressed member or an archive beyond 4 GiB.
std::optional<Member> find_member(const InputFile& file, std::string_view name);

}  // namespace tidemark::io::keras
