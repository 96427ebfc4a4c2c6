// Whether ops may read the machine's files: they may, unless the program that runs them says
// otherwise, as a server of other people's models does.
#pragma once

#include <tidemark/error.h>

#include <string_view>

namespace tidemark {

using PermissionDeniedError = TypedError<Code::permission_denied>;

/// For the whole process, for good.
TIDEMARK_API void forbid_files() noexcept;

TIDEMARK_API bool are_files_allowed() noexcept;
/// Throws PermissionDeniedError where ops may not read files.
TIDEMARK_API void check_files_allowed(std::string_view op);

}  // namespace tidemark
