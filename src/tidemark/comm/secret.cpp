#include "tidemark/comm/secret.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <tidemark/error.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "tidemark/base/settings.h"
#include "tidemark/comm/sockets.h"

namespace tidemark::comm {

namespace {

constexpr size_t kShortest = 16;

std::string hexadecimal(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) {
    out += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    out += "0123456789abcdef"[c & 15];
  }
  return out;
}

[[noreturn]] void fail_over(const std::string& path, std::string_view what) {
  fail<FailedPreconditionError>("the secret of this user's workers in ", path, " ", what,
                                "; mend that, or give all workers the same TIDEMARK_SECRET");
}

/// Written beside its place and then linked there: whoever comes first, all read one whole secret.
void make(const std::string& path) {
  std::string bytes(32, '\0');
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    fail_over(path, "cannot be made: the system gives no random numbers");
  }
  const std::string text = hexadecimal(bytes);
  const std::string beside = message(path, ".", getpid());
  const Socket file(open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file || write(file.fd(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    fail_over(path, message("cannot be made: ", std::string_view(std::strerror(errno))));
  }
  if (link(beside.c_str(), path.c_str()) != 0 && errno != EEXIST) {
    const std::string why = std::strerror(errno);
    unlink(beside.c_str());
    fail_over(path, "cannot be made: " + why);
  }
  unlink(beside.c_str());
}

std::string of_file() {
  const char* home = std::getenv("HOME");
  const std::string folder = message(std::string_view(home ? home : "."), "/.cache/tidemark");
  const std::string path = folder + "/secret";
  Socket file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    std::error_code ignored;  // making the file fails, then, and says why
    std::filesystem::create_directories(folder, ignored);
    make(path);
    file = Socket(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  }
  struct stat about {};
  if (!file || fstat(file.fd(), &about) != 0) fail_over(path, "cannot be read");
  if (about.st_uid != geteuid() || (about.st_mode & 077) != 0) {
    fail_over(path, "belongs to somebody else, or others may read it");
  }
  char text[256];
  const ssize_t size = read(file.fd(), text, sizeof text);
  if (size < static_cast<ssize_t>(kShortest)) fail_over(path, "is cut off");
  return {text, static_cast<size_t>(size)};
}

}  // namespace

std::string default_secret() {
  const std::string given = settings::text(settings::kSecret);
  if (given.empty()) return of_file();
  if (given.size() < kShortest) {
    fail("TIDEMARK_SECRET has ", given.size(), " characters; at least ", kShortest,
         " are needed, as of `openssl rand -hex 32`");
  }
  return given;
}

}  // namespace tidemark::comm
