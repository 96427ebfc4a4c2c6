#include <sys/resource.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <cstdio>

#include "tidemark/serve/http_session.h"
#include "tidemark/serve/threads.h"

namespace tidemark::serve {

void HttpServer::State::accept() {
  net::io_context& context = contexts[next++ % contexts.size()];
  acceptor->async_accept(context, [this](error_code error, TcpSocket socket) {
    if (error == net::error::operation_aborted || !acceptor->is_open()) return;
    if (error) return accept_after_a_pause();
    try {
      take(std::move(socket));
    } catch (const std::bad_alloc&) {
      counters.refused_connections.fetch_add(1);
    }
    accept();
  });
}

void HttpServer::State::take(TcpSocket&& socket) {
  if (counters.connections.load() >= options.max_connections) {
    counters.refused_connections.fetch_add(1);
    return;
  }
  counters.accepted.fetch_add(1, std::memory_order_relaxed);
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  if (tls) return tls->start_session(std::move(socket), *this);
  const auto session = std::make_shared<Session<TcpStream>>(*this, nullptr, std::move(socket));
  net::dispatch(session->executor(), [session] { session->start(); });
}

/// No files or no memory for another connection: asking again at once would only burn a core.
void HttpServer::State::accept_after_a_pause() {
  counters.refused_connections.fetch_add(1);
  retry->expires_after(std::chrono::milliseconds(50));
  retry->async_wait([this](error_code error) {
    if (!error && acceptor->is_open()) accept();
  });
}

namespace {

/// As many files as the system lets the process open; how many connections that allows, with some
/// left for models, certificates and gRPC.
size_t most_connections(size_t wanted) {
  constexpr rlim_t kOwn = 128;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return wanted;
  files.rlim_cur = files.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &files);
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return wanted;
  const rlim_t left = files.rlim_cur > 2 * kOwn ? files.rlim_cur - kOwn : files.rlim_cur / 2;
  return std::min(wanted, static_cast<size_t>(left));
}

/// A connection for which memory ran out is closed; the others go on.
void run_for_good(net::io_context& context) {
  while (!context.stopped()) {
    try {
      context.run();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "tidemark serve: closed a connection: %s\n", error.what());
    }
  }
}

}  // namespace

HttpServer::HttpServer(HttpOptions options, Handler handler, HttpCounters& counters)
    : state_(std::make_unique<State>(std::move(options), std::move(handler), counters)) {}

HttpServer::~HttpServer() {
  for (net::io_context& context : state_->contexts) context.stop();
  state_->threads.clear();
}

void HttpServer::start() {
  State& state = *state_;
  state.tls = TlsFiles::open(state.options.tls_certificate, state.options.tls_key);
  state.options.max_connections = most_connections(state.options.max_connections);
  for (int i = 0; i < std::max(1, state.options.threads); ++i) state.contexts.emplace_back(1);
  state.retry.emplace(state.contexts[0]);
  error_code error;
  const auto address = net::ip::make_address(state.options.address, error);
  if (error) fail("'", state.options.address, "' is no address to listen on");
  tcp::acceptor& acceptor = state.acceptor.emplace(state.contexts[0]);
  const tcp::endpoint endpoint(address, state.options.port);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(net::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(4096, error);
  if (error) {
    fail<FailedPreconditionError>("cannot listen on ", state.options.address, ":",
                                  state.options.port, ": ", error.message());
  }
  state.accept();
  for (net::io_context& context : state.contexts) {
    add_thread(state.threads, [&context] {
      const auto stay = net::make_work_guard(context);
      run_for_good(context);
    });
  }
}

uint16_t HttpServer::port() const { return state_->acceptor->local_endpoint().port(); }

void HttpServer::refuse_new() {
  State& state = *state_;
  state.is_draining = true;
  net::post(state.contexts[0], [&state] {
    error_code ignored;
    state.acceptor->close(ignored);
  });
}

bool HttpServer::wait_until_idle(std::chrono::steady_clock::time_point end) {
  const State& state = *state_;
  const auto is_idle = [&] { return state.answering.load() + state.writing.load() == 0; };
  while (!is_idle() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return is_idle();
}

}  // namespace tidemark::serve
