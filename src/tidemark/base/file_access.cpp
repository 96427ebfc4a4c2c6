#include "tidemark/base/file_access.h"

#include <atomic>

namespace tidemark {

namespace {
std::atomic<bool> are_forbidden{false};
}

void forbid_files() noexcept { are_forbidden = true; }

bool are_files_allowed() noexcept { return !are_forbidden.load(std::memory_order_relaxed); }

void check_files_allowed(std::string_view op) {
  if (are_files_allowed()) return;
  fail<PermissionDeniedError>(
      "[", op,
      "] models may not read files here. Where they are trusted, serve them "
      "with --allow-files");
}

}  // namespace tidemark
