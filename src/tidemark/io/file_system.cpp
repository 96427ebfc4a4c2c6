#include "tidemark/io/file_system.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tidemark/base/file_access.h"

namespace tidemark::io {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const std::string& folder, std::error_code& error) {
  std::vector<std::string> names;
  fs::directory_iterator at(folder, error);
  for (const fs::directory_iterator end; !error && at != end; at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  return names;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> names = names_in(folder, error);
  if (error) fail_unreadable(folder, error);
  return names;
}

void fail_unreadable(const std::string& path, const std::error_code& error) {
  fail<UnavailableError>("cannot look at ", path, ": ", error.message());
}

void fail_at(const std::string& path, const char* doing, int reason) {
  const std::string text = message("cannot ", doing, " ", path, ": ", std::strerror(reason));
  switch (reason) {
    case ENOENT:
    case ENOTDIR:
      throw NotFoundError(text);
    case EACCES:
    case EPERM:
    case EROFS:
      throw PermissionDeniedError(text);
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      throw ResourceExhaustedError(text);
    case EIO:
      throw UnavailableError(text);
    default:
      throw FailedPreconditionError(text);
  }
}

bool may_pass(Code code) {
  return code == Code::unavailable || code == Code::resource_exhausted ||
         code == Code::permission_denied;
}

}  // namespace tidemark::io
