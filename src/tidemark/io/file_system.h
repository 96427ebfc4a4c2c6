// What the system says of files and folders, as errors of ours: none of the C++ library's own
// leaves here.
#pragma once

#include <tidemark/error.h>
#include <tidemark/export.h>

#include <string>
#include <system_error>
#include <vector>

namespace tidemark::io {

using UnavailableError = TypedError<Code::unavailable>;

/// The names in a folder; with an error, those that came before it.
TIDEMARK_API std::vector<std::string> names_in(const std::string& folder, std::error_code& error);

/// Throws UnavailableError where the system does not tell them: a folder that cannot be read now is
/// not an empty one.
TIDEMARK_API std::vector<std::string> names_in(const std::string& folder);

/// Throws UnavailableError.
[[noreturn]] TIDEMARK_API void fail_unreadable(const std::string& path,
                                               const std::error_code& error);

/// What `errno` means after a call that was "doing" something with the path: NotFoundError,
/// PermissionDeniedError, ResourceExhaustedError (no files, no memory, no space), UnavailableError
/// (the disk failed), else FailedPreconditionError.
[[noreturn]] void fail_at(const std::string& path, const char* doing, int reason);

/// Whether what failed so may succeed later, with the same files.
TIDEMARK_API bool may_pass(Code code);

}  // namespace tidemark::io
