#include "tidemark/serve/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <tidemark/error.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

namespace tidemark::serve {
namespace {

class Sandbox : public ::testing::Test {
 protected:
  Sandbox() {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ + "/model") << "weights";
  }
  ~Sandbox() override { std::filesystem::remove_all(folder_); }

  /// Runs the work in a process of its own, in the sandbox: 0 where it returns true.
  int inside(const std::function<bool()>& work) const {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        enter_sandbox({folder_});
        close_sandbox();
        ::_exit(work() ? 0 : 1);
      } catch (const UnimplementedError&) {
        ::_exit(kNotHere);
      }
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  static constexpr int kNotHere = 77;
  const std::string folder_ =
      (std::filesystem::temp_directory_path() / ("sandbox_" + std::to_string(::getpid()))).string();
};

#define EXPECT_INSIDE(...)                                              \
  do {                                                                  \
    const int ended = inside(__VA_ARGS__);                              \
    if (ended == kNotHere) GTEST_SKIP() << "the kernel has no sandbox"; \
    EXPECT_EQ(ended, 0);                                                \
  } while (false)

TEST_F(Sandbox, ReadsItsModels) {
  EXPECT_INSIDE([this] {
    std::string text;
    std::ifstream(folder_ + "/model") >> text;
    bool is_listed = false;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      is_listed |= entry.path().filename() == "model";
    }
    return text == "weights" && is_listed;
  });
}

TEST_F(Sandbox, ReadsNoOtherFiles) {
  EXPECT_INSIDE([] { return ::open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES; });
  EXPECT_INSIDE([] { return ::open("/tmp", O_RDONLY | O_DIRECTORY) < 0 && errno == EACCES; });
}

TEST_F(Sandbox, WritesNoFiles) {
  EXPECT_INSIDE([this] {
    const std::string made = folder_ + "/made", there = folder_ + "/model";
    return ::open(made.c_str(), O_WRONLY | O_CREAT, 0600) < 0 && errno == EPERM &&
           ::unlink(there.c_str()) < 0 && errno == EPERM && ::truncate(there.c_str(), 0) < 0 &&
           errno == EPERM;
  });
}

TEST_F(Sandbox, StartsNoProgramsOrProcesses) {
  EXPECT_INSIDE([] {
    char* const arguments[] = {nullptr};
    return ::fork() < 0 && errno == EPERM && ::execv("/bin/true", arguments) < 0 && errno == EPERM;
  });
}

TEST_F(Sandbox, MakesNoConnections) {
  EXPECT_INSIDE([] { return ::socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM; });
  EXPECT_INSIDE([] { return ::socket(AF_UNIX, SOCK_STREAM, 0) < 0 && errno == EPERM; });
}

TEST_F(Sandbox, ComputesOnThreadsOfItsOwn) {
  EXPECT_INSIDE([] {
    int made = 0;
    std::thread([&made] { made = 1; }).join();
    void* memory =
        ::mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return made == 1 && memory != MAP_FAILED;
  });
}

TEST_F(Sandbox, FiltersThreadsThatWereThereBefore) {
  EXPECT_INSIDE([] { return true; });
  const pid_t child = ::fork();
  if (child == 0) {
    std::atomic<bool> is_closed{false};
    bool is_refused = false;
    std::thread before([&] {
      is_closed.wait(false);
      is_refused = ::socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM;
    });
    close_sandbox();
    is_closed = true;
    is_closed.notify_all();
    before.join();
    ::_exit(is_refused ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace tidemark::serve
