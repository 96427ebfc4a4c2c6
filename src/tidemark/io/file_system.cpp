#include "tidemark/io/file_system.h"

#include <dirent.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

#include "tidemark/base/file_access.h"

namespace tidemark::io {

std::vector<std::string> names_in(const std::string& folder, std::error_code& error) {
  // Not C++'s iterator of folders, which ends the process where memory runs out.
  struct Close {
    void operator()(DIR* opened) const { ::closedir(opened); }
  };
  std::vector<std::string> names;
  error.clear();
  errno = 0;
  const std::unique_ptr<DIR, Close> opened(::opendir(folder.c_str()));
  for (const dirent* at = nullptr; opened && (errno = 0, at = ::readdir(opened.get()));) {
    const std::string_view name = at->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) error.assign(errno, std::generic_category());
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
