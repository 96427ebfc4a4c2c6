// The command line of tidemark-serve.
#pragma once

#include "tidemark/serve/api.h"

namespace tidemark::serve {

/// What `--help` prints.
extern const char* const kHelp;

/// Throws InvalidArgumentError with what is wrong. `memory_limit`: bytes of tensors of the whole
/// process; 0: not said.
ServerOptions parse_options(std::span<const std::string_view> arguments, int64_t& memory_limit);

}  // namespace tidemark::serve
