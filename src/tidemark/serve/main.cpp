// tidemark-serve: see options.cpp for its command line.
#include <malloc.h>
#include <tidemark/memory.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "tidemark/serve/options.h"
#include "tidemark/serve/sandbox.h"
#include "tidemark/serve/server.h"

namespace {

using namespace tidemark;

/// Files and folders that the server reads.
std::vector<std::string> read_by(const serve::ServerOptions& options) {
  std::vector<std::string> out;
  if (!options.store.models_folder.empty()) out.push_back(options.store.models_folder);
  for (const serve::ModelOptions& model : options.store.models) out.push_back(model.folder);
  // Those are replaced by other files of their names.
  for (const std::string& file : {options.http.tls_certificate, options.http.tls_key}) {
    if (!file.empty()) out.push_back(std::filesystem::absolute(file).parent_path().string());
  }
  return out;
}

int run_server(std::span<const std::string_view> arguments) {
  int64_t memory_limit = 0;
  serve::ServerOptions options = serve::parse_options(arguments, memory_limit);
  if (memory_limit > 0) memory::set_limit(memory_limit);
  // One heap for all threads: what one frees another uses.
  mallopt(M_ARENA_MAX, 2);
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGHUP);  // the terminal closed
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  if (options.is_sandboxed) serve::enter_sandbox(read_by(options));
  const std::string host = options.http.address;
  const char* scheme = options.http.tls_certificate.empty() ? "http" : "https";
  serve::Server server(std::move(options));
  server.start();
  // Models are loaded meanwhile; a signal ends that too.
  int which = 0;
  const timespec moment{.tv_sec = 0, .tv_nsec = 10'000'000};
  while (!server.has_loaded() && which <= 0) which = sigtimedwait(&ends, nullptr, &moment);
  if (server.grpc_port() >= 0) {
    std::fprintf(stderr, "tidemark serve: gRPC on %s:%d\n", host.c_str(), server.grpc_port());
  }
  std::fprintf(stderr, "tidemark serve: %s on %s://%s:%d\n", which <= 0 ? "ready" : "not ready",
               scheme, host.c_str(), server.port());
  if (which <= 0) sigwait(&ends, &which);
  std::fprintf(stderr, "tidemark serve: going down\n");
  server.drain();
  // What was not answered in time is not waited for, nor taken apart while it runs.
  std::fflush(nullptr);
  std::_Exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  for (std::string_view text : arguments) {
    if (text == "--help" || text == "-h") {
      std::fputs(serve::kHelp, stdout);
      return 0;
    }
  }
  try {
    return run_server(arguments);
  } catch (const std::bad_alloc&) {
    std::fputs("tidemark serve: there is no memory to start\n", stderr);
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tidemark serve: %s\n", error.what());
    return 2;
  }
}
